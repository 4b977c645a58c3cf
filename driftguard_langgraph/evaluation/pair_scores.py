"""The figures over labelled pairs.

- **AUC**: share of (same, different) pairs that the score puts in order.
- **recall**: share of the same that were matched.
- **wrongly matched**: share of the different that were matched.
- **balanced accuracy**: mean of recall and of the share of the different left apart; 0.5 is
  what deciding without looking reaches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from driftguard_langgraph.evaluation.ranking import auc

_DIGITS = 4
"""Decimals in `to_dict`."""

OURS = "driftguard"


@dataclass(frozen=True, slots=True)
class Decision:
    """What one judge says about one pair."""

    score: float
    same: bool


@dataclass(slots=True)
class JudgeScores:
    """The decisions of one judge over some pairs, in the order of their labels."""

    scores: list[float] = field(default_factory=list)
    matched: list[bool] = field(default_factory=list)


@dataclass(slots=True)
class TierScores:
    """Labels and decisions of one tier.

    Attributes:
        labels: Whether each pair is the same.
        kinds: The kind of each pair.
        judges: The decisions, by judge; ours is `OURS`.
    """

    labels: list[bool] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    judges: dict[str, JudgeScores] = field(default_factory=dict)

    def add(self, same: bool, kind: str, decisions: dict[str, Decision]) -> None:
        """Count one pair.

        Args:
            same: Its label.
            kind: Its kind.
            decisions: What each judge says about it.
        """
        self.labels.append(same)
        self.kinds.append(kind)
        for name, decision in decisions.items():
            judge = self.judges.setdefault(name, JudgeScores())
            judge.scores.append(decision.score)
            judge.matched.append(decision.same)

    def auc(self, judge: str = OURS) -> float | None:
        """Return how well the scores of a judge rank; None if all labels agree."""
        return auc(self.labels, self.judges[judge].scores)

    def recall(self, judge: str = OURS) -> float | None:
        """Return the share of the same that a judge matched; None without any."""
        return self._share(judge, same=True)

    def wrongly_matched(self, judge: str = OURS) -> float | None:
        """Return the share of the different that a judge matched; None without any."""
        return self._share(judge, same=False)

    def balanced_accuracy(self, judge: str = OURS) -> float | None:
        """Return the mean of recall and specificity; None if all labels agree."""
        recall, wrong = self.recall(judge), self.wrongly_matched(judge)
        return None if recall is None or wrong is None else (recall + 1 - wrong) / 2

    def matched_share(self, judge: str = OURS) -> dict[str, float]:
        """Return the share matched of each kind, under its name after `same` or `other`."""
        groups: dict[str, list[bool]] = {}
        rows = zip(self.labels, self.kinds, self.judges[judge].matched, strict=True)
        for same, kind, matched in rows:
            groups.setdefault(f"{'same' if same else 'other'} {kind}", []).append(matched)
        return {name: sum(group) / len(group) for name, group in sorted(groups.items())}

    def counts(self) -> dict[str, int]:
        """Return the number of pairs of each kind, under the names of `matched_share`."""
        names = [
            f"{'same' if same else 'other'} {kind}"
            for same, kind in zip(self.labels, self.kinds, strict=True)
        ]
        return {name: names.count(name) for name in sorted(set(names))}

    def figures(self, judge: str = OURS) -> dict[str, float | None]:
        """Return the rounded rates of a judge as plain JSON."""
        rates = {
            "auc": self.auc(judge),
            "recall": self.recall(judge),
            "wrongly_matched": self.wrongly_matched(judge),
            "balanced_accuracy": self.balanced_accuracy(judge),
        }
        return {name: _rounded(rate) for name, rate in rates.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON: ours, and under `baselines` the others'."""
        return {
            "n": len(self.labels),
            **self.figures(),
            "matched_share": {k: round(v, _DIGITS) for k, v in self.matched_share().items()},
            "baselines": {
                name: {
                    **self.figures(name),
                    "matched_share": {
                        k: round(v, _DIGITS) for k, v in self.matched_share(name).items()
                    },
                }
                for name in self.judges
                if name != OURS
            },
        }

    def _share(self, judge: str, *, same: bool) -> float | None:
        rows = zip(self.labels, self.judges[judge].matched, strict=True)
        matched = [m for label, m in rows if label is same]
        return sum(matched) / len(matched) if matched else None


@dataclass(frozen=True, slots=True)
class PairsResult:
    """How often a guard agrees with labelled pairs.

    Attributes:
        file: What was compared.
        tiers: The figures of each tier.
        seconds: Time of all comparisons, with embedding.
        model_id: The embedding model.
    """

    file: str
    tiers: dict[str, TierScores]
    seconds: float
    model_id: str

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "file": self.file,
            "model_id": self.model_id,
            "seconds": round(self.seconds, 2),
            "tiers": {name: tier.to_dict() for name, tier in self.tiers.items()},
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
