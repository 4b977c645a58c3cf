"""`driftguard import` of what other packages wrote, as a process; and of really installed ones."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.peer_samples import shared_feedback

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]

PEERS = os.environ.get("PEER_ENVIRONMENTS")
"""A folder of virtual environments, one for each other package; tests have no such variables, so
it is read here."""

TIMEOUT_SECONDS = 300


def report_of(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_graph_is_imported_once_from_whatever_file(run_cli: RunCli, tmp_path: Path) -> None:
    db = tmp_path / "memory.sqlite3"
    memory = shared_feedback()
    file = memory.write_json(tmp_path / "driftguard_graph.json")
    told = run_cli("import", file, "--db", db)
    assert told.stdout.splitlines() == [
        "failures (json 2): 7 nodes and 7 links are 9 episodes of 2 actions",
        "  not told: the wording of 7 texts before it was normalized",
        "  not told: the date of 4 episodes; it is known within bounds",
        "  not told: the outcome of 4 episodes whose feedback other actions share; in proportion",
        "9 episodes imported, 0 were there already",
    ]
    memory.record("bake bread", "oven cold", "guests hungry")
    grown = memory.write_sqlite(tmp_path / "moved.db")
    refused = run_cli("import", grown, "--db", db)
    assert refused.returncode == 2
    assert "say --kind mistake or --kind success" in refused.stderr
    again = report_of(
        run_cli(
            "import", grown, "--db", db, "--kind", "mistake", "--from", "driftguard-ai", "--json"
        )
    )
    assert (again["stored"], again["duplicates"]) == (1, 9)
    assert run_cli("review", "restart pod", "--db", db).stdout.startswith("warn: ")


def peer(name: str) -> Path:
    """The Python of an environment in which another package is installed."""
    if PEERS is None:
        pytest.skip("PEER_ENVIRONMENTS names no folder of environments with the other packages")
    found = sorted(Path(PEERS).glob(f"{name}*/bin/python"))
    if not found:
        pytest.skip(f"PEER_ENVIRONMENTS={PEERS} has no environment {name}* with a Python")
    return found[-1]


def run_peer(python: Path, code: str, folder: Path) -> None:
    """Run a script in another package's environment."""
    subprocess.run([python, "-c", code], check=True, cwd=folder, timeout=TIMEOUT_SECONDS)


DRIFTGUARD_AI = """
import sys, types
for name in ("fastmcp", "sentence_transformers", "spacy"):
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["fastmcp"].FastMCP = object
import numpy as np
from driftguard.graph import merge_engine
from driftguard.graph.graph_store import GraphStore
from driftguard.graph.prune_engine import PruneEngine
from driftguard.models.event import Event
from driftguard.storage.persistence import Persistence
from driftguard.storage.sqlite_persistence import SQLitePersistence
class Embedder:
    def embed(self, text):
        vector = np.zeros(64, dtype=np.float32)
        for place, letter in enumerate(text.encode()):
            vector[letter % 64] += place % 5 + 1
        return vector / np.linalg.norm(vector)
    def model_name(self):
        return "letters"
merge_engine.normalize_text = str.lower
graph = GraphStore(merge_engine.MergeEngine(embedding_engine=Embedder()), PruneEngine(), None)
for event in (("delete temp directory", "build cache wipe", "build take 40 minute"),) * 2 + (
    ("restart pod", "timeout error", "pager go off"),
    ("bake bread 7", "timeout error", "dough fall"),
):
    graph.add_event(Event(action=event[0], feedback=event[1], outcome=event[2]))
Persistence("driftguard_graph.json").save_graph(graph.graph)
SQLitePersistence("driftguard_graph.sqlite3").save_graph(graph.graph)
"""


def test_files_of_an_installed_driftguard_ai_are_imported(run_cli: RunCli, tmp_path: Path) -> None:
    run_peer(peer("dg-"), DRIFTGUARD_AI, tmp_path)
    first = report_of(run_cli("import", "driftguard_graph.json", "--json"))
    assert first["stored"] == 4
    assert first["graphs"][0]["untold"]["unreached"] == []
    again = report_of(run_cli("import", "driftguard_graph.sqlite3", "--json"))
    assert (again["stored"], again["duplicates"]) == (0, 4)


CONTEXT_DRIFT_ANALYZER = """
from context_drift_analyzer import DriftTracker
tracker = DriftTracker("You are a bank. Help with loans.", persist=True, persist_path="theirs")
tracker.record_turn("Loans? – 储蓄", "Loans need ID.")
tracker.record_turn("Cards?", "Cards and loans.")
tracker.end_session()
tracker.record_turn("Again?", "Loans again.")
"""


def test_sessions_of_an_installed_context_drift_analyzer_are_imported(
    run_cli: RunCli, tmp_path: Path
) -> None:
    run_peer(peer("cda-"), CONTEXT_DRIFT_ANALYZER, tmp_path)
    done = report_of(run_cli("import", "theirs", "--to", "ours", "--json"))
    assert (done["sessions"], done["summaries"]) == (2, 1)
    theirs, ours = (json.loads((tmp_path / name).read_text()) for name in ("theirs", "ours"))
    for told, kept in zip(theirs["sessions"], ours["sessions"], strict=True):
        assert (kept["summary"], kept["final_drift_score"]) == (
            told["summary"], told["final_drift_score"]
        )  # fmt: skip
        for exchange, mine in zip(told["exchanges"], kept["exchanges"], strict=True):
            assert exchange == {key: mine[key] for key in exchange}


def test_reports_of_an_installed_te_drift_detector_are_read(
    run_cli: RunCli, tmp_path: Path
) -> None:
    python = peer("te-")
    turns = [("user", "The rule is that backups are verified."), ("assistant", "Good."),
             ("user", "As established, do not check.")]  # fmt: skip
    (tmp_path / "log.jsonl").write_text(
        "".join(
            json.dumps({"type": role, "message": {"role": role, "content": text}}) + "\n"
            for role, text in turns
        )
    )
    command = [str(python.with_name("te-drift")), "session", "--session-jsonl", "log.jsonl"]
    subprocess.run([*command, "--output", "report.json"], check=True, cwd=tmp_path)
    done = report_of(run_cli("import", "report.json", "--log", "log.jsonl", "--json"))
    assert done["te_drift_detector"][0]["baseline_turns"] == 1
    assert done["te_drift_detector"][0]["report"] == json.loads(
        (tmp_path / "report.json").read_text()
    )
    assert len(done["sessions"][0]["readings"]) == 2
