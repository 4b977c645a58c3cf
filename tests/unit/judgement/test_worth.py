"""What warnings were worth, counted from episodes."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from driftguard_langgraph.judgement.holdout import is_held_out
from driftguard_langgraph.judgement.proportions import difference
from driftguard_langgraph.judgement.settlement import Settlement, as_metadata
from driftguard_langgraph.judgement.worth import Tally, measure
from driftguard_langgraph.testing.samples import episode
from driftguard_langgraph.types import Arm, Episode, Kind, Role


def settled(unit: int, arm: Arm = "shown", role: Role = "ran", **details: Any) -> Settlement:
    given: dict[str, Any] = {"review_id": f"r{unit}", "unit": f"{unit:032x}", "decision": "warn"}
    given |= {"triggers": ("ab" * 8,), "holdout": 0.1, **details}
    return Settlement(arm=arm, role=role, **given)


def ended(*settlements: Settlement, failed: bool) -> Episode:
    kind: Kind = "mistake" if failed else "success"
    return episode(f"e{settlements[0].review_id}", kind=kind, metadata=as_metadata(settlements))


def arm(count: int, failures: int, first: int, *where: Any, **details: Any) -> list[Episode]:
    return [ended(settled(first + n, *where, **details), failed=n < failures) for n in range(count)]


def test_an_empty_memory_says_what_is_missing() -> None:
    report = measure([])
    assert report.lift is None
    assert report.warned.rate is None
    assert "record outcomes with the review" in report.notes[0]
    assert "no control arm: set holdout=0.1" in report.notes[1]
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()


def test_the_lift_is_the_failure_rate_of_the_silent_less_that_of_the_warned() -> None:
    report = measure(
        [
            *arm(60, 6, 0, "shown", "instead"),
            *arm(20, 10, 100, "shown", "ran"),
            *arm(40, 30, 200, "withheld"),
            *arm(5, 1, 300, "muted"),
        ]
    )
    assert report.heeded == Tally(60, 6)
    assert report.overridden == Tally(20, 10)
    assert report.warned == report.compared == Tally(80, 16)
    assert report.withheld == Tally(40, 30)
    assert report.muted == Tally(5, 1)
    assert report.lift == pytest.approx(0.75 - 0.2)
    assert report.interval == difference(30, 40, 16, 80)
    assert "warned steps failed less: the interval is above 0." in report.notes


def test_what_was_warned_without_a_holdout_is_shown_but_not_compared() -> None:
    report = measure([*arm(30, 30, 0, holdout=0.0), *arm(10, 2, 100), *arm(10, 5, 200, "withheld")])
    assert report.warned == Tally(40, 32)
    assert report.compared == Tally(10, 2)
    assert report.lift == pytest.approx(0.3)
    assert "too little data to tell: the interval contains 0." in report.notes


def test_a_unit_counts_once_by_what_ran_first() -> None:
    again = ended(settled(1, review_id="another"), failed=True)
    report = measure([ended(settled(1), failed=False), again, again])
    assert (report.warned, report.repeats) == (Tally(1, 0), 2)


def test_a_warning_that_comes_back_after_it_was_muted_counts_as_shown() -> None:
    report = measure([ended(settled(1, "muted"), failed=True), ended(settled(1), failed=True)])
    assert (report.muted, report.warned, report.repeats) == (Tally(1, 1), Tally(1, 1), 0)


def test_one_episode_can_settle_several_reviews() -> None:
    report = measure([ended(settled(1), settled(2, "shown", "instead"), failed=True)])
    assert (report.overridden, report.heeded) == (Tally(1, 1), Tally(1, 1))


def test_harm_is_called_harm() -> None:
    report = measure([*arm(50, 40, 0), *arm(50, 5, 100, "withheld")])
    assert report.lift == pytest.approx(-0.7)
    assert "warned steps failed more: the interval is below 0." in report.notes


def test_a_holdout_of_everything_leaves_nothing_to_compare() -> None:
    report = measure(arm(50, 40, 0, "withheld", holdout=1.0))
    assert report.lift is None
    assert any("lower it" in note for note in report.notes)


def test_a_changed_holdout_is_said() -> None:
    report = measure([*arm(9, 3, 0), *arm(9, 3, 50, "withheld", holdout=0.5)])
    assert any("the holdout was changed (0.1, 0.5)" in note for note in report.notes)


def test_episodes_of_others_do_not_disturb() -> None:
    foreign = episode("e9", metadata={"driftguard_settled": [{"unit": 3}], "own": 1})
    assert measure([foreign, episode("e8")]) == measure([])


def test_the_interval_covers_the_true_lift_of_drawn_experiments() -> None:
    source = random.Random(20_261_130)  # noqa: S311 - the same experiments each time
    silent, warned, experiments, covered = 0.6, 0.35, 300, 0
    for number in range(experiments):
        episodes = []
        for unit in range(300):
            drawn = settled(unit)
            held = is_held_out(drawn.unit, ("acme",), 0.3, number)
            failed = source.random() < (silent if held else warned)
            episodes.append(ended(settled(unit, "withheld" if held else "shown"), failed=failed))
        ends = measure(episodes).interval
        assert ends is not None
        covered += ends.low <= silent - warned <= ends.high
    assert 0.92 <= covered / experiments <= 0.98
