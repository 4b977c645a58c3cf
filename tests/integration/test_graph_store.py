"""Nodes without a guard remember in the store that their graph was compiled with."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore
from langgraph.types import Send
from pydantic import SecretStr

from driftguard_langgraph import (
    DriftGuard,
    DriftGuardSettings,
    DriftGuardState,
    LangGraphMemoryStore,
    create_guard_review_node,
    create_record_outcome_node,
)
from driftguard_langgraph.host import guards

STEP = "delete the temp directory"
FAILED: dict[str, Any] = {
    "candidate_action": STEP,
    "success": False,
    "feedback": "permission denied",
    "outcome": "cleanup aborted",
}
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}
SENDS = 50

Graph = CompiledStateGraph[Any, Any, Any, Any]


class Fan(DriftGuardState, total=False):
    branch: int
    receipts: Annotated[list[dict[str, Any]], operator.add]


@pytest.fixture(autouse=True)
def _no_guard_of_another_test() -> Iterator[None]:
    guards._shared.clear()
    yield
    guards._shared.clear()


def reviewing(store: BaseStore | None, guard: DriftGuard | None = None) -> Graph:
    builder = StateGraph(DriftGuardState)
    builder.add_node("review", create_guard_review_node(guard))
    builder.add_edge(START, "review")
    return builder.compile(store=store)


def recording(store: BaseStore | None, guard: DriftGuard | None = None) -> Graph:
    builder = StateGraph(DriftGuardState)
    builder.add_node("record", create_record_outcome_node(guard))
    builder.add_edge(START, "record")
    return builder.compile(store=store, checkpointer=InMemorySaver())


def fanned_out(store: BaseStore) -> Graph:
    builder = StateGraph(Fan)
    builder.add_node("record", create_record_outcome_node(receipt_key="receipt"))

    def fan(_: Fan) -> list[Send]:
        return [Send("record", {**FAILED, "branch": number}) for number in range(SENDS)]

    builder.add_conditional_edges(START, fan, ["record"])
    builder.add_edge("record", END)
    return builder.compile(store=store, checkpointer=InMemorySaver())


def counted(store: BaseStore) -> list[int]:
    with LangGraphMemoryStore(store) as memory:
        return [path.frequency for path in memory.paths(("driftguard",), "mistake")]


def test_what_one_graph_records_another_over_the_same_store_warns_of(user_data_dir: Path) -> None:
    store = InMemoryStore()
    recording(store).invoke(FAILED, THREAD)
    assert reviewing(store).invoke({"candidate_action": STEP})["guard_warnings_count"] == 1
    assert (
        reviewing(InMemoryStore()).invoke({"candidate_action": STEP})["guard_warnings_count"] == 0
    )
    assert not user_data_dir.exists()


def test_a_graph_without_a_store_uses_the_default_memory(user_data_dir: Path) -> None:
    recording(None).invoke(FAILED, THREAD)
    assert user_data_dir.exists()
    assert reviewing(None).invoke({"candidate_action": STEP})["guard_warnings_count"] == 1
    assert (
        reviewing(InMemoryStore()).invoke({"candidate_action": STEP})["guard_warnings_count"] == 0
    )


def test_a_given_guard_is_asked_whatever_the_store(guard: DriftGuard) -> None:
    store = InMemoryStore()
    recording(store, guard).invoke(FAILED, THREAD)
    assert store.search((), limit=10) == []
    assert reviewing(store, guard).invoke({"candidate_action": STEP})["guard_warnings_count"] == 1


def test_the_guard_of_a_store_is_built_once_and_only_some_are_kept() -> None:
    stores = [InMemoryStore() for _ in range(guards.SHARED_GUARDS + 3)]
    for store in stores:
        graph = reviewing(store)
        graph.invoke({"candidate_action": STEP})
        before = guards._shared.copy()
        graph.invoke({"candidate_action": STEP})
        assert guards._shared[-1].guard is before[-1].guard
    assert [held.store for held in guards._shared] == stores[3:]


def test_fifty_parallel_branches_of_one_run_are_counted_fifty_times() -> None:
    store = InMemoryStore()
    fanned_out(store).invoke({}, THREAD)
    assert counted(store) == [SENDS]


def test_fifty_parallel_branches_over_a_sqlite_store_are_counted_fifty_times(
    tmp_path: Path,
) -> None:
    with SqliteStore.from_conn_string(str(tmp_path / "store.sqlite3")) as store:
        store.setup()
        fanned_out(store).invoke({}, THREAD)
        assert counted(store) == [SENDS]


async def test_fifty_parallel_branches_over_an_async_store_are_counted_fifty_times(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "store.sqlite3")
    async with AsyncSqliteStore.from_conn_string(path) as store:
        await store.setup()
        await fanned_out(store).ainvoke({}, THREAD)
    with SqliteStore.from_conn_string(path) as kept:
        assert await asyncio.to_thread(counted, kept) == [SENDS]


def test_guards_of_two_databases_are_two_whatever_their_settings_print() -> None:
    one, other = (
        DriftGuardSettings(storage_backend="postgres", postgres_dsn=SecretStr(f"host=h{n}"))
        for n in range(2)
    )
    assert guards._shared_guard(None, one) is guards._shared_guard(None, one)
    assert guards._shared_guard(None, one) is not guards._shared_guard(None, other)
