"""What holdout and muting cost a review: `python benchmarks/worth_cost.py`.

Prints CPU milliseconds of one review on a SQLite memory without the embedding (a stub of 384
numbers answers at once): of a step that nothing is known of, of one that is warned, held out,
or muted. The last reads some episodes; the others must cost the same as ever.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.testing.samples import SeededEmbedder

EPISODES = 1_000
ROUNDS = 400
FAILURES, OVERRIDES = 30, 8
WARNED, NOISY = "drop the orders table", "restart the ingest worker"


def _guard(store: BaseMemoryStore, holdout: float) -> DriftGuard:
    settings = DriftGuardSettings(holdout=holdout)
    return DriftGuard(store=store, embeddings=SeededEmbedder("stub", 384), settings=settings)


def _fill(guard: DriftGuard) -> None:
    with guard.store.exclusive():
        for number in range(EPISODES):
            keep = guard.record if number % 2 else guard.record_success
            keep(f"step {number % 300} of the plan", f"feedback {number % 50}", "it ended")
        for step in (WARNED, NOISY):
            for _ in range(FAILURES):
                guard.record(step, "denied", "lost")
    for _ in range(OVERRIDES):
        guard.record_success(NOISY, "ok", "done", review=guard.review(NOISY))


def _milliseconds(guard: DriftGuard, step: str) -> tuple[float, float]:
    costs = []
    for number in range(ROUNDS):
        began = time.process_time()
        guard.review(step, thread_id=f"thread {number}")
        costs.append((time.process_time() - began) * 1e3)
    costs.sort()
    return statistics.median(costs), costs[ROUNDS * 95 // 100]


def main() -> None:
    """Measure and print."""
    with (
        tempfile.TemporaryDirectory() as folder,
        SqliteMemoryStore.open(Path(folder) / "memory.sqlite3") as store,
    ):
        speaking, silent = _guard(store, 0.0), _guard(store, 1.0)
        _fill(speaking)
        for title, guard, step in (
            ("nothing known", speaking, "sing a song of sixpence"),
            ("warned", speaking, WARNED),
            ("held out", silent, WARNED),
            ("muted", speaking, NOISY),
        ):
            p50, p95 = _milliseconds(guard, step)
            print(f"{title}: p50 {p50:.2f} ms, p95 {p95:.2f} ms")


if __name__ == "__main__":
    main()
