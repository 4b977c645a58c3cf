"""No async path of ours blocks the event loop, by the rules of `langgraph dev`.

The watch that every test has looks at this package alone; here it looks at all code, so that a
blocking call which somebody else makes for us is seen as well.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest
from blockbuster import BlockBuster, BlockingError, blockbuster_ctx
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph, add_messages
from langgraph.store.memory import InMemoryStore

from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from driftguard_langgraph.memory.stores.langgraph import LangGraphMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.middleware import DriftGuardMiddleware, DriftMonitorMiddleware
from driftguard_langgraph.nodes import (
    DriftGuardState,
    create_drift_monitor_node,
    create_guard_review_node,
    create_record_outcome_node,
    create_record_run_outcome_node,
)
from driftguard_langgraph.nodes.recovery_scaffold import create_recovery_scaffold_node
from driftguard_langgraph.recovery.session import RecoveryPlan
from tests.drift_samples import ANSWER, ATTACK, PROMPT, ScriptedModel
from tests.postgres_server import postgres_dsn

Opened = Callable[[Path], AbstractContextManager[BaseMemoryStore]]


@contextmanager
def over_langgraph(_place: Path) -> Iterator[BaseMemoryStore]:
    yield LangGraphMemoryStore(InMemoryStore())


@contextmanager
def in_sqlite(place: Path) -> Iterator[BaseMemoryStore]:
    with SqliteMemoryStore.open(place / "memory.sqlite3") as store:
        yield store


@contextmanager
def in_json(place: Path) -> Iterator[BaseMemoryStore]:
    with JsonMemoryStore.open(place / "memory.json") as store:
        yield store


STORES: dict[str, Opened] = {
    "sqlite": in_sqlite,
    "json": in_json,
    "langgraph": over_langgraph,
    "postgres": postgres_dsn,
}


@pytest.fixture(params=STORES)
def guard(
    request: pytest.FixtureRequest, tmp_path: Path, embedder: Embedder
) -> Iterator[DriftGuard]:
    with STORES[request.param](tmp_path) as store:
        yield DriftGuard(store=store, embeddings=embedder)


@pytest.fixture(autouse=True)
def _blocking_calls_raise() -> Iterator[BlockBuster]:
    """Let a blocking call of anybody raise, in place of the watch that other tests have."""
    with blockbuster_ctx() as detector:
        yield detector


class State(DriftGuardState, total=False):
    messages: Annotated[list[AnyMessage], add_messages]


FAILED: dict[str, Any] = {
    "candidate_action": "delete the temp directory",
    "feedback": "permission denied",
    "outcome": "the cleanup was aborted",
    "success": False,
    "messages": [HumanMessage(ATTACK)],
}


def in_thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


async def test_the_watch_sees_a_blocking_call(tmp_path: Path) -> None:
    with pytest.raises(BlockingError):
        sqlite3.connect(tmp_path / "any.sqlite3").execute("SELECT 1")


async def test_no_node_blocks_over_any_store(guard: DriftGuard) -> None:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    last = START
    for node in (
        create_drift_monitor_node(PROMPT),
        create_recovery_scaffold_node(PROMPT),
        create_guard_review_node(guard),
        create_record_outcome_node(guard),
        create_record_run_outcome_node(guard, success_key="success", outcome_key="outcome"),
    ):
        builder.add_node(node).add_edge(last, str(node.name))
        last = str(node.name)
    graph = builder.compile(checkpointer=InMemorySaver())
    await graph.ainvoke(FAILED, in_thread("one"))
    final = await graph.ainvoke(FAILED, in_thread("two"))
    assert final["guard_warnings_count"] == 1
    assert final["drift_alarm"] is True
    assert final["guard_run_receipt"]["status"] == "stored"


async def test_no_middleware_blocks_over_any_store(guard: DriftGuard) -> None:
    @tool
    def refund(booking: str) -> str:
        """Refund a booking."""
        return f"booking {booking} is refunded"

    call = AIMessage("", tool_calls=[{"name": "refund", "args": {"booking": "7"}, "id": "c1"}])
    ours = [DriftGuardMiddleware(guard), DriftMonitorMiddleware(recovery=RecoveryPlan())]
    agent = create_agent(
        ScriptedModel(script=[call, ANSWER]),
        [refund],
        system_prompt=PROMPT,
        middleware=ours,
        checkpointer=InMemorySaver(),
    )
    final = await agent.ainvoke({"messages": [HumanMessage(ATTACK)]}, in_thread("one"))
    assert final["drift_alarm"] is True
    assert (await guard.astats())["successes"]["episodes"] == 1


async def test_no_twin_of_the_guard_blocks_over_any_store(
    guard: DriftGuard, tmp_path: Path
) -> None:
    await guard.arecord("delete the temp directory", "denied", "aborted")
    await guard.arecord_success("archive the logs", "done", "space again")
    assert len((await guard.abefore_step("delete the temp directory")).warnings) == 1
    assert (await guard.acompare("archive the logs", "archive the logs")).same
    assert await guard.aexport_jsonl(tmp_path / "memory.jsonl") == 2
    assert (await guard.aimport_jsonl(tmp_path / "memory.jsonl"))["duplicates"] == 2
    assert len(await guard.agraph()) == 3
    await guard.aprune()
    assert await guard.areembed() > 0
    assert await guard.aforget(guard.namespace) == 2
    await guard.aclose()
