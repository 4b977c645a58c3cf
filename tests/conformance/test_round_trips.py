"""What is exported from one backend and imported into another is the same memory."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.testing.places import Factory
from driftguard_langgraph.testing.samples import NOON, SeededEmbedder
from tests.conformance.stores import BACKENDS

ANN, BOB = ("acme", "ann@example.org"), ("acme", "bob.b")


def guard(store: BaseMemoryStore) -> DriftGuard:
    return DriftGuard(store=store, embeddings=SeededEmbedder(), settings=DriftGuardSettings())


def fill(memory: DriftGuard) -> None:
    for number in range(70):
        keep = memory.record_success if number % 4 == 0 else memory.record
        keep(
            {"name": "move", "args": {"to": number % 9}} if number % 3 else f"step {number % 5}",
            "naïve 🔥\nfeedback",
            f"outcome {number % 2}",
            severity="high" if number % 2 else "low",
            episode_id=f"e{number}",
            provenance={"thread_id": f"t{number % 3}", "run_id": f"r{number}", "source": "test"},
            metadata={"n": [number, None]},
            created_at=NOON - timedelta(microseconds=number),
            namespace=ANN if number % 5 else BOB,
        )
    memory.record_run_outcome(thread_id="t1", success=False, outcome="astray", namespace=ANN)
    memory.record_run_outcome(run_id="r5", success=True, outcome="fine", namespace=BOB)
    memory.review("step 1", namespace=ANN)


@pytest.mark.parametrize("target", BACKENDS)
@pytest.mark.parametrize("source", BACKENDS)
def test_a_memory_comes_through_whole(source: str, target: str, tmp_path: Path) -> None:
    factories: dict[str, Factory] = BACKENDS
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    with factories[source](tmp_path / "from") as store:
        memory = guard(store)
        fill(memory)
        assert memory.export_jsonl(first) == 70
        stats = memory.stats(namespace=ANN)
    with factories[target](tmp_path / "to") as store:
        memory = guard(store)
        assert memory.import_jsonl(first) == {"stored": 70, "duplicates": 0, "runs": 2}
        assert memory.import_jsonl(first) == {"stored": 0, "duplicates": 70, "runs": 0}
        memory.export_jsonl(second)
        assert memory.stats(namespace=ANN) == stats
    lines = [sorted(path.read_text(encoding="utf-8").splitlines()) for path in (first, second)]
    assert lines[0] == lines[1]
