"""What the processes of `test_langgraph_processes` do; importable, so that it can be sent."""

from __future__ import annotations

from multiprocessing.synchronize import Barrier

from langgraph.store.sqlite import SqliteStore

from driftguard_langgraph.memory.stores.langgraph import LangGraphMemoryStore
from tests.memory_samples import append, episode


def record_half_shared(path: str, together: Barrier, me: int, number: int) -> None:
    """Record events, every second one seen by all processes under the same id."""
    with SqliteStore.from_conn_string(path) as base, LangGraphMemoryStore(base) as store:
        together.wait()
        for n in range(number):
            name = f"shared {n}" if n % 2 else f"{me} {n}"
            append(store, episode(name, f"step {n % 10}", "failed", "lost"))
