"""What keeping and asking cost on each backend: `python benchmarks/stores.py`.

Prints medians of CPU and wall milliseconds of one record and one review, without the
embedding (a stub of 384 numbers answers at once), at growing sizes; then how fast processes
record at the same time, and whether every one of their episodes is there. Postgres is
measured when `--postgres DSN` names a database for it, and the package
`driftguard-ai` beside all of them when it is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from driftguard_langgraph.memory.engine import MemoryEngine
from driftguard_langgraph.memory.retention import forget_all
from driftguard_langgraph.memory.stores import open_store
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import EmbeddingSpace, Placed, Placement, Vector
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.normalizer import resolve_normalizer
from driftguard_langgraph.types import Action, Episode, utc_now

SIZES = (100, 1_000, 10_000, 100_000)
SMALL_BACKENDS = {"json": 10_000}
"""Backends that are meant for small memories, and up to which size they are measured."""

ROUNDS = 120
WARM_UP = 20
BATCH = 500
WRITERS, EACH = 8, 50
HOME = ("benchmark",)
SPACE = EmbeddingSpace("stub", 384)


class Stub:
    """Unit vectors that depend on the text alone, computed before the clock runs."""

    model_id, dimension = SPACE.model_id, SPACE.dimension

    def __init__(self) -> None:
        self._known: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return one row for each text."""
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> Vector:
        """Return the vector of one text."""
        if text not in self._known:
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            drawn = np.random.default_rng(seed).standard_normal(self.dimension)
            self._known[text] = (drawn / np.linalg.norm(drawn)).astype(np.float32)
        return self._known[text]


class Cost(NamedTuple):
    """Medians in milliseconds."""

    cpu: float
    wall: float

    @classmethod
    def of(cls, work: Callable[[int], object]) -> Cost:
        """Measure `work`, called with the number of the round."""
        cpu, wall = [], []
        for number in range(WARM_UP + ROUNDS):
            began = time.process_time(), time.perf_counter()
            work(number)
            if number >= WARM_UP:
                cpu.append(time.process_time() - began[0])
                wall.append(time.perf_counter() - began[1])
        return cls(statistics.median(cpu) * 1e3, statistics.median(wall) * 1e3)

    def __str__(self) -> str:
        return f"{self.cpu:.2f} / {self.wall:.2f}"


def episode(number: int, what: str = "run job") -> Episode:
    """Return an episode whose action is one of its own; every fifth one worked."""
    return Episode(
        f"{what} {number}",
        HOME,
        "mistake" if number % 5 else "success",
        Action(f"{what} number {number} on the cluster"),
        f"it said error {number % 50}",
        f"outcome {number % 20}",
        provenance={"thread_id": f"t{number // 10}"},
    )


def fill(store: BaseMemoryStore, stub: Stub, numbers: Iterable[int]) -> None:
    """Append episodes without asking where they belong, in one transaction."""
    with store.exclusive():
        for number in numbers:
            each = episode(number)
            texts = (each.action.text, each.feedback, each.outcome)
            placed = (Placed(text, text, stub.vector(text), created=False) for text in texts)
            store.append(each, Placement(*placed), SPACE)


def settings_of(backend: str, folder: Path, dsn: str | None) -> DriftGuardSettings:
    """Return settings that put the memory into a folder, or the named database."""
    name, _, durability = backend.partition(" ")
    return DriftGuardSettings(
        storage_backend=name,
        sqlite_filepath=folder / "memory.sqlite3",
        sqlite_durability=durability or "normal",
        json_filepath=folder / "memory.json",
        postgres_dsn=dsn or "",
    )


def measure(backend: str, sizes: Sequence[int], dsn: str | None, table: Table) -> None:
    """Add a row to the table for every size."""
    with tempfile.TemporaryDirectory() as folder:
        settings, stub = settings_of(backend, Path(folder), dsn), Stub()
        store = open_store(settings)
        engine = MemoryEngine(lambda: store, stub, resolve_normalizer(settings), settings)
        forget_all(store, HOME)
        filled = 0
        for size in sizes:
            for start in range(filled, size, BATCH):
                fill(store, stub, range(start, min(start + BATCH, size)))
            filled = size
            table.add_row(backend, f"{size:,}", *map(str, costs(engine, stub, size)))
        engine.close()


