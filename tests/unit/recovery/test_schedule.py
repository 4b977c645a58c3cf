from __future__ import annotations

from typing import Any

import pytest

from driftguard_langgraph.drift.report import DriftReport, ThreatLevel
from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.schedule import (
    InjectionSchedule,
    checked_variant,
    stronger,
    weaker,
)


def report(turn: int = 5, **values: Any) -> DriftReport:
    return DriftReport(turn, f"m{turn}", Channel.USER, **values)


def test_by_default_only_the_alarm_asks_for_a_scaffold() -> None:
    schedule = InjectionSchedule()
    assert schedule.trigger(report(alarm=True)) == "alarm"
    assert schedule.trigger(report(score=1.0, threat_level=ThreatLevel.LOW)) is None


@pytest.mark.parametrize(
    ("options", "values", "trigger"),
    [
        ({"at_level": ThreatLevel.HIGH}, {"threat_level": ThreatLevel.CRITICAL}, "level"),
        ({"at_level": ThreatLevel.HIGH}, {"threat_level": ThreatLevel.MEDIUM}, None),
        ({"min_score": 55}, {"score": 54.9}, "score"),
        ({"min_score": 55}, {"score": 55.0}, None),
        ({"min_score": 55}, {"score": 10.0, "abstained": True}, None),
        ({"at_turn": 5}, {}, "turn"),
        ({"at_turn": 6}, {}, None),
    ],
)
def test_thresholds_ask_where_they_were_set(
    options: dict[str, Any], values: dict[str, Any], trigger: str | None
) -> None:
    schedule = InjectionSchedule(on_alarm=False, **options)
    assert schedule.trigger(report(**values)) == trigger


def test_a_chosen_turn_is_not_missed_by_a_visit_that_measured_several() -> None:
    schedule = InjectionSchedule(on_alarm=False, at_turn=5)
    assert schedule.trigger(report(turn=6), since=4) == "turn"
    assert schedule.trigger(report(turn=6), since=5) is None
    assert schedule.trigger(report(turn=4), since=3) is None


def test_a_session_is_back_only_with_a_margin() -> None:
    schedule = InjectionSchedule(min_score=55)
    assert not schedule.released(report(score=60.0))
    assert schedule.released(report(score=65.0))
    assert not schedule.released(report(score=99.0, threat_level=ThreatLevel.MEDIUM))
    assert not schedule.released(report(score=99.0, alarm=True))


def test_cooldown_and_maximum_bound_the_injections() -> None:
    schedule = InjectionSchedule(cooldown=4, maximum=2)
    assert schedule.allows(1, [])
    assert not schedule.allows(4, [1])
    assert schedule.allows(5, [1])
    assert not schedule.allows(50, [1, 5])


@pytest.mark.parametrize(
    "options", [{"min_score": 101}, {"min_score": -1}, {"cooldown": -1}, {"maximum": 1.5}]
)
def test_a_schedule_that_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        InjectionSchedule(**options)


def test_variants_grow_and_controls_stay() -> None:
    assert [stronger(v) for v in ("minimal", "standard", "full", "null", "placebo")] == [
        "standard", "full", "full", "null", "placebo",
    ]  # fmt: skip
    assert [weaker(v) for v in ("full", "standard", "minimal", "null", "placebo")] == [
        "standard", "minimal", "minimal", "null", "placebo",
    ]  # fmt: skip
    with pytest.raises(ConfigurationError, match="minimal, standard, full, null, placebo"):
        checked_variant("standart")
