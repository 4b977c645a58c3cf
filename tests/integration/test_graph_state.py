"""What the nodes put into a graph: JSON, stream events, and memory shared between threads."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes import (
    DriftGuardState,
    create_guard_review_node,
    create_record_outcome_node,
    route_on_review,
)

BAD = "delete the temp directory"
FAILED: dict[str, Any] = {
    "candidate_action": BAD,
    "feedback": "permission denied",
    "outcome": "the cleanup was aborted",
    "success": False,
}

Graph = CompiledStateGraph[Any, Any, Any, Any]


def sequence(guard: DriftGuard) -> StateGraph[Any, Any, Any, Any]:
    """Review, then record whatever the state says about the outcome."""
    builder = StateGraph(DriftGuardState).add_node(create_guard_review_node(guard))
    builder.add_node(create_record_outcome_node(guard))
    return builder.add_edge(START, "guard_review").add_edge("guard_review", "record_outcome")


def in_thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


def test_another_thread_is_warned_of_what_this_one_recorded(guard: DriftGuard) -> None:
    graph = sequence(guard).compile(checkpointer=InMemorySaver())
    counts = [
        graph.invoke(FAILED, in_thread(name))["guard_warnings_count"] for name in ("one", "two")
    ]
    assert counts == [0, 1]
    assert guard.stats()["episodes"] == 2


OTHER_PROCESS = """
from driftguard_langgraph import DriftGuardState, create_record_outcome_node
from langgraph.graph import START, StateGraph
builder = StateGraph(DriftGuardState).add_node(create_record_outcome_node())
graph = builder.add_edge(START, "record_outcome").compile()
step = {"candidate_action": "delete the temp directory", "feedback": "denied", "success": False}
print(graph.invoke(step)["guard_receipt"]["status"])
"""


def run_process(code: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_running_graph_is_warned_of_what_another_process_recorded(
    guard: DriftGuard, database: Path
) -> None:
    builder = StateGraph(DriftGuardState).add_node(create_guard_review_node(guard))
    graph = builder.add_edge(START, "guard_review").compile()
    assert graph.invoke({"candidate_action": BAD})["guard_warnings_count"] == 0
    said = run_process(OTHER_PROCESS, DRIFTGUARD_SQLITE_FILEPATH=str(database))
    assert said.strip() == "stored"
    assert graph.invoke({"candidate_action": BAD})["guard_warnings_count"] == 1


STRICT = """
import json, logging, sys
from pathlib import Path
logging.basicConfig(level=logging.WARNING)
from driftguard_langgraph import *
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
guard = DriftGuard()
guard.record("delete the temp directory", "denied", "aborted")
guard.record_success("archive the logs", "done", "space again")
graph = create_planner_revise_graph(
    lambda s: {"candidate_action": "archive the logs" if s["guard_top_warning"] else
               "remove the temporary directory"},
    lambda s: {"success": True}, guard=guard, policy="acknowledge")
thread = {"configurable": {"thread_id": "1"}}
with SqliteSaver.from_conn_string(sys.argv[1] if len(sys.argv) > 1 else ":memory:") as saver:
    app = graph.compile(checkpointer=saver)
    first = app.invoke({}, thread)
    question = app.get_state(thread).interrupts[0].value
    assert json.loads(json.dumps(question)) == question, question
    final = app.invoke(Command(resume="reject"), thread)
    for state in app.get_state_history(thread):
        assert json.loads(json.dumps(state.values)) == state.values, state.values
