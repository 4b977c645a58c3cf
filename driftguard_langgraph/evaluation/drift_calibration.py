"""Fitting the alarm to the user's own good conversations.

The alarm is raised where the corruption reaches `drift_alarm_threshold`, so a conversation
alarms if its highest corruption does. Of n good conversations the k-th smallest highest
corruption, k = ceil((n + 1) * (1 - budget)), is exceeded by a new one of the same kind with a
probability of at most the budget (split conformal prediction; no assumption but that old and
new conversations are exchangeable). It exists from n = 1 / budget - 1 on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.drift_scores import score_sessions
from driftguard_langgraph.evaluation.pairs import Progress
from driftguard_langgraph.evaluation.sessions import ParseStats, read_all
from driftguard_langgraph.html.evaluation_cards import alarm_card
from driftguard_langgraph.settings import ENV_PREFIX, DriftGuardSettings

THRESHOLD, RELEASE = "drift_alarm_threshold", "drift_alarm_release"
"""The settings that are fitted."""

LOWEST = 0.20
"""No threshold below this one is proposed: from here on a single anomaly counts as suspicious,
below is background, of which a longer conversation than those fitted has more."""

CONFIDENCE = 0.95
"""Confidence of the bound on the present rate of false alarms."""

_STEP = 0.0001


@dataclass(frozen=True, slots=True)
class DriftCalibration:
    """What the alarm's settings should be, and what that rests on.

    Attributes:
        maxima: Highest corruption of each conversation, 0..1, ascending.
        budget: Share of good conversations that may alarm.
        old: The present settings of threshold and release.
        fitted: The threshold that the data speak for; None if they are too few, or none is
            high enough.
        alarming: Names of the conversations that alarm at the present threshold, with their
            highest corruption, the highest first.
        model_id: The embedding model that the figures are for.
        stats: What the files held.
    """

    maxima: tuple[float, ...]
    budget: float
    old: dict[str, float]
    fitted: float | None
    alarming: tuple[tuple[str, float], ...]
    model_id: str
    stats: tuple[ParseStats, ...]

    @property
    def needed(self) -> int:
        """Conversations that the budget needs."""
        return conversations_needed(self.budget)

    @property
    def changes(self) -> dict[str, float]:
        """The settings that should change; the release stays the same share of the threshold."""
        if self.fitted is None:
            return {}
        share = self.old[RELEASE] / self.old[THRESHOLD] if self.old[THRESHOLD] else 0.0
        wanted = {THRESHOLD: self.fitted, RELEASE: round(min(share, 1.0) * self.fitted, 4)}
        return {name: value for name, value in wanted.items() if value != self.old[name]}

    @property
    def verdict(self) -> str:
        """What to do, in words."""
        count = len(self.maxima)
        if count < self.needed:
            return (
                f"keep: a budget of {self.budget:.1%} needs {self.needed} good conversations, "
                f"these are {count}; they can speak for {1 / (count + 1):.1%} at best"
            )
        if self.fitted is None:
            return "keep: even the highest threshold does not stay within the budget"
        return "change" if self.changes else "keep: the present threshold is the fitted one"

    def false_alarms(self, threshold: float) -> int:
        """Return how many of the conversations alarm at a threshold."""
        return sum(maximum >= threshold for maximum in self.maxima)

    def env_lines(self) -> str:
        """Return the changed settings as the text of an environment file."""
        lines = [f"{ENV_PREFIX}{name.upper()}={value}" for name, value in self.changes.items()]
        head = f"# Fitted by `driftguard drift calibrate`, for {self.model_id}"
        return "\n".join([head, *lines, ""])

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as plain JSON."""
        now = self.false_alarms(self.old[THRESHOLD])
        return {
            "model_id": self.model_id,
            "budget": self.budget,
            "conversations": len(self.maxima),
            "needed": self.needed,
            "old": self.old,
            "fitted": self.fitted,
            "verdict": self.verdict,
            "changes": self.changes,
            "false_alarms": now,
            "false_alarm_rate_at_most": round(upper_bound(now, len(self.maxima)), 4),
            "false_alarms_fitted": None if self.fitted is None else self.false_alarms(self.fitted),
            "alarming": dict(self.alarming),
            "maxima": [round(value, 4) for value in self.maxima],
            "stats": [each.to_dict() for each in self.stats],
        }

    def _repr_html_(self) -> str:
        return alarm_card(self.to_dict())


