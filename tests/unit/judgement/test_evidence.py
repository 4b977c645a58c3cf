from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from driftguard_langgraph.judgement import evidence

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def trusted(node: int, edge: int, score: float, days: float = 0.0, weight: float = 0.15) -> float:
    last_seen = NOW - timedelta(days=days)
    return evidence.confidence(evidence.weigh(node, edge, score, last_seen, NOW, weight))


def test_the_worked_number_of_the_description_holds() -> None:
    assert round(trusted(2, 2, 0.81, days=1), 2) == 0.81


@pytest.mark.parametrize(
    ("node", "edge", "score", "days", "expected"),
    [
        (1, 1, 0.6, 0, 0.660),
        (1, 1, 0.6, 99, 0.585),
        (2, 1, 0.6, 0, 0.660),
        (5, 5, 1.0, 0, 0.9724),
        (1_000_000, 1, 1.0, 0, 0.9724),
        (5, 5, 1.0, 99, 0.8974),
    ],
)
def test_confidence_has_the_values_that_were_measured_on_the_original(
    node: int, edge: int, score: float, days: float, expected: float
) -> None:
    assert trusted(node, edge, score, days) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("days", "trust"),
    [(0, 1.0), (1.9, 1.0), (2, 0.85), (7, 0.85), (8, 0.70), (30, 0.70), (31, 0.50), (9999, 0.5)],
)
def test_trust_fades_in_steps_of_whole_days(days: float, trust: float) -> None:
    assert evidence.recency(NOW - timedelta(days=days), NOW) == trust


def test_a_time_in_the_future_counts_as_now() -> None:
    assert evidence.recency(NOW + timedelta(days=400), NOW) == 1.0


def test_recency_weighs_at_most_half_and_nothing_exceeds_one() -> None:
    assert trusted(9, 9, 1.0, weight=50.0) == trusted(9, 9, 1.0, weight=0.5)
    assert trusted(9, 9, 1.0, weight=0.5) <= 1.0


def test_an_opposite_similarity_takes_nothing_from_repetition() -> None:
    assert trusted(2, 2, -1.0) == trusted(2, 2, 0.0)


def test_successes_since_the_last_failure_redeem_and_nothing_else_does() -> None:
    def left(failures: int, successes: int) -> float:
        weighed = evidence.weigh(failures, failures, 0.9, NOW, NOW, 0.15)
        return evidence.redeem(weighed, successes).redeemed

    assert left(1, 0) == 1.0
    assert left(1, 50) < 0.05
    assert left(5, 1) > evidence.RETIRED >= left(1, 1)


def test_a_confidence_says_where_it_comes_from() -> None:
    weighed = evidence.redeem(evidence.weigh(2, 2, 0.81, NOW - timedelta(days=1), NOW, 0.15), 1)

    line = weighed.explain(evidence.confidence(weighed))

    assert line == (
        "confidence 0.54 = 0.85 x (0.65 x 0.75 [seen 2x, led there 2x] + 0.35 x 0.81 [match]) "
        "+ 0.15 x 1.00 [1 days old], x 0.67 [1 successes since]"
    )
