from __future__ import annotations

import random
from itertools import product

from driftguard_langgraph.evaluation.ranking import auc


def test_it_is_the_share_of_pairs_in_order_with_ties_as_halves() -> None:
    chance = random.Random(7)  # noqa: S311
    labels = [chance.random() < 0.4 for _ in range(60)]
    scores = [round(chance.random(), 1) for _ in labels]
    same = [s for label, s in zip(labels, scores, strict=True) if label]
    other = [s for label, s in zip(labels, scores, strict=True) if not label]
    wins = sum((a > b) + 0.5 * (a == b) for a, b in product(same, other))
    found = auc(labels, scores)
    assert found is not None
    assert abs(found - wins / (len(same) * len(other))) < 1e-12


def test_perfect_reversed_and_constant_scores_are_one_zero_and_a_half() -> None:
    labels = [True, False, True, False]
    assert auc(labels, [0.9, 0.1, 0.8, 0.2]) == 1.0
    assert auc(labels, [0.1, 0.9, 0.2, 0.8]) == 0.0
    assert auc(labels, [0.5] * 4) == 0.5


def test_labels_that_agree_leave_nothing_to_rank() -> None:
    assert auc([True, True], [0.1, 0.2]) is None
    assert auc([], []) is None
