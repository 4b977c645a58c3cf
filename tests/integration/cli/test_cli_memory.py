"""`driftguard review`, `record`, `stats` and `prune` as processes."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from driftguard_langgraph._version import __version__

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]
FAILURE = ("delete the temp directory", "build cache was wiped", "next build took 40 minutes")


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return what a failed command said, which must be one line on stderr."""
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("driftguard: ")
    return line


def test_what_one_process_records_the_next_one_is_warned_of(
    run_cli: RunCli, user_data_dir: Path
) -> None:
    recorded = run_cli("record", *FAILURE)
    assert recorded.returncode == 0
    assert recorded.stdout.startswith("stored: mistake ")
    assert user_data_dir.exists()
    review = run_cli("review", "remove everything under the tmp folder")
    assert review.returncode == 0
    assert review.stderr == ""
    for text in FAILURE:
        assert text in review.stdout
    assert review.stdout.startswith("warn: ")
    assert run_cli("review", "create the temp directory").stdout.startswith("proceed: ")


def test_a_refusal_is_exit_code_3_and_json_holds_the_evidence(
    run_cli: RunCli, tmp_path: Path
) -> None:
    db = tmp_path / "other.sqlite3"
    run_cli("record", *FAILURE, "--db", db, "--severity", "high")
    done = run_cli("review", FAILURE[0], "--policy", "block", "--json", "--db", db)
    assert done.returncode == 3
    review = json.loads(done.stdout)
    assert review["decision"] == "block"
    assert review["warnings"][0]["feedback_text"] == FAILURE[1]
    assert review["warnings"][0]["severity"] == "high"
    unwarned = run_cli("review", FAILURE[0], "--policy", "block")
    assert unwarned.returncode == 0


def test_tool_calls_are_recorded_and_reviewed_as_such(run_cli: RunCli) -> None:
    call = ("--tool", "apply_migration", "--args", '{"env": "production", "lock": true}')
    assert run_cli("record", "lock timeout", "checkout was down", *call).returncode == 0
    same = ("--tool", "apply_migration", "--args", '{"lock": true, "env": "production"}')
    other = ("--tool", "apply_migration", "--args", '{"lock": true, "env": "staging"}')
    assert json.loads(run_cli("review", *same, "--json").stdout)["decision"] == "warn"
    assert json.loads(run_cli("review", *other, "--json").stdout)["decision"] == "proceed"


def test_a_success_is_a_reinforcement_and_an_id_counts_once(run_cli: RunCli) -> None:
    success = ("compress the old logs", "16 GB freed", "builds run again", "--success")
    first = run_cli("record", *success, "--episode-id", "job-1", "--json")
    again = run_cli("record", *success, "--episode-id", "job-1", "--json")
    assert json.loads(first.stdout)["status"] == "stored"
    assert json.loads(again.stdout)["status"] == "duplicate"
    assert "worked before" in run_cli("review", "compress the old logs").stdout
    counts = json.loads(run_cli("stats", "--json").stdout)
    assert (counts["episodes"], counts["mistakes"]["episodes"]) == (1, 0)


def test_namespaces_do_not_see_each_other(run_cli: RunCli) -> None:
    mine = ("--namespace", "acme", "--namespace", "user-7")
    run_cli("record", *FAILURE, *mine)
    assert json.loads(run_cli("stats", "--json", *mine).stdout)["episodes"] == 1
    assert json.loads(run_cli("stats", "--json").stdout)["episodes"] == 0


