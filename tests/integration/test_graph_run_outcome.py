"""A graph that tells the memory at its end how the whole run went."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from driftguard_langgraph import (
    DriftGuard,
    DriftGuardState,
    create_guard_review_node,
    create_record_outcome_node,
    create_record_run_outcome_node,
)

STEP = "refund the order to the card on file"
WORKED: dict[str, Any] = {
    "candidate_action": STEP,
    "feedback": "refund accepted",
    "outcome": "the customer was told",
    "success": True,
    "ending": "the money went to a closed card",
    "solved": False,
}


class State(DriftGuardState, total=False):
    ending: str
    solved: bool


Graph = CompiledStateGraph[Any, Any, Any, Any]


def built(guard: DriftGuard, **options: Any) -> Graph:
    builder = StateGraph(State).add_node(create_guard_review_node(guard))
    builder.add_node(create_record_outcome_node(guard))
    builder.add_node(
        create_record_run_outcome_node(guard, success_key="solved", outcome_key="ending", **options)
    )
    builder.add_edge(START, "guard_review").add_edge("guard_review", "record_outcome")
    return builder.add_edge("record_outcome", "record_run_outcome").compile(
        checkpointer=InMemorySaver()
    )


def thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


def test_the_verdict_reaches_the_reviews_of_later_threads(guard: DriftGuard) -> None:
    graph = built(guard)
    first = graph.invoke(WORKED, thread("one"))
    second = graph.invoke(WORKED, thread("two"))

    assert first["guard_review"]["run_credit"] is None
    assert first["guard_run_receipt"] == {
        "status": "stored", "thread_id": "one", "run_id": None, "success": False,
        "outcome": WORKED["ending"], "actions": 1, "error": None,
    }  # fmt: skip
    credit = second["guard_review"]["run_credit"]
    assert (credit["failed_runs"], credit["blame"]) == (1, 1.0)
    assert second["guard_review"]["decision"] == "proceed"
    assert second["guard_top_reinforcement"]["evidence"]["run_trust"] == pytest.approx(0.8)


async def test_an_async_graph_tells_the_same(guard: DriftGuard) -> None:
    graph = built(guard)
    await graph.ainvoke(WORKED, thread("one"))
    state = await graph.ainvoke(WORKED, thread("two"))

    assert state["guard_run_receipt"]["status"] == "stored"
    assert state["guard_review"]["run_credit"]["failed_runs"] == 1


def test_a_thread_that_goes_on_gets_the_verdict_of_its_new_end(guard: DriftGuard) -> None:
    graph = built(guard)
    graph.invoke(WORKED, thread("one"))
    state = graph.invoke({**WORKED, "solved": True, "ending": " "}, thread("one"))

    receipt = state["guard_run_receipt"]
    assert (receipt["status"], receipt["outcome"]) == ("replaced", "run succeeded")
    kept = guard.store.get_run(guard.namespace, "thread", "one")
    assert kept is not None
    assert kept.success


def test_it_streams_what_it_recorded(guard: DriftGuard) -> None:
    said = list(built(guard).stream(WORKED, thread("one"), stream_mode="custom"))

    [told] = [event for event in said if event["event"] == "record_run"]
    assert (told["status"], told["actions"]) == ("stored", 1)


def test_a_namespace_with_placeholders_keeps_tenants_apart(guard: DriftGuard) -> None:
    graph = built(guard, namespace=("acme", "{user}"))
    config: RunnableConfig = {"configurable": {"thread_id": "one", "user": "ann"}}
    assert graph.invoke(WORKED, config)["guard_run_receipt"]["status"] == "unknown"
    assert guard.store.get_run(("acme", "ann"), "thread", "one") is not None
    assert guard.store.get_run(guard.namespace, "thread", "one") is None
