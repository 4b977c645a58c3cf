"""Intervals of shares against published examples, an independent solution, and their promise."""

from __future__ import annotations

from itertools import product
from math import comb, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftguard_langgraph.judgement.proportions import LEVEL, difference, wilson

Z = 1.959963984540054

NEWCOMBE_SINGLE = (
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
)
"""R. G. Newcombe, Statistics in Medicine 17, 1998, 857-872, table I, method 3."""

NEWCOMBE_DIFFERENCES = (
    (56, 70, 48, 80, 0.0524, 0.3339),
    (9, 10, 3, 10, 0.1705, 0.8090),
    (6, 7, 2, 7, 0.0582, 0.8062),
    (5, 56, 0, 29, -0.0381, 0.1926),
    (0, 10, 0, 20, -0.1611, 0.2775),
    (0, 10, 0, 10, -0.2775, 0.2775),
    (10, 10, 0, 20, 0.6791, 1.0000),
    (10, 10, 0, 10, 0.6075, 1.0000),
)
"""The same, 873-890, table II, method 10."""

SAMPLES = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def solved(hits: int, total: int, *, upper: bool) -> float:
    """Find by bisection the share at which the score test just does not reject."""
    share = hits / total
    inside, outside = share, 1.0 if upper else 0.0
    for _ in range(200):
        middle = (inside + outside) / 2
        rejected = abs(share - middle) > Z * sqrt(middle * (1 - middle) / total)
        inside, outside = (inside, middle) if rejected else (middle, outside)
    return inside


@pytest.mark.parametrize(("hits", "total", "low", "high"), NEWCOMBE_SINGLE)
def test_the_interval_of_one_share_is_the_published_one(
    hits: int, total: int, low: float, high: float
) -> None:
    assert wilson(hits, total) == pytest.approx((low, high), abs=5.1e-5)


@pytest.mark.parametrize(("hits", "total", "others", "of", "low", "high"), NEWCOMBE_DIFFERENCES)
def test_the_interval_of_a_difference_is_the_published_one(
    hits: int, total: int, others: int, of: int, low: float, high: float
) -> None:
    assert difference(hits, total, others, of) == pytest.approx((low, high), abs=5.1e-5)


@given(SAMPLES)
def test_the_ends_are_where_the_score_test_begins_to_reject(sample: tuple[int, int]) -> None:
    expected = (solved(*sample, upper=False), solved(*sample, upper=True))
    assert wilson(*sample) == pytest.approx(expected, abs=1e-9)


@given(SAMPLES, SAMPLES)
def test_a_difference_lies_in_its_interval_and_that_in_the_possible_range(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    found = difference(*one, *other)
    assert -1 <= found.low <= one[0] / one[1] - other[0] / other[1] <= found.high <= 1


@given(SAMPLES, SAMPLES)
def test_exchanging_the_samples_or_counting_the_opposite_turns_the_interval_around(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    found = difference(*one, *other)
    turned = pytest.approx((-found.high, -found.low), abs=1e-12)
    assert difference(*other, *one) == turned
    opposite = [(total - hits, total) for hits, total in (one, other)]
    assert difference(*opposite[0], *opposite[1]) == turned


@given(SAMPLES, SAMPLES)
def test_ten_times_the_data_narrows_the_interval(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    few = difference(*one, *other)
    many = difference(*(10 * n for n in one), *(10 * n for n in other))
    assert many.high - many.low < few.high - few.low


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    coverages = []
    for size, other_size, share, other in product(
        (15, 40), (60, 120), (0.1, 0.35, 0.6), (0.05, 0.3, 0.5)
    ):
        coverages.append(coverage(size, other_size, share, other))
    assert sum(coverages) / len(coverages) == pytest.approx(LEVEL, abs=0.01)
    assert min(coverages) > 0.925


def coverage(size: int, other_size: int, share: float, other: float) -> float:
    """Add up the probabilities of all samples whose interval holds the true difference."""
    return sum(
        probability(hits, size, share) * probability(others, other_size, other)
        for hits, others in product(range(size + 1), range(other_size + 1))
        if (ends := difference(hits, size, others, other_size)).low <= share - other <= ends.high
    )


def probability(hits: int, total: int, share: float) -> float:
    return comb(total, hits) * share**hits * (1 - share) ** (total - hits)
