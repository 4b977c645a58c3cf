"""Every custom stream event has the form that `host.stream_events` documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, NotRequired, get_args, get_origin, get_type_hints

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph, add_messages
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from driftguard_langgraph.drift.watch import DriftWatch
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.host.stream_events import StreamEvent
from driftguard_langgraph.middleware import DriftGuardMiddleware, DriftMonitorMiddleware
from driftguard_langgraph.nodes import (
    DriftGuardState,
    create_drift_monitor_node,
    create_guard_review_node,
    create_record_outcome_node,
    create_record_run_outcome_node,
)
from driftguard_langgraph.nodes.compaction import create_compaction_guard_node
from driftguard_langgraph.nodes.recovery_scaffold import create_recovery_scaffold_node
from tests.drift_samples import ANSWER, ATTACK, PROMPT, QUESTION, ScriptedModel, raising

THREAD: Any = {"configurable": {"thread_id": "one"}}
GIVEN: dict[str, Any] = {
    "candidate_action": "delete the temp directory",
    "feedback": "permission denied",
    "outcome": "the cleanup was aborted",
    "success": False,
    "messages": [HumanMessage(ATTACK)],
}


class State(DriftGuardState, total=False):
    messages: Annotated[list[AnyMessage], add_messages]


def model_of(event: type[Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(event, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        fields[name] = (get_args(hint)[0], None) if optional else (hint, ...)
    return create_model(
        event.__name__, __config__=ConfigDict(extra="forbid", strict=True), **fields
    )


def kind_of(event: type[Any]) -> str:
    hint = get_type_hints(event)["event"]
    assert get_origin(hint) is Literal
    return str(get_args(hint)[0])


DOCUMENTED = {kind_of(event): model_of(event) for event in get_args(StreamEvent)}


def kinds(events: Iterable[Any]) -> list[str]:
    """Return the kinds of the events, each checked against its documented form."""
    found = list(events)
    assert json.loads(json.dumps(found)) == found
    for event in found:
        DOCUMENTED[event["event"]].model_validate(event)
    return [event["event"] for event in found]


@pytest.fixture
def nodes(guard: DriftGuard) -> StateGraph[Any, Any, Any, Any]:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    order = [
        create_drift_monitor_node(PROMPT),
        create_recovery_scaffold_node(PROMPT),
        create_guard_review_node(guard),
        create_record_outcome_node(guard),
        create_record_run_outcome_node(guard, success_key="success", outcome_key="outcome"),
    ]
    last = START
    for node in order:
        builder.add_node(node).add_edge(last, str(node.name))
        last = str(node.name)
    return builder


SAID_BY_NODES = ["drift", "recovery", "review", "record", "record_run"]


def test_the_events_of_nodes_have_the_documented_form(
    nodes: StateGraph[Any, Any, Any, Any],
) -> None:
    graph = nodes.compile(checkpointer=InMemorySaver())
    for thread in ("one", "two"):
        config: Any = {"configurable": {"thread_id": thread}}
        seen = list(graph.stream(GIVEN, config, stream_mode="custom"))
        assert kinds(seen) == SAID_BY_NODES
    review = next(event for event in seen if event["event"] == "review")
    assert review["top_warning"]["action_text"] == "delete the temp directory"


async def test_async_streams_carry_the_same_events(
    nodes: StateGraph[Any, Any, Any, Any],
) -> None:
    graph = nodes.compile(checkpointer=InMemorySaver())
    seen = [event async for event in graph.astream(GIVEN, THREAD, stream_mode="custom")]
    assert kinds(seen) == SAID_BY_NODES


def test_a_parent_sees_them_in_both_versions_of_the_stream_if_it_asks_for_subgraphs(
    nodes: StateGraph[Any, Any, Any, Any],
) -> None:
    parent: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    parent.add_node("inner", nodes.compile()).add_edge(START, "inner")
    graph = parent.compile(checkpointer=InMemorySaver())
    options: dict[str, Any] = {"stream_mode": "custom", "subgraphs": True}
    old = list(graph.stream(GIVEN, THREAD, **options))
    assert kinds(event for _, event in old) == SAID_BY_NODES
    assert all(namespace[0].startswith("inner:") for namespace, _ in old)

    other: Any = {"configurable": {"thread_id": "two"}}
    parts = list(graph.stream(GIVEN, other, version="v2", **options))
    assert kinds(part["data"] for part in parts) == SAID_BY_NODES
    assert {part["type"] for part in parts} == {"custom"}
    assert all(part["ns"][0].startswith("inner:") for part in parts)

    third: Any = {"configurable": {"thread_id": "three"}}
    assert list(graph.stream(GIVEN, third, stream_mode="custom")) == []


@tool
def refund(booking: str) -> str:
    """Refund a booking."""
    raise ValueError(f"booking {booking} has departed")


def agent(guard: DriftGuard) -> Any:
    call = AIMessage("", tool_calls=[{"name": "refund", "args": {"booking": "7"}, "id": "c1"}])
    ours = [DriftGuardMiddleware(guard, policy="block"), DriftMonitorMiddleware()]
    model = ScriptedModel(script=[call, ANSWER])
    return create_agent(model, [refund], system_prompt=PROMPT, middleware=ours)


def drained(stream: Iterator[Any], seen: list[Any]) -> None:
    for event in stream:
        seen.append(event)  # noqa: PERF402 - what was seen before an error counts


def test_the_events_of_middleware_have_the_documented_form(guard: DriftGuard) -> None:
    asked = {"messages": [HumanMessage(QUESTION)]}
    first: list[Any] = []
    with pytest.raises(ValueError, match="departed"):
        drained(agent(guard).stream(asked, stream_mode="custom"), first)
    assert {"drift", "review", "record"} <= set(kinds(first))
    second = list(agent(guard).stream(asked, stream_mode="custom"))
    assert "review" in kinds(second)
    review = next(event for event in second if event["event"] == "review")
    assert (review["decision"], review["tool"], review["tool_call_id"]) == ("block", "refund", "c1")


def test_a_monitor_that_fails_says_so_in_the_documented_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(DriftWatch, "measure", raising(OSError("disk full")))
    made = create_agent(
        ScriptedModel(),
        system_prompt=PROMPT,
        middleware=[DriftMonitorMiddleware()],
    )
    seen = list(made.stream({"messages": [HumanMessage(QUESTION)]}, stream_mode="custom"))
    assert set(kinds(seen)) == {"drift_unavailable"}


def test_a_checked_summary_is_an_event_of_the_documented_form() -> None:
    def summarise(_state: Any) -> dict[str, Any]:
        return {"summary": "They talked."}

    class Summarised(State, total=False):
        summary: str

    node = create_compaction_guard_node(summarise, anchor_or_baseline=PROMPT)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Summarised)
    builder.add_node("compaction", node).add_edge(START, "compaction")
    given = {"messages": [HumanMessage(QUESTION), AIMessage(ANSWER)]}
    assert kinds(builder.compile().stream(given, stream_mode="custom")) == ["compaction"]


def test_an_undocumented_field_would_be_found() -> None:
    event = {"type": "driftguard", "node": "n", "event": "drift_unavailable", "error": "x"}
    assert kinds([event]) == ["drift_unavailable"]
    with pytest.raises(ValidationError):
        kinds([{**event, "more": 1}])
