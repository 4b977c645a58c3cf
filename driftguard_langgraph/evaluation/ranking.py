"""How well a score ranks the same above the different."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def auc(same: Sequence[bool], scores: Sequence[float]) -> float | None:
    """Return the share of (same, different) pairs that the scores put in order.

    Ties count half. This is the area under the receiver operating characteristic, computed
    from mean ranks (Mann-Whitney U).

    Args:
        same: The labels.
        scores: One score per label; higher should mean the same.

    Returns:
        0..1, or None if all labels agree.
    """
    labels = np.asarray(same, dtype=bool)
    positive = int(labels.sum())
    negative = len(labels) - positive
    if not positive or not negative:
        return None
    _, place, counts = np.unique(
        np.asarray(scores, dtype=float), return_inverse=True, return_counts=True
    )
    mean_ranks = np.cumsum(counts) - (counts - 1) / 2
    wins = mean_ranks[place][labels].sum() - positive * (positive + 1) / 2
    return float(wins / (positive * negative))