print(final["guard_review"]["decision"], final["guard_reinforcements_count"])
"""


def test_the_state_is_json_and_survives_a_strict_checkpointer() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STRICT],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
    )
    assert done.stdout.split() == ["proceed", "1"], done.stderr
    assert "unregistered" not in done.stderr


def test_parallel_branches_may_review_in_the_same_step(guard: DriftGuard) -> None:
    guard.record(BAD, "permission denied", "the cleanup was aborted")
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(DriftGuardState)
    for name in ("left", "right"):
        builder.add_node(create_guard_review_node(guard, policy="speed_bump", name=name))
        builder.add_node(create_record_outcome_node(guard, name=f"{name}_record"))
        builder.add_edge(START, name).add_edge(name, f"{name}_record")
    final = builder.compile().invoke(FAILED)
    assert final["guard_review"]["decision"] == "speed_bump"
    assert len(final["guard_bumped"]) == 1
    assert guard.stats()["episodes"] == 3


def test_each_parallel_step_is_routed_by_its_own_review(guard: DriftGuard) -> None:
    guard.record(BAD, "permission denied", "the cleanup was aborted")
    ran: list[str] = []
    steps = [BAD, "paint the fence", "water the plants"]

    def review(state: DriftGuardState, config: RunnableConfig) -> dict[str, Any]:
        update = node.invoke(state, config)
        if route_on_review(update) == "proceed":
            ran.append(str(state["candidate_action"]))
        return update

    node = create_guard_review_node(guard, policy="block")
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(DriftGuardState)
    builder.add_node("review", review)
    builder.add_conditional_edges(
        START, lambda _state: [Send("review", {"candidate_action": s}) for s in steps], ["review"]
    )
    builder.compile().invoke({})
    assert sorted(ran) == steps[1:]


def events(stream: list[Any]) -> list[tuple[str, str]]:
    return [(event["event"], event.get("decision") or event["status"]) for event in stream]


def test_reviews_and_records_are_custom_stream_events(guard: DriftGuard) -> None:
    graph = sequence(guard).compile()
    first = list(graph.stream(FAILED, stream_mode="custom"))
    second = list(graph.stream(FAILED, stream_mode="custom"))
    assert events(first) == [("review", "proceed"), ("record", "stored")]
    assert events(second) == [("review", "warn"), ("record", "stored")]
    assert {event["type"] for event in (*first, *second)} == {"driftguard"}
    assert [event["node"] for event in first] == ["guard_review", "record_outcome"]
    assert second[0]["top_warning"]["action_text"] == BAD
    assert json.loads(json.dumps(second)) == second


async def test_async_streams_carry_the_same_events(guard: DriftGuard) -> None:
    graph = sequence(guard).compile()
    seen = [event async for event in graph.astream(FAILED, stream_mode="custom")]
    assert events(seen) == [("review", "proceed"), ("record", "stored")]


def test_a_subgraph_shares_memory_state_and_stream_with_its_parent(guard: DriftGuard) -> None:
    parent: StateGraph[Any, Any, Any, Any] = StateGraph(DriftGuardState)
    parent.add_node("agent", sequence(guard).compile())
    graph = parent.add_edge(START, "agent").compile(checkpointer=InMemorySaver())
    for name, decision in (("one", "proceed"), ("two", "warn")):
        stream = list(graph.stream(FAILED, in_thread(name), stream_mode="custom", subgraphs=True))
        assert events([event for _, event in stream]) == [
            ("review", decision),
            ("record", "stored"),
        ]
        assert all(ns[0].startswith("agent:") for ns, _ in stream)
    assert graph.get_state(in_thread("two")).values["guard_review"]["decision"] == "warn"


async def test_many_threads_at_once_lose_no_record(guard: DriftGuard) -> None:
    graph = sequence(guard).compile(checkpointer=InMemorySaver())
    await asyncio.gather(*(graph.ainvoke(FAILED, in_thread(f"t{n}")) for n in range(12)))
    assert (await guard.astats())["mistakes"]["episodes"] == 12


def test_a_wrong_state_key_fails_the_run_with_a_clear_message(guard: DriftGuard) -> None:
    graph = sequence(guard).compile()
    with pytest.raises(ValueError, match="'candidate_action'"):
        graph.invoke({"feedback": "denied"})
