"""Every backend keeps what became of warnings, and gives it to every other."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.judgement.muting import MIN_SUCCESSES
from driftguard_langgraph.judgement.worth import Tally
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.testing.places import Factory
from driftguard_langgraph.testing.samples import SeededEmbedder
from tests.conformance.stores import BACKENDS

STEP, OTHER = "drop the orders table", "archive the orders table"


def guard(store: BaseMemoryStore, holdout: float = 0.0) -> DriftGuard:
    settings = DriftGuardSettings(holdout=holdout)
    return DriftGuard(store=store, embeddings=SeededEmbedder(), settings=settings)


@pytest.mark.parametrize("name", BACKENDS)
def test_settlements_are_kept_exported_and_mute(name: str, tmp_path: Path) -> None:
    factories: dict[str, Factory] = BACKENDS
    (tmp_path / "store").mkdir()
    with factories[name](tmp_path / "store") as store:
        shown, silent = guard(store), guard(store, holdout=1.0)
        for _ in range(3 * MIN_SUCCESSES):
            shown.record(STEP, "denied", "lost")
        shown.record_success(OTHER, "ok", "done", instead_of=shown.review(STEP))
        silent.record(STEP, "denied", "lost", review=silent.review(STEP), episode_id="once")
        silent.record(STEP, "denied", "lost", review=silent.review(STEP), episode_id="once")
        for _ in range(MIN_SUCCESSES):
            shown.record_success(STEP, "ok", "done", review=shown.review(STEP))

        report = shown.worth()
        assert report.heeded == Tally(1, 0)
        assert report.overridden == Tally(MIN_SUCCESSES, 0)
        assert report.withheld == Tally(1, 1)
        assert [warning.action_text for warning in shown.review(STEP).muted] == [STEP]
        shown.export_jsonl(tmp_path / "memory.jsonl")
    other = guard(EphemeralMemoryStore())
    other.import_jsonl(tmp_path / "memory.jsonl")
    assert other.worth() == report
    assert other.review(STEP).muted
