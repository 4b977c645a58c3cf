from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from driftguard_langgraph.drift.report import DriftReport, ThreatLevel
from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes import create_route_on_drift, route_on_drift


def _state(**values: Any) -> dict[str, Any]:
    return {"drift_report": DriftReport(1, "m1", Channel.USER, **values).to_dict()}


def test_a_session_that_serves_its_purpose_continues() -> None:
    assert route_on_drift(_state(score=80.0, corruption=0.4)) == "continue"


def test_the_alarm_is_recovered_from_whatever_the_score() -> None:
    assert route_on_drift(_state(score=95.0, alarm=True)) == "recover"


@pytest.mark.parametrize(("score", "route"), [(55.0, "continue"), (54.9, "recover")])
def test_a_session_that_lost_its_purpose_is_recovered(score: float, route: str) -> None:
    assert route_on_drift(_state(score=score)) == route


def test_the_score_may_be_left_out() -> None:
    route = create_route_on_drift(min_score=None)
    assert route(_state(score=3.0)) == "continue"
    assert route(_state(score=3.0, alarm=True)) == "recover"


@pytest.mark.parametrize("level", list(ThreatLevel))
def test_a_level_takes_the_place_of_the_alarm(level: ThreatLevel) -> None:
    route = create_route_on_drift(at_level="HIGH")
    wanted = "recover" if level in {ThreatLevel.HIGH, ThreatLevel.CRITICAL} else "continue"
    assert route(_state(threat_level=level, alarm=level is not ThreatLevel.NORMAL)) == wanted


def test_states_with_attributes_and_other_keys_are_read() -> None:
    @dataclass
    class State:
        mine: dict[str, Any]

    route = create_route_on_drift(report_key="mine")
    assert route(State(_state(alarm=True)["drift_report"])) == "recover"


@pytest.mark.parametrize("state", [{}, {"drift_report": None}, {"drift_report": {"score": 3}}])
def test_a_state_without_a_report_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="drift_report"):
        route_on_drift(state)


@pytest.mark.parametrize(
    "options",
    [
        {"min_score": 101},
        {"min_score": -1},
        {"min_score": True},
        {"min_score": "55"},
        {"min_score": float("nan")},
        {"at_level": "SEVERE"},
        {"at_level": 3},
        {"report_key": " "},
    ],
)
def test_unusable_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        create_route_on_drift(**options)