def test_stats_and_prune_say_what_there_is_and_what_went(run_cli: RunCli) -> None:
    run_cli("record", *FAILURE)
    stats = run_cli("stats")
    assert "1 episode\n" in stats.stdout
    assert "mistakes" in stats.stdout
    pruned = json.loads(run_cli("prune", "--json").stdout)
    assert pruned["mistakes"]["episodes_removed"] == 0
    assert "isolated nodes removed" in run_cli("prune").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("review", "go", "--policy", "blok"), "blok"),
        (("review", "   "), "must not be empty"),
        (("review",), "TEXT or as --tool"),
        (("review", "go", "--tool", "f"), "TEXT or as --tool"),
        (("review", "go", "--args", "{}"), "--args needs --tool"),
        (("review", "--tool", "f", "--args", "{"), "--args is not JSON"),
        (("review", "--tool", "f", "--args", "[1]"), "must be a JSON object"),
        (("record", "only", "two"), "expected ACTION FEEDBACK OUTCOME"),
        (("record", "--tool", "f", "a", "b", "c"), "expected FEEDBACK OUTCOME"),
        (("record", *FAILURE, "--severity", "awful"), "awful"),
        (("review", "go", "--namespace", " "), "namespace"),
        (("stats", "--db", "typo.sqlite3"), "no memory there"),
        (("prune", "--db", "typo.sqlite3"), "no memory there"),
        (("stats", "--db", "no/such/../../\udcff.sqlite3"), "no memory there"),
        (("review", "half \udcff of a character"), "surrogate"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    run_cli: RunCli, arguments: tuple[str, ...], said: str
) -> None:
    done = run_cli(*arguments)
    assert done.returncode == 2
    assert said in one_line(done)


def test_an_unknown_variable_is_one_line_and_exit_code_2(run_cli: RunCli) -> None:
    done = run_cli("stats", DRIFTGUARD_GUARD_POLCY="block")
    assert done.returncode == 2
    assert "DRIFTGUARD_GUARD_POLCY" in one_line(done)
    done = run_cli("review", "go", DRIFTGUARD_RETRIEVAL_MIN_SIMILARITY="nan")
    assert done.returncode == 2
    assert "retrieval_min_similarity" in one_line(done)


def test_a_foreign_database_is_refused_and_left_alone(run_cli: RunCli, tmp_path: Path) -> None:
    db = tmp_path / "foreign.sqlite3"
    with sqlite3.connect(db) as connection:
        connection.execute("CREATE TABLE customers(name TEXT)")
    connection.close()
    before = db.read_bytes()
    done = run_cli("record", *FAILURE, "--db", db)
    assert done.returncode == 2
    assert "another application" in one_line(done)
    assert db.read_bytes() == before


def test_a_damaged_file_is_refused_with_one_line_and_left_alone(
    run_cli: RunCli, tmp_path: Path
) -> None:
    db = tmp_path / "memory.sqlite3"
    db.write_bytes(b"SQLite format 3\x00" + b"rubbish" * 1000)
    before = db.read_bytes()
    done = run_cli("stats", "--json", "--db", db)
    assert done.returncode == 2
    assert "is damaged" in one_line(done)
    assert "move it away" in one_line(done)
    assert db.read_bytes() == before


def test_a_memory_that_cannot_be_reached_lets_a_review_pass_but_no_record(
    run_cli: RunCli, tmp_path: Path
) -> None:
    folder = tmp_path / "a-folder.sqlite3"
    folder.mkdir()
    review = run_cli("review", "go", "--json", "--db", folder)
    assert review.returncode == 0
    assert json.loads(review.stdout)["decision"] == "unavailable"
    assert review.stderr.startswith("driftguard: review without memory: cannot open")
    record = run_cli("record", *FAILURE, "--db", folder)
    assert record.returncode == 2
    assert "Is a directory" in one_line(record)
    closed = run_cli("review", "go", "--db", folder, DRIFTGUARD_ON_STORE_ERROR="closed")
    assert closed.returncode == 2
    one_line(closed)


def test_debug_shows_where_an_error_comes_from(run_cli: RunCli) -> None:
    done = run_cli("--debug", "review", "go", "--policy", "blok")
    assert done.returncode != 0
    assert "Traceback" in done.stderr
    assert "ConfigurationError" in done.stderr


def test_recorded_markup_and_control_characters_are_shown_not_obeyed(run_cli: RunCli) -> None:
    run_cli("record", "open [red]valve[/red] 7", "\x1b]0;owned\x07 leak", "[/] flood")
    done = run_cli("review", "open [red]valve[/red] 7")
    assert done.returncode == 0
    assert "open [red]valve[/red] 7" in done.stdout
    assert "[/] flood" in done.stdout
    assert "\x1b" not in done.stdout
    assert r"\x1b]0;owned\x07 leak" in done.stdout


def test_a_closed_pipe_is_no_error() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "driftguard_langgraph.cli", "doctor", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert said == ""
    assert process.returncode == 141


def test_the_version_is_printed(run_cli: RunCli) -> None:
    assert run_cli("--version").stdout == f"driftguard-langgraph {__version__}\n"
