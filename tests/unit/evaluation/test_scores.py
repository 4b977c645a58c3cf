from __future__ import annotations

from driftguard_langgraph.evaluation.scores import Reliability, Tally
from driftguard_langgraph.evaluation.steps import Step


def step(*, failed: bool, ambiguous: bool = False) -> Step:
    return Step(
        where="t, line 1",
        stream="s",
        tool="f",
        action="go",
        feedback="x",
        failed=failed,
        ambiguous=ambiguous,
    )


def test_rates_follow_from_the_counts() -> None:
    tally = Tally()
    tally.add(step(failed=True), False, None)
    tally.add(step(failed=True), True, "exact")
    tally.add(step(failed=True), True, "exact")
    tally.add(step(failed=True), False, "same_error")
    tally.add(step(failed=True), True, None)
    tally.add(step(failed=False), True, None)
    tally.add(step(failed=False), False, None)
    tally.add(step(failed=False), False, None)
    tally.add(step(failed=False, ambiguous=True), True, None)
    assert tally.to_dict() == {
        "steps": 9,
        "failures": 5,
        "successes": 3,
        "warned": 5,
        "hits": 3,
        "misses": 1,
        "false_alarms": 1,
        "repeats": 3,
        "recall": 0.6667,
        "recall_by_kind": {"exact": 1.0, "same_error": 0.0},
        "false_alarm_rate": 0.3333,
        "warning_precision": 0.6,
    }


def test_a_rate_of_nothing_is_none() -> None:
    empty = Tally().to_dict()
    assert (empty["recall"], empty["false_alarm_rate"], empty["warning_precision"]) == (
        None,
        None,
        None,
    )


def test_warnings_are_counted_by_their_confidence_in_tenths() -> None:
    reliability = Reliability()
    for confidence, failed in ((0.61, True), (0.69, False), (0.7, True), (1.0, True)):
        reliability.add(step(failed=failed), confidence)
    reliability.add(step(failed=False, ambiguous=True), 0.65)
    assert reliability.to_list() == [
        {"from": 0.6, "to": 0.7, "warned": 2, "failed": 1},
        {"from": 0.7, "to": 0.8, "warned": 1, "failed": 1},
        {"from": 0.9, "to": 1.0, "warned": 1, "failed": 1},
    ]
