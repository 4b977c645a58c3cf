"""`driftguard record-run` as a process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]
STEP = "refund the order to the card on file"
ASTRAY = "the money went to a closed card"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A memory of one run whose only step worked."""
    path = tmp_path / "memory.sqlite3"
    with SqliteMemoryStore.open(path) as store:
        DriftGuard(store=store).record_success(
            STEP, "ok", "done", provenance={"thread_id": "t1", "run_id": "r1"}
        )
    return path


def test_the_end_of_a_run_is_in_the_next_review(run_cli: RunCli, database: Path) -> None:
    told = run_cli("record-run", "--thread", "t1", "--failed", ASTRAY, "--db", database)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == "stored: run failed, 1 action of it remembered\n"

    review = json.loads(run_cli("review", STEP, "--json", "--db", database).stdout)
    assert review["run_credit"]["failed_runs"] == 1
    assert review["decision"] == "proceed"
    shown = run_cli("review", STEP, "--db", database).stdout
    assert "its runs: 1 failed, 0 succeeded in the end (suspicion 0.60, no warning)" in shown


def test_a_run_is_named_by_its_run_id_and_json_is_the_receipt(
    run_cli: RunCli, database: Path
) -> None:
    given = ("--run", "r1", "--succeeded", "it arrived", "--severity", "high", "--json")
    receipts = [
        json.loads(run_cli("record-run", *given, "--db", database).stdout) for _ in range(2)
    ]
    assert [receipt["status"] for receipt in receipts] == ["stored", "replaced"]
    assert receipts[0]["run_id"] == "r1"
    assert receipts[0]["success"] is True


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--failed", ASTRAY), "either --thread ID or --run ID"),
        (("--thread", "t1", "--run", "r1", "--failed", ASTRAY), "either --thread ID or --run ID"),
        (("--thread", "t1", ASTRAY), "--succeeded"),
        (("--thread", "t1", "--failed"), "OUTCOME"),
        (("--thread", "t1", "--failed", ASTRAY, "--severity", "fatal"), "severity"),
    ],
)
def test_what_is_missing_or_wrong_is_said_and_ends_with_2(
    run_cli: RunCli, database: Path, given: tuple[str, ...], said: str
) -> None:
    done = run_cli("record-run", *given, "--db", database)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
