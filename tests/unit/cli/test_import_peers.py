"""`driftguard import` of what other packages wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from driftguard_langgraph.cli.app import app
from tests.peer_samples import PeerMemory, drift_report, shared_feedback


def cli(*words: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def report_of(done: Result) -> Any:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_dry_run_says_what_would_come_and_leaves_no_trace(tmp_path: Path) -> None:
    db = tmp_path / "memory.sqlite3"
    file = shared_feedback().write_json(tmp_path / "driftguard_graph.json")
    told = report_of(cli("import", file, "--db", db, "--dry-run", "--json"))
    assert told["graphs"] == [
        {
            "kind": "mistake", "layout": "json 2", "nodes": 7, "links": 7, "episodes": 9,
            "refused": [],
            "untold": {
                "wordings": 7, "dates": 4, "undated": 0, "outcome_of": 4, "outcomes": 0,
                "feedbacks": 0, "unclaimed": 0, "unreached": [],
            },
        }
    ]  # fmt: skip
    assert "nothing was imported (--dry-run)" in cli("import", file, "--dry-run").stdout
    assert sorted(tmp_path.iterdir()) == [file]


def test_what_is_refused_or_untold_is_named_and_cannot_steer_a_terminal(tmp_path: Path) -> None:
    memory = PeerMemory()
    memory.record("nul \0 byte", "f", "o")
    memory.record("fine", "\x1b[31mred", "o")
    memory.record("fine", "g", "p")
    memory.forget_links(("fine", "\x1b[31mred"))
    file = memory.write_json(tmp_path / "driftguard_graph.json")
    said = cli("import", file, "--dry-run").stdout
    assert 'refused, 1 episode: "nul \\x00 byte" -> "f" -> "o": action holds a NUL byte' in said
    assert "not told: the feedback of 1 episode" in said
    assert 'the action before 1 text; left out: "\\x1b[31mred"' in said
    assert "\x1b" not in said


def test_a_file_of_another_name_needs_to_be_told_what_it_holds(tmp_path: Path) -> None:
    file = shared_feedback().write_json(tmp_path / "memory.json")
    refused = cli("import", file)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "say --kind mistake or --kind success" in refused.stderr


def test_a_dry_run_of_an_exported_file_counts_it(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    lines = [{"type": "driftguard", "version": 1}, {"type": "episode"}, {"type": "run"}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert report_of(cli("import", file, "--dry-run", "--json")) == {
        "from": "driftguard", "dry_run": True, "episodes": 1, "runs": 1,
    }  # fmt: skip
    told = "1 episode and 1 verdict about a run in it; nothing was imported (--dry-run)\n"
    assert cli("import", file, "--dry-run").stdout == told


def test_successes_go_into_the_graph_and_the_namespace_that_were_named(tmp_path: Path) -> None:
    db = tmp_path / "memory.sqlite3"
    memory = PeerMemory()
    memory.record("archive old logs", "backup written", "disk had room")
    file = memory.write_json(tmp_path / "driftguard_success_graph.json", version=1)
    where = ("--db", db, "-n", "acme", "-n", "ann")
    assert report_of(cli("import", file, *where, "--json"))["namespace"] == ["acme", "ann"]
    stats = report_of(cli("stats", *where, "--json"))
    assert (stats["successes"]["nodes"], stats["mistakes"]["nodes"]) == (3, 0)


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("{", (), "no JSON"),
        ('{"name": "x"}', (), "nothing that one of the packages writes"),
        ('{"nodes": [], "edges": 7}', ("--kind", "mistake"), "Nothing was imported."),
        ('{"nodes": [], "edges": []}', ("--from", "te-drift-detector"), "written by driftguard-ai"),
        ('{"nodes": [], "edges": []}', ("--to", "x.json"), "--to does not go with a file of"),
        ('{"sessions": []}', ("--kind", "mistake"), "--kind does not go with a file of context"),
        ('{"sessions": []}', (), "say with --to"),
        ('{"sessions": [{}]}', ("--to", "x.json"), "Nothing was imported."),
        ("{}", ("--from", "drift"), "--from 'drift' is unknown"),
        ("{}", ("--kind", "both"), "--kind 'both' is unknown"),
    ],
    ids=str,
)
def test_what_cannot_be_imported_is_one_line_and_leaves_nothing(
    tmp_path: Path, content: str, options: tuple[str, ...], said: str
) -> None:
    file, db = tmp_path / "file", tmp_path / "memory.sqlite3"
    file.write_text(content)
    database = () if "--to" in options else ("--db", str(db)) if "nodes" in content else ()
    done = cli("import", file, *options, *database)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
    assert not db.exists()
    assert not (tmp_path / "x.json").exists()


def test_sessions_are_written_once_to_the_file_that_is_named(tmp_path: Path) -> None:
    file, target = tmp_path / ".session_memory", tmp_path / "sessions.json"
    exchange = {"exchange": 1, "user": "q", "assistant": "a", "score": 90, "verdict": "fresh"}
    session = {"session_number": 1, "status": "active", "exchanges": [exchange]}
    file.write_text(json.dumps({"original_context": "You are a bank.", "sessions": [session]}))
    dry = report_of(cli("import", file, "--dry-run", "--json"))
    assert (dry["from"], dry["exchanges"], dry["written"]) == ("context-drift-analyzer", 1, False)
    assert cli("import", file, "--to", target).stdout.splitlines() == [
        "1 session (1 active) with 1 exchange and 0 summaries",
        f"written to {target}",
    ]
    assert "holds all of it already" in cli("import", file, "--to", target).stdout
    assert cli("import", file, "--to", file, "--force").exit_code == 2
    status = cli("drift", "status", "--file", target)
    assert status.exit_code == 0, status.stderr


def test_a_drift_report_is_laid_beside_what_is_measured_here(tmp_path: Path) -> None:
    file, log, to = tmp_path / "report.json", tmp_path / "chat.jsonl", tmp_path / "both.json"
    file.write_text(json.dumps(drift_report([2], mode="sliding-window", window_size=4)))
    turns = [("user", "Which accounts?"), ("assistant", "A savings account."), ("user", "Thanks!")]
    log.write_text("".join(json.dumps({"role": r, "content": t}) + "\n" for r, t in turns))
    alone = cli("import", file)
    assert alone.stdout.splitlines() == [
        (
            '"session.jsonl": te-drift-detector said LOW, 1 of 3 readings anomalous, '
            "the first at turn 2"
        ),
        "--log FILE measures the session that it was made of here as well",
        "nothing was written",
    ]
    done = cli("import", file, "--log", log, "--to", to)
    assert "chat.jsonl: here no alarm, peak NORMAL" in done.stdout
    both = json.loads(to.read_text())
    assert both["te_drift_detector"][0]["report"] == json.loads(file.read_text())
    assert (both["mode"], both["window_size"]) == ("sliding-window", 4)
    assert both["sessions"][0]["baseline_turns"] == 1
    assert cli("import", file, "--to", to).exit_code == 2