def calibrate_drift(
    paths: Sequence[Path],
    *,
    budget: float | None = None,
    baseline: str | None = None,
    settings: DriftGuardSettings | None = None,
    embeddings: object | None = None,
    progress: Progress | None = None,
) -> DriftCalibration:
    """Fit the alarm to good conversations.

    Args:
        paths: Files of conversations in which nothing was wrong.
        budget: Share of such that may alarm, above 0 and below 1; None for the settings'
            `drift_false_alarm_budget`.
        baseline: What all of them were told; None takes it from each.
        settings: The present `drift_*` settings, and the embedder.
        embeddings: An embedder, or LangChain `Embeddings`, instead of the settings' one.
        progress: Told how far the work is.

    Raises:
        ConfigurationError: A file cannot be read or holds no conversation, or the budget is
            out of range.
    """
    settings = settings or DriftGuardSettings()
    budget = settings.drift_false_alarm_budget if budget is None else budget
    conversations_needed(budget)
    sessions, stats = read_all(paths, progress=progress)
    embedder = resolve_embedder(embeddings, settings)
    scores = score_sessions(
        sessions, baseline=baseline, settings=settings, embeddings=embedder, progress=progress
    )
    maxima = sorted(score.max_corruption for score in scores)
    alarming = [(s.name, s.max_corruption) for s in scores if s.first_alarm is not None]
    return DriftCalibration(
        maxima=tuple(maxima),
        budget=budget,
        old={
            THRESHOLD: settings.drift_alarm_threshold,
            RELEASE: settings.drift_alarm_release,
        },
        fitted=fitted_threshold(maxima, budget),
        alarming=tuple(sorted(alarming, key=lambda item: (-item[1], item[0]))),
        model_id=embedder.model_id,
        stats=tuple(stats),
    )


def conversations_needed(budget: float) -> int:
    """Return how many good conversations a budget needs: 1 / budget - 1, rounded up.

    Raises:
        ConfigurationError: The budget is not above 0 and below 1.
    """
    if not 0 < budget < 1:
        raise ConfigurationError(f"--budget {budget}: must be above 0 and below 1.")
    # A tenth of a millionth less: 1 / .02 - 1 must not become 50 by the last bit.
    return math.ceil(1 / budget - 1 - 1e-7)


def fitted_threshold(maxima: Sequence[float], budget: float) -> float | None:
    """Return the lowest threshold that keeps the false alarms within a budget.

    Args:
        maxima: Highest corruption of each good conversation, 0..1.
        budget: Share of conversations that may alarm, above 0 and below 1.

    Returns:
        The threshold, at least `LOWEST`; None if the conversations are too few for the
        budget, or if so many of them reach 1 that no threshold helps.

    Raises:
        ConfigurationError: The budget is not above 0 and below 1.
    """
    count = len(maxima)
    if count < conversations_needed(budget):
        return None
    rank = math.ceil((count + 1) * (1 - budget) - 1e-7)
    quantile = sorted(maxima)[min(rank, count) - 1]
    # The alarm is raised at the threshold itself, so that must lie above the quantile.
    above = round((math.floor(round(quantile / _STEP, 6)) + 1) * _STEP, 4)
    return max(above, LOWEST) if above <= 1 else None


def upper_bound(hits: int, count: int, confidence: float = CONFIDENCE) -> float:
    """Return the one-sided upper bound of Clopper and Pearson for a share.

    Args:
        hits: How often something happened.
        count: Out of how many.
        confidence: That the true share is no higher, 0..1.
    """
    if hits >= count:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        at_most = sum(
            math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(hits + 1)
        )
        low, high = (share, high) if at_most > 1 - confidence else (low, share)
    return high
