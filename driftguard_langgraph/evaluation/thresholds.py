"""Choosing a threshold without chasing noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

CANDIDATES = tuple(round(0.30 + 0.02 * step, 2) for step in range(34))
"""Thresholds that are tried on pairs, .30 to .96: below, cosine says nothing; above, only the
same words are left."""


def standard_error(hits: int, count: int) -> float:
    """Return the standard error of a share of `hits` in `count`.

    The share is taken by the rule of succession, so that a perfect one is not certain.
    """
    share = (hits + 1) / (count + 2)
    return math.sqrt(share * (1 - share) / count)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How decisions agree with labels.

    Attributes:
        same: Pairs labelled the same.
        matched: Those of them that were matched.
        different: Pairs labelled different.
        wrong: Those of them that were matched.
    """

    same: int
    matched: int
    different: int
    wrong: int

    @property
    def balanced_accuracy(self) -> float:
        """Mean of recall and specificity."""
        return (self.matched / self.same + 1 - self.wrong / self.different) / 2

    @property
    def standard_error(self) -> float:
        """Standard error of the balanced accuracy, from two independent binomials."""
        return 0.5 * math.hypot(
            standard_error(self.matched, self.same), standard_error(self.wrong, self.different)
        )

    def to_dict(self) -> dict[str, float]:
        """Return the rates as plain JSON."""
        return {
            "balanced_accuracy": round(self.balanced_accuracy, 4),
            "recall": round(self.matched / self.same, 4),
            "wrongly_matched": round(self.wrong / self.different, 4),
        }


@dataclass(frozen=True, slots=True)
class Judged:
    """One labelled pair and the range of thresholds at which it is matched.

    Attributes:
        same: The label.
        up_to: Highest threshold at which it is matched: below 0 for never, infinite for
            always.
    """

    same: bool
    up_to: float


def agreement(pairs: Sequence[Judged], threshold: float) -> Agreement:
    """Return how the decisions at a threshold agree with the labels."""
    same = [pair.up_to >= threshold for pair in pairs if pair.same]
    different = [pair.up_to >= threshold for pair in pairs if not pair.same]
    return Agreement(len(same), sum(same), len(different), sum(different))


def tried(present: float, lowest: float = 0.0) -> list[float]:
    """Return the thresholds that are tried, ascending: the candidates and the present one.

    Args:
        present: The threshold in use.
        lowest: No threshold below this one is tried.
    """
    return sorted({*(each for each in CANDIDATES if each >= lowest), max(present, lowest)})


def best_threshold(pairs: Sequence[Judged], present: float, lowest: float = 0.0) -> float:
    """Return the threshold to use.

    Thresholds whose balanced accuracy is within one standard error of the best are as good
    as the best; of these the one nearest to the present threshold is taken, so that noise
    moves nothing.

    Args:
        pairs: What to fit.
        present: The threshold in use.
        lowest: No threshold below this one is taken.
    """
    found = {each: agreement(pairs, each) for each in tried(present, lowest)}
    best = max(found.values(), key=lambda each: each.balanced_accuracy)
    floor = best.balanced_accuracy - best.standard_error
    good = [each for each, how in found.items() if how.balanced_accuracy >= floor]
    return min(good, key=lambda each: abs(each - present))
