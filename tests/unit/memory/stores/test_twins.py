"""Every method of a store has an async twin that runs it off the event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.testing.checks.twins import ARGUMENTS
from tests.memory_samples import HOME

WITHOUT_TWIN = {"exclusive", "location", "snapshot"}
METHODS = sorted(
    name
    for name, member in vars(BaseMemoryStore).items()
    if not name.startswith("_")
    and inspect.isfunction(member)
    and not inspect.iscoroutinefunction(member)
    and name not in WITHOUT_TWIN
)


def test_the_conformance_suite_calls_every_method() -> None:
    assert sorted(ARGUMENTS) == METHODS


@pytest.mark.parametrize("name", METHODS)
async def test_a_twin_runs_the_overridden_method_off_the_event_loop(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await asyncio.to_thread(EphemeralMemoryStore)
    ran: list[tuple[threading.Thread, tuple[Any, ...]]] = []
    answer = object()

    def overridden(*args: Any) -> object:
        ran.append((threading.current_thread(), args))
        return answer

    monkeypatch.setattr(EphemeralMemoryStore, name, overridden, raising=False)
    assert await getattr(store, f"a{name}")(*ARGUMENTS[name]) is answer
    monkeypatch.undo()
    [(thread, args)] = ran
    assert thread is not threading.main_thread()
    assert args == (store, *ARGUMENTS[name])
    await asyncio.to_thread(store.close)


async def test_an_error_comes_out_of_the_twin(database: Path) -> None:
    store = await asyncio.to_thread(SqliteMemoryStore.open, database)
    await store.aclose()
    with pytest.raises(StoreUnavailable):
        await store.aget(HOME, "e1")
