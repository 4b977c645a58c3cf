"""`driftguard report` on a real SQLite memory: once as a process, then in this one."""

from __future__ import annotations

import hashlib
import json
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from driftguard_langgraph.cli.app import app
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from tests.report_samples import CORRUPTED, STEP, guard_over, messages, save_log, warn_often

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "memory.sqlite3"
    with SqliteMemoryStore.open(path) as store:
        warn_often(guard_over(store, holdout=0.3, holdout_seed=3))
    return path


def test_it_writes_a_page_and_leaves_the_memory_as_it_was(
    run_cli: RunCli, database: Path, tmp_path: Path
) -> None:
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    log = save_log(tmp_path / "chat.jsonl", list(messages(*CORRUPTED)))
    done = run_cli("report", "out.html", "--db", database, "--session", log)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "out.html: 13 episodes\n"
    page = tmp_path / "out.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert STEP in page.read_text(encoding="utf-8")
    assert "chat.jsonl" in page.read_text(encoding="utf-8")
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before

    again = run_cli("report", "out.html", "--db", database)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert run_cli("report", "out.html", "--db", database, "--force").returncode == 0


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_json_is_printed_and_a_page_is_written_only_if_it_is_named(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("report", "--json", "--db", database)
    assert (done.exit_code, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["memory"]["episodes"] == report["episodes"]["count"] == 13
    assert report["mistakes"]["chains"][0]["action"] == STEP
    assert not list(tmp_path.glob("*.html"))
    assert run("report", "--db", database).stdout == "driftguard-report.html: 13 episodes\n"


def test_it_reads_the_backend_and_the_namespace_that_are_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.json"
    with JsonMemoryStore.open(path) as store:
        guard_over(store).record("a", "b", "c", namespace=("ann",))
    monkeypatch.setenv("DRIFTGUARD_STORAGE_BACKEND", "json")
    monkeypatch.setenv("DRIFTGUARD_JSON_FILEPATH", str(path))
    done = run("report", "--json", "--namespace", "ann")
    report = json.loads(done.stdout)
    assert report["memory"]["namespace"] == ["ann"]
    assert report["memory"]["others"] is None
    assert report["episodes"]["count"] == 1


def test_a_memory_or_a_session_that_is_not_there_is_named(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("report", "--db", tmp_path / "nothing.sqlite3")
    assert done.exit_code == 2
    assert "no memory there" in done.stderr
    done = run("report", "--db", database, "--session", "nothing.jsonl")
    assert done.exit_code == 2
    assert "nothing.jsonl" in done.stderr
    assert not list(tmp_path.glob("*.html"))
