"""What the processes of `test_json_processes` do; importable, so that it can be sent to them."""

from __future__ import annotations

from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from tests.memory_samples import append, episode


def record_half_shared(path: str, together: Barrier, say: Connection, me: int, number: int) -> None:
    """Record events, every second one seen by all processes under the same id."""
    with JsonMemoryStore.open(path) as store:
        together.wait()
        stored = 0
        for n in range(number):
            name = f"shared {n}" if n % 2 else f"{me} {n}"
            stored += append(store, episode(name, f"step {n % 20}", "failed", "lost")).stored
        say.send(stored)


def record_until_killed(path: str, say: Connection, life: int) -> None:
    """Record and acknowledge, as fast as possible."""
    store = JsonMemoryStore.open(path)
    for n in count():
        name = f"life {life} {n}"
        append(store, episode(name, f"step {n % 20}", "failed", f"lost {n % 7}"))
        say.send(name)
