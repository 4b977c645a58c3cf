from __future__ import annotations

from typing import Any, get_args

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes import create_route_on_review, route_on_review
from driftguard_langgraph.types import Decision


def _state(decision: str, revisions: int) -> dict[str, Any]:
    return {"guard_review": {"decision": decision}, "guard_revisions": revisions}


@pytest.mark.parametrize("decision", ["proceed", "override", "skipped", "unavailable"])
def test_a_step_without_objection_proceeds(decision: str) -> None:
    assert route_on_review(_state(decision, 0)) == "proceed"


def test_a_warned_step_is_revised_and_then_run_with_the_warning() -> None:
    route = create_route_on_review(max_revisions=2)
    routes = [route(_state("warn", count)) for count in range(1, 8)]
    assert routes == ["revise", "revise", "proceed", "revise", "revise", "proceed", "revise"]


@pytest.mark.parametrize("decision", ["block", "acknowledge", "speed_bump"])
def test_a_refused_step_is_revised_and_then_given_up(decision: str) -> None:
    route = create_route_on_review(max_revisions=1)
    assert [route(_state(decision, count)) for count in (1, 2)] == ["revise", "stop"]


def test_without_revisions_the_first_objection_is_final() -> None:
    route = create_route_on_review(max_revisions=0)
    assert route(_state("warn", 1)) == "proceed"
    assert route(_state("block", 1)) == "stop"


def test_every_decision_has_a_route() -> None:
    for decision in get_args(Decision):
        assert route_on_review(_state(decision, 1)) in ("proceed", "revise", "stop")


def test_other_key_names_are_read() -> None:
    route = create_route_on_review(review_key="r", revisions_key="n")
    assert route({"r": {"decision": "warn"}, "n": 1}) == "revise"


@pytest.mark.parametrize("state", [{}, {"guard_review": None}, {"guard_review": {"decision": "?"}}])
def test_a_state_without_a_review_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="guard_review"):
        route_on_review(state)


def test_a_schema_that_drops_the_count_is_refused_instead_of_looping_forever() -> None:
    with pytest.raises(ConfigurationError, match="guard_revisions"):
        route_on_review({"guard_review": {"decision": "warn"}})


@pytest.mark.parametrize("budget", [-1, 1.5, True, None])
def test_an_unusable_budget_is_refused(budget: Any) -> None:
    with pytest.raises(ConfigurationError, match="max_revisions"):
        create_route_on_review(max_revisions=budget)
