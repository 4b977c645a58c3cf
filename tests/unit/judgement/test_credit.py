"""Soft credit: little from one run, much from many, and never below nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest

from driftguard_langgraph.judgement.credit import run_credit, run_trust


def suspicion(*shares: tuple[bool, float]) -> float:
    found = run_credit(shares)
    assert found is not None
    return found.suspicion


def test_without_runs_there_is_nothing_to_say() -> None:
    assert run_credit([]) is None
    assert run_trust(None) == 1.0


def test_shares_are_counted_and_summed_by_verdict() -> None:
    found = run_credit([(False, 0.25), (True, 0.5), (False, 0.5), (True, 1.0), (True, 0.1)])
    assert found is not None
    assert (found.failed_runs, found.succeeded_runs) == (2, 3)
    assert (found.blame, found.credit) == pytest.approx((0.75, 1.6))


def test_one_failed_run_says_little() -> None:
    assert suspicion((False, 1.0)) == pytest.approx(0.6)
    assert suspicion((False, 0.2)) == pytest.approx(2.2 / 4.2)
    assert run_trust(run_credit([(False, 0.2)])) > 0.95


def test_many_failed_runs_say_much_and_never_everything() -> None:
    grown = [suspicion(*[(False, 0.5)] * count) for count in (1, 5, 20, 1000)]
    assert all(low < high for low, high in pairwise(grown))
    assert 0.99 < grown[-1] < 1.0
    assert 0.0 < run_trust(run_credit([(False, 0.5)] * 1000)) < 0.02


def test_successes_and_failures_of_the_same_weight_leave_the_trust_as_it_is() -> None:
    assert suspicion((False, 0.5), (True, 0.25), (True, 0.25)) == 0.5
    assert run_trust(run_credit([(False, 0.5), (True, 0.5)])) == 1.0


def test_succeeded_runs_never_raise_the_trust_above_what_the_step_earned() -> None:
    assert suspicion(*[(True, 1.0)] * 50) < 0.05
    assert run_trust(run_credit([(True, 1.0)] * 50)) == 1.0
