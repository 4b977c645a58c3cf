"""How much to trust a memory: DriftGuard's confidence, and what successes take from it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from driftguard_langgraph.reviews import Evidence

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
    days = _age(last_seen, now)
    return next((t for most, t in RECENCY_STEPS if days <= most), RECENCY_FLOOR)


def _age(last_seen: datetime, now: datetime) -> int:
    return max(now - last_seen, timedelta(0)).days


def confidence(evidence: Evidence) -> float:
    """Return how much to trust a recollection, 0..1.

    `(1 - w) (0.65 r + 0.35 s) + w t` with reinforcement `r`, match score `s`, recency `t` and
    its weight `w`, which is DriftGuard's formula with its constants; times what later
    successes, and for successes the ends of their runs, leave of it.

    Args:
        evidence: The numbers, from `weigh` and `redeem`.
    """
    trust = REINFORCEMENT_SHARE * evidence.reinforcement
    blended = (1 - evidence.recency_weight) * (trust + SIMILARITY_SHARE * evidence.score)
    whole = min(blended + evidence.recency_weight * evidence.recency, 1.0)
    return whole * evidence.redeemed * evidence.run_trust


def weigh(
    node_frequency: int,
    edge_frequency: int,
    score: float,
    last_seen: datetime,
    now: datetime,
    recency_weight: float,
) -> Evidence:
    """Collect the numbers behind a confidence.

    Args:
        node_frequency: How often the action was observed.
        edge_frequency: How often the action led to this feedback.
        score: How surely the reviewed step is that action, 0..1.
        last_seen: When that was last observed.
        now: The time against which age is measured.
        recency_weight: Share of recency, clamped to `MAX_RECENCY_WEIGHT`.
    """
    return Evidence(
        node_frequency=node_frequency,
        edge_frequency=edge_frequency,
        reinforcement=reinforcement(node_frequency, edge_frequency),
        score=max(score, 0.0),
        age_days=_age(last_seen, now),
        recency=recency(last_seen, now),
        recency_weight=min(recency_weight, MAX_RECENCY_WEIGHT),
    )


def redeem(evidence: Evidence, successes_since: int) -> Evidence:
    """Weigh the failures against the successes of the same step since the last of them.

    Args:
        evidence: The numbers so far.
        successes_since: How often the step succeeded after it last failed.
    """
    share = evidence.node_frequency / (evidence.node_frequency + successes_since)
    return replace(evidence, successes_since=successes_since, redeemed=share)
