"""What the processes do that share a Postgres memory in tests."""

from __future__ import annotations

from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

from driftguard_langgraph.memory.engine import MemoryEngine
from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings
from tests.memory_samples import SeededEmbedder, append, episode


class Lowercase:
    """A normaliser without tables."""

    def label(self, text: str) -> str:
        return text.lower()


def engine_over(store: PostgresMemoryStore) -> MemoryEngine:
    """An engine with vectors made up from the texts."""
    return MemoryEngine(lambda: store, SeededEmbedder(), Lowercase(), DriftGuardSettings())


def remember_half_shared(
    dsn: str, together: Barrier, answers: Connection, me: int, number: int
) -> None:
    """Record through the engine, every second event the same in all processes."""
    engine = engine_over(PostgresMemoryStore.open(dsn))
    together.wait(60)
    stored = 0
    for n in range(number):
        name = f"shared {n}" if n % 2 else f"own {me} {n}"
        stored += engine.remember(episode(name, f"step {n}", "failed", f"lost {n % 7}")).stored
    engine.close()
    answers.send(stored)


def open_and_append(dsn: str, together: Barrier, answers: Connection, me: int, _: int) -> None:
    """Open a memory that nobody set up yet, at the same moment as others."""
    together.wait(60)
    with PostgresMemoryStore.open(dsn) as store:
        answers.send(append(store, episode(f"of {me}", f"step {me}")).stored)


def append_until_killed(dsn: str, answers: Connection, life: int) -> None:
    """Say what was recorded, as soon as it is."""
    engine = engine_over(PostgresMemoryStore.open(dsn))
    for n in count():
        name = f"life {life} {n}"
        engine.remember(episode(name, f"{name} step", "failed", f"lost {n % 7}"))
        answers.send(name)
