"""Every method of a store has an async twin that runs it off the event loop."""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.records import (
    EmbeddingSpace,
    Placed,
    Placement,
    RunVerdict,
)
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from tests.memory_samples import HOME, NOON, SPACE, append, episode, vector

WITHOUT_TWIN = {"exclusive", "location"}
METHODS = sorted(
    name
    for name, member in vars(BaseMemoryStore).items()
    if not name.startswith("_")
    and inspect.isfunction(member)
    and not inspect.iscoroutinefunction(member)
    and name not in WITHOUT_TWIN
)


def placement(text: str) -> Placement:
    placed = [Placed(part, part, vector(part), created=False) for part in (text, "f", "o")]
    return Placement(*placed)


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "setup": (),
    "space": (),
    "append": (episode("e2", "b", "f", "o"), placement("b"), SPACE),
    "search": (HOME, "mistake", "action", vector("x"), 5),
    "wording": (HOME, "mistake", "action", "a"),
    "wordings": (HOME, "mistake", "action", ["a"]),
    "paths": (HOME, "mistake"),
    "count_since": (HOME, "mistake", ["a"], NOON),
    "next_success": (HOME, ["e1"]),
    "get": (HOME, "e1"),
    "list": (HOME,),
    "namespaces": (),
    "touch": (HOME, "mistake", ["a"], NOON),
    "delete": (HOME, "e1"),
    "delete_paths": (HOME, "mistake", [("a", "f", "o")]),
    "replace_vectors": (EmbeddingSpace("b", 8), {t: vector(t, 8) for t in ("a", "f", "o")}),
    "texts": (),
    "set_run": (HOME, RunVerdict("thread", "t", False, "o", "low", NOON)),
    "get_run": (HOME, "thread", "t"),
    "run_shares": (HOME, {"mistake": ["a"]}),
    "drop_idle_runs": (HOME,),
    "close": (),
}


def test_the_arguments_above_are_for_all_methods() -> None:
    assert sorted(ARGUMENTS) == METHODS


@pytest.fixture
def stores() -> Iterator[list[EphemeralMemoryStore]]:
    """Two stores with the same content, made outside the event loop."""
    twins = [EphemeralMemoryStore(), EphemeralMemoryStore()]
    for store in twins:
        append(store, episode("e1", "a", "f", "o"))
    yield twins
    for store in twins:
        store.close()


@pytest.mark.parametrize("name", METHODS)
async def test_a_twin_answers_what_its_method_answers(
    name: str, stores: list[EphemeralMemoryStore]
) -> None:
    plain = await asyncio.to_thread(getattr(stores[0], name), *ARGUMENTS[name])
    assert await getattr(stores[1], f"a{name}")(*ARGUMENTS[name]) == plain


@pytest.mark.parametrize("name", METHODS)
async def test_a_twin_runs_the_overridden_method_off_the_event_loop(
    name: str, stores: list[EphemeralMemoryStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[threading.Thread, tuple[Any, ...]]] = []
    answer = object()

    def overridden(*args: Any) -> object:
        ran.append((threading.current_thread(), args))
        return answer

    monkeypatch.setattr(EphemeralMemoryStore, name, overridden, raising=False)
    assert await getattr(stores[0], f"a{name}")(*ARGUMENTS[name]) is answer
    monkeypatch.undo()
    [(thread, args)] = ran
    assert thread is not threading.main_thread()
    assert args == (stores[0], *ARGUMENTS[name])


async def test_a_twin_runs_beside_others_on_one_connection(database: Path) -> None:
    with closing(sqlite3.connect(database, check_same_thread=False)) as connection:
        store = SqliteMemoryStore(connection)
        await store.asetup()
        texts = [f"step {number}" for number in range(20)]
        await asyncio.gather(
            *(store.aappend(episode(t, t, "f", "o"), placement(t), SPACE) for t in texts)
        )
        kept = await store.alist(HOME, limit=100)
        assert sorted(each.action.text for each in kept) == sorted(texts)
        hits = await asyncio.gather(
            *(store.asearch(HOME, "mistake", "action", vector(t), 1) for t in texts)
        )
        assert [hit[0].action.text for hit in hits] == texts


async def test_an_error_comes_out_of_the_twin(database: Path) -> None:
    store = await asyncio.to_thread(SqliteMemoryStore.open, database)
    await store.aclose()
    with pytest.raises(StoreUnavailable):
        await store.aget(HOME, "e1")
