"""`driftguard worth` as a process, on a real SQLite memory."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.judgement.proportions import difference
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.testing.samples import SeededEmbedder

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]
STEP, OTHER = "drop the orders table", "archive the orders table"


def remember(path: Path, threads: int, holdout: float, namespace: str = "driftguard") -> None:
    """Let each thread propose a failing step; who is warned does another one instead."""
    settings = DriftGuardSettings(holdout=holdout, holdout_seed=3)
    with SqliteMemoryStore.open(path) as store:
        guard = DriftGuard(
            store=store, embeddings=SeededEmbedder(), settings=settings, namespace=(namespace,)
        )
        guard.record(STEP, "denied", "lost")
        for number in range(threads):
            review = guard.review(STEP, thread_id=f"t{number}")
            if review.withheld:
                guard.record(STEP, "denied", "lost", review=review)
            else:
                guard.record_success(OTHER, "ok", "done", instead_of=review)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "memory.sqlite3"
    remember(path, 60, 0.25)
    return path


def test_it_prints_the_lift_with_its_interval(run_cli: RunCli, database: Path) -> None:
    told = run_cli("worth", "--json", "--db", database)
    assert (told.returncode, told.stderr) == (0, "")
    report = json.loads(told.stdout)
    held, heeded = report["withheld"]["settled"], report["heeded"]["settled"]
    assert held + heeded == 60
    assert 0 < held < 30
    assert report["lift"] == 1.0
    assert report["interval"] == pytest.approx(list(difference(held, held, 0, heeded)))

    shown = run_cli("worth", "--db", database).stdout
    low = 100 * report["interval"][0]
    lift = f"lift: +100.0 points fewer failures where warned (95% interval {low:+.1f} to +100.0)"
    assert lift in shown
    assert "held out: the warning stayed silent" in shown
    assert "warned steps failed less: the interval is above 0." in shown


def test_without_a_holdout_it_says_how_to_get_a_control_arm(
    run_cli: RunCli, tmp_path: Path
) -> None:
    path = tmp_path / "memory.sqlite3"
    remember(path, 5, 0.0)
    shown = run_cli("worth", "--db", path).stdout
    assert "lift: unknown" in shown
    assert "no control arm: set holdout=0.1 (DRIFTGUARD_HOLDOUT)" in shown


def test_it_reads_the_namespace_that_is_named(run_cli: RunCli, database: Path) -> None:
    remember(database, 4, 0.0, namespace="ann")
    told = run_cli("worth", "--json", "--namespace", "ann", "--db", database)
    assert json.loads(told.stdout)["warned"]["settled"] == 4


def test_what_is_asked_from_a_shell_is_never_held_out(run_cli: RunCli, tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    assert run_cli("record", STEP, "denied", "lost", "--db", path).returncode == 0
    told = run_cli("review", STEP, "--json", "--db", path, DRIFTGUARD_HOLDOUT="1")
    assert json.loads(told.stdout)["decision"] == "warn"


def test_a_memory_that_is_not_there_is_named(run_cli: RunCli, tmp_path: Path) -> None:
    told = run_cli("worth", "--db", tmp_path / "nothing.sqlite3")
    assert told.returncode == 2
    assert "no memory there" in told.stderr
