"""How much to trust a memory: the seed's confidence, and what successes take from it."""

from __future__ import annotations

from datetime import datetime, timedelta

MAX_RECENCY_WEIGHT = 0.5
"""Recency may at most weigh as much as everything else together (DriftGuard's clamp)."""

REINFORCEMENT_SHARE = 0.65
SIMILARITY_SHARE = 0.35
"""How the rest is split (DriftGuard's confidence formula)."""

REINFORCEMENT_STEPS = ((5.0, 0.95), (3.0, 0.85), (2.0, 0.75))
REINFORCEMENT_FLOOR = 0.60
"""Trust by how often the link was observed (DriftGuard's confidence formula)."""

RECENCY_STEPS = ((1, 1.0), (7, 0.85), (30, 0.70))
RECENCY_FLOOR = 0.50
"""Trust by age in whole days (DriftGuard's confidence formula)."""

RETIRED = 0.5
"""A warning retires when this share or less of its confidence is left: when there are at
least as many successes since the last failure as there were failures."""


def reinforcement(node_frequency: float, edge_frequency: float) -> float:
    """Return the trust that repetition earns, .60 to .95.

    Args:
        node_frequency: How often the action was observed.
        edge_frequency: How often the action led to this feedback.
    """
    combined = (node_frequency + edge_frequency) / 2
    return next((t for least, t in REINFORCEMENT_STEPS if combined >= least), REINFORCEMENT_FLOOR)


def recency(last_seen: datetime, now: datetime) -> float:
    """Return the trust that age leaves, .50 to 1; a time in the future counts as now."""
    days = max(now - last_seen, timedelta(0)).days
    return next((t for most, t in RECENCY_STEPS if days <= most), RECENCY_FLOOR)


def confidence(
    node_frequency: float,
    edge_frequency: float,
    similarity: float,
    age_trust: float,
    recency_weight: float,
) -> float:
    """Return how much to trust a recollection, 0..1.

    `0.65 r (1 - w) + 0.35 s (1 - w) + w t` with reinforcement `r`, similarity `s`, recency
    `t` and its weight `w`; DriftGuard's formula with its constants.

    Args:
        node_frequency: How often the action was observed.
        edge_frequency: How often the action led to this feedback.
        similarity: How alike the reviewed step is, 0..1.
        age_trust: From `recency`.
        recency_weight: Its weight, clamped to `MAX_RECENCY_WEIGHT`.
    """
    weight = min(recency_weight, MAX_RECENCY_WEIGHT)
    trust = REINFORCEMENT_SHARE * reinforcement(node_frequency, edge_frequency)
    blended = (1 - weight) * (trust + SIMILARITY_SHARE * max(similarity, 0.0))
    return min(blended + weight * age_trust, 1.0)


def redemption(failures: int, successes_since: int) -> float:
    """Return the share of a warning's confidence that later successes leave, 0..1.

    Args:
        failures: How often the action failed.
        successes_since: How often the same action succeeded after it last failed.
    """
    return failures / (failures + successes_since)
