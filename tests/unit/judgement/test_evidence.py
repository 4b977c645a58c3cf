from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from driftguard_langgraph.judgement import evidence

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_worked_number_of_the_description_holds() -> None:
    yesterday = evidence.recency(NOW - timedelta(days=1), NOW)

    assert round(evidence.confidence(2, 2, 0.81, yesterday, 0.15), 2) == 0.81


@pytest.mark.parametrize(
    ("node", "edge", "similarity", "age_trust", "expected"),
    [
        (1, 1, 0.6, 1.0, 0.660),
        (1, 1, 0.6, 0.5, 0.585),
        (2, 1, 0.6, 1.0, 0.660),
        (5, 5, 1.0, 1.0, 0.9724),
        (1_000_000, 1, 1.0, 1.0, 0.9724),
        (5, 5, 1.0, 0.5, 0.8974),
    ],
)
def test_confidence_has_the_values_that_were_measured_on_the_original(
    node: int, edge: int, similarity: float, age_trust: float, expected: float
) -> None:
    assert evidence.confidence(node, edge, similarity, age_trust, 0.15) == pytest.approx(
        expected, abs=5e-4
    )


@pytest.mark.parametrize(
    ("days", "trust"),
    [(0, 1.0), (1.9, 1.0), (2, 0.85), (7, 0.85), (8, 0.70), (30, 0.70), (31, 0.50), (9999, 0.5)],
)
def test_trust_fades_in_steps_of_whole_days(days: float, trust: float) -> None:
    assert evidence.recency(NOW - timedelta(days=days), NOW) == trust


def test_a_time_in_the_future_counts_as_now() -> None:
    assert evidence.recency(NOW + timedelta(days=400), NOW) == 1.0


def test_recency_weighs_at_most_half_and_nothing_exceeds_one() -> None:
    assert evidence.confidence(9, 9, 1.0, 1.0, 50.0) == evidence.confidence(9, 9, 1.0, 1.0, 0.5)
    assert evidence.confidence(9, 9, 1.0, 1.0, 0.5) <= 1.0


def test_an_opposite_similarity_takes_nothing_from_repetition() -> None:
    assert evidence.confidence(2, 2, -1.0, 1.0, 0.15) == evidence.confidence(2, 2, 0.0, 1.0, 0.15)


def test_successes_since_the_last_failure_redeem_and_nothing_else_does() -> None:
    assert evidence.redemption(1, 0) == 1.0
    assert evidence.redemption(1, 50) < 0.05
    assert evidence.redemption(5, 1) > evidence.RETIRED >= evidence.redemption(1, 1)
