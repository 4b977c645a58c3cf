from __future__ import annotations

from typing import Annotated, Any, TypedDict, get_args, get_origin, get_type_hints

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes import create_planner_revise_graph
from driftguard_langgraph.nodes.state import DriftGuardState, latest, union


def test_the_newest_value_wins() -> None:
    assert latest({"a": 1}, {"b": 2}) == {"b": 2}
    assert latest(3, 0) == 0


def test_shown_triggers_are_kept_once_and_in_order() -> None:
    assert union(None, ["b", "a"]) == ["b", "a"]
    assert union(["b", "a"], ["c", "a", "b"]) == ["b", "a", "c"]
    assert union(["b"], None) == ["b"]


def test_every_key_of_guard_and_monitor_has_its_reducer_last() -> None:
    hints = get_type_hints(DriftGuardState, include_extras=True)
    guarded = {k: hint for k, hint in hints.items() if k.startswith(("guard_", "drift_"))}
    assert len(guarded) == 17
    for name, hint in guarded.items():
        assert get_origin(hint) is Annotated, name
        assert get_args(hint)[-1] in (latest, union), name


def test_it_can_be_joined_with_the_messages_state_of_langgraph() -> None:
    class Joined(MessagesState, DriftGuardState):
        notes: str

    def note(state: Joined) -> dict[str, Any]:
        return {"notes": str(state["messages"][0].content), "guard_bumped": ["wipe"]}

    builder = StateGraph(Joined)
    builder.add_node("note", note)
    builder.add_edge(START, "note")
    given: Any = {"messages": [HumanMessage("hello")]}
    done = builder.compile().invoke(given)
    assert (done["notes"], done["guard_bumped"]) == ("hello", ["wipe"])


def test_the_loop_needs_no_keys_for_drift_in_a_schema_of_its_own() -> None:
    def nothing(_state: object) -> dict[str, object]:
        return {}

    named: Any = TypedDict
    hints = get_type_hints(DriftGuardState, include_extras=True)
    guarded = {key: hint for key, hint in hints.items() if not key.startswith("drift_")}
    create_planner_revise_graph(nothing, nothing, state_schema=named("Own", guarded))
    del guarded["guard_review"]
    with pytest.raises(ConfigurationError, match="guard_review"):
        create_planner_revise_graph(nothing, nothing, state_schema=named("Less", guarded))
