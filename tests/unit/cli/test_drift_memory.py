"""The commands over a `.session_memory` file, on real files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from driftguard_langgraph.cli.app import app
from driftguard_langgraph.drift.tracking.session_memory import SessionMemory

CONTEXT = "You advise the visitors of a lighthouse."
QUESTIONS = ("How high is it?", "Who built it?", "May I [bold]climb[/bold] it?")


def run(*arguments: object, answer: str | None = None) -> Result:
    return CliRunner().invoke(app, ["drift", *map(str, arguments)], input=answer)


def the_line(done: Result) -> str:
    [line] = done.stderr.splitlines()
    return line


def exchange(number: int) -> dict[str, Any]:
    return {
        "exchange": number,
        "user": QUESTIONS[number - 1],
        "assistant": "I will look it up.",
        "score": 101.0 - 10 * number,
        "verdict": "fresh",
        "explanation": "It is about the lighthouse.",
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A memory as context-drift-analyzer writes it, which ours reads."""
    ended = {"session_number": 1, "status": "completed", "summary": "Height, builder."}
    active = {"session_number": 2, "status": "active", "summary": ""}
    path = tmp_path / "lighthouse.session_memory"
    document = {
        "original_context": CONTEXT,
        "session_count": 2,
        "context_frozen": False,
        "sessions": [
            {**ended, "exchanges": [exchange(1), exchange(2)], "final_drift_score": 81.0},
            {**active, "exchanges": [exchange(3)], "final_drift_score": None},
        ],
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def empty(path: Path) -> Path:
    path.write_text(json.dumps({"original_context": CONTEXT, "sessions": []}), encoding="utf-8")
    return path


def test_status_shows_every_session(file: Path) -> None:
    done = run("status", "--file", file, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert (report["original_context"], report["context_frozen"]) == (CONTEXT, False)
    ended, active = report["sessions"]
    assert (ended["status"], ended["exchanges"], ended["score"]) == ("completed", 2, 81.0)
    assert (active["status"], active["score"], active["verdict"]) == ("active", 71.0, "FRESH")
    shown = " ".join(run("status", "--file", file).stdout.split())
    assert "2 sessions, context not frozen" in shown
    assert "Height, builder." in shown
    assert "[bold]climb[/bold]" in shown


def test_history_shows_the_newest_exchanges_oldest_first(file: Path) -> None:
    report = json.loads(run("history", "--file", file, "--last", 2, "--json").stdout)
    assert [each["user"] for each in report["exchanges"]] == list(QUESTIONS[1:])
    assert [each["session_number"] for each in report["exchanges"]] == [1, 2]
    shown = run("history", "--file", file, "--last", 0).stdout
    assert all(question in shown for question in QUESTIONS)


def test_a_memory_of_nothing_has_no_history(tmp_path: Path) -> None:
    path = empty(tmp_path / "empty")
    assert run("history", "--file", path).stdout == "no exchanges yet\n"
    assert "0 sessions" in run("status", "--file", path).stdout


def test_freezing_is_kept_and_says_whether_it_changed_anything(file: Path) -> None:
    assert "is frozen now" in run("freeze", "--file", file).stdout
    assert SessionMemory(file).read()["context_frozen"] is True
    again = json.loads(run("freeze", "--file", file, "--json").stdout)
    assert (again["context_frozen"], again["changed"]) == (True, False)
    assert "is not frozen now" in run("unfreeze", "--file", file).stdout
    assert SessionMemory(file).read()["context_frozen"] is False
    assert len(SessionMemory(file).read()["sessions"]) == 2


def test_reset_asks_and_deletes_only_on_a_yes(file: Path) -> None:
    done = run("reset", "--file", file, answer="n\n")
    assert done.exit_code == 1
    assert done.stdout.endswith("nothing was deleted\n")
    assert f"Delete {file} with 2 sessions?" in done.stderr
    asked = run("reset", "--file", file, "--json", answer="n\n")
    # The answer is echoed, as by a terminal.
    assert json.loads(asked.stdout.partition("n\n")[2])["deleted"] is False
    assert asked.exit_code == 1
    assert file.exists()
    done = run("reset", "--file", file, answer="y\n")
    assert done.exit_code == 0
    assert not file.exists()


def test_reset_without_anybody_to_answer_deletes_nothing(file: Path) -> None:
    done = run("reset", "--file", file, answer="")
    assert done.exit_code == 2
    assert "give --yes" in done.stderr
    assert file.exists()
    done = run("reset", "--file", file, "--yes", "--json")
    assert json.loads(done.stdout) == {"file": str(file), "deleted": True, "sessions": 2}
    assert not file.exists()


def test_a_frozen_memory_is_not_reset(file: Path) -> None:
    run("freeze", "--file", file)
    done = run("reset", "--file", file, "--yes")
    assert done.exit_code == 2
    assert "the context is frozen" in the_line(done)
    assert file.exists()


@pytest.mark.parametrize("command", ["status", "history", "reset", "freeze", "unfreeze"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no session memory there"),
        (b'{"sessions": [{"session_number": 1', "damaged, it is no JSON"),
        (b"[]", "damaged, it holds no object"),
        (b'{"sessions": [{"session_number": 0}]}', "damaged, a session has the number 0"),
        (b'{"name": "web-shop", "private": true}', "no session memory"),
        (b'{"version": 99, "sessions": []}', "version 99"),
    ],
)
def test_what_is_no_session_memory_is_refused_and_left_as_it_is(
    tmp_path: Path, command: str, content: bytes | None, said: str
) -> None:
    path = tmp_path / "other"
    if content is not None:
        path.write_bytes(content)
    done = run(command, "--file", path, *(["--yes"] if command == "reset" else []))
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in the_line(done)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([content] if content else [])


def test_the_default_file_is_the_trackers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    empty(tmp_path / ".session_memory")
    assert run("status").exit_code == 0
    assert run("history", "--last", "-1").exit_code == 2