def costs(engine: MemoryEngine, stub: Stub, size: int) -> tuple[Cost, Cost]:
    """Return what a record and a review cost, in a memory of this size."""
    fresh = [episode(n, f"after {size:,} start task") for n in range(WARM_UP + ROUNDS)]
    known = [episode(n * 7919 % size).action for n in range(WARM_UP + ROUNDS)]
    steps = [a if n % 2 else Action(f"clear folder {n}") for n, a in enumerate(known)]
    for each in fresh:
        stub.embed([each.action.text, each.feedback, each.outcome])
    stub.embed([step.text for step in steps])
    recorded = Cost.of(lambda n: engine.remember(fresh[n]))
    return recorded, Cost.of(lambda n: engine.recall(HOME, steps[n], utc_now()))


def write_some(backend: str, folder: Path, dsn: str | None, writer: int) -> None:
    """Record episodes in a process of its own."""
    settings = settings_of(backend, folder, dsn)
    store = open_store(settings)
    engine = MemoryEngine(lambda: store, Stub(), resolve_normalizer(settings), settings)
    for number in range(EACH):
        engine.remember(episode(number, f"writer {writer if number % 2 else 'any'} job"))
    engine.close()


def write_at_once(backend: str, dsn: str | None, table: Table) -> None:
    """Let processes record at the same time, half of it the same episodes; add a row."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with open_store(settings_of(backend, place, dsn)) as store:
            forget_all(store, HOME)
        began = time.perf_counter()
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(WRITERS, mp_context=context) as processes:
            tasks = [
                processes.submit(write_some, backend, place, dsn, writer)
                for writer in range(WRITERS)
            ]
            for task in tasks:
                task.result()
        took = time.perf_counter() - began
        expected = WRITERS * EACH // 2 + EACH // 2
        with open_store(settings_of(backend, place, dsn)) as store:
            names = {e.episode_id for e in store.list(HOME, limit=100_000)}
        kept = sum(name.startswith("writer") for name in names)
        table.add_row(backend, f"{WRITERS} x {EACH}", f"{kept} of {expected}", f"{took:.1f} s")


def measure_peer(sizes: Sequence[int], table: Table) -> bool:
    """Add rows of `driftguard-ai`, its own embedding included; False if it is not installed."""
    if find_spec("driftguard") is None:
        return False
    module: Any = importlib.import_module("driftguard")
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        # It keeps its graph where the process stands.
        os.chdir(folder)
        try:
            peer, filled = module.DriftGuard(), 0
            for size in sizes:
                for number in range(filled, size):
                    each = episode(number)
                    peer.record(each.action.text, each.feedback, each.outcome)
                filled = size
                recorded = Cost.of(partial(_peer_records, peer, size))
                reviewed = Cost.of(lambda n: peer.before_step(f"run job number {n}"))
                table.add_row("driftguard-ai", f"{size:,}", str(recorded), str(reviewed))
        finally:
            os.chdir(home)
    return True


def _peer_records(peer: Any, size: int, number: int) -> None:
    each = episode(number, f"after {size:,} start task")
    peer.record(each.action.text, each.feedback, each.outcome)


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument(
        "--backends", nargs="+", default=["memory", "sqlite", "sqlite full", "json"]
    )
    parser.add_argument("--postgres", metavar="DSN")
    parser.add_argument("--peer-size", type=int, default=100, help="It slows down early.")
    options = parser.parse_args()
    backends = [*options.backends, *(["postgres"] if options.postgres else [])]
    table = Table("backend", "episodes", "record, ms CPU / wall", "review, ms CPU / wall")
    for backend in backends:
        most = SMALL_BACKENDS.get(backend, max(options.sizes))
        measure(backend, [s for s in options.sizes if s <= most], options.postgres, table)
    if not measure_peer([s for s in options.sizes if s <= options.peer_size], table):
        table.caption = "driftguard-ai is not installed beside this package."
    together = Table("backend", "processes x records", "episodes kept", "time, start included")
    for backend in backends:
        if backend != "memory":
            write_at_once(backend, options.postgres, together)
    Console(width=110).print(table, together)


if __name__ == "__main__":
    main()
