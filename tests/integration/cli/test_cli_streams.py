"""The program between a terminal, pipes and other processes."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftguard_langgraph.cli.app import app
from driftguard_langgraph.memory.stores import sqlite_file, sqlite_open

RunCli = Callable[..., "subprocess.CompletedProcess[str]"]
DRIFTGUARD = [sys.executable, "-m", "driftguard_langgraph.cli"]
ESCAPE = "\x1b"
BASH = shutil.which("bash") or ""


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def locked(user_data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A memory that another writer holds, for which nobody waits long."""
    for module in (sqlite_file, sqlite_open):
        monkeypatch.setattr(module, "BUSY_TIMEOUT", 0.05)
    assert CliRunner().invoke(app, ["record", "go", "it broke", "so be it"]).exit_code == 0
    with closing(sqlite3.connect(user_data_dir, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        yield user_data_dir


def on_terminal(arguments: list[str], *, stdout: bool, **variables: str) -> tuple[str, str]:
    """Run with stderr, and if wanted stdout, on a terminal; return what stdout and it got."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*DRIFTGUARD, *arguments],
        stdout=theirs if stdout else subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", **variables},
    ) as process:
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
        printed = process.stdout.read() if process.stdout is not None else b""
    os.close(ours)
    assert process.returncode == 0
    return printed.decode(), shown.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # nobody writes to it any more
        return b""


def test_on_a_terminal_the_help_is_coloured_unless_that_is_not_wanted() -> None:
    _, shown = on_terminal(["--help"], stdout=True)
    assert f"{ESCAPE}[1mUsage:{ESCAPE}[0m driftguard" in shown
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        _, shown = on_terminal(["--help"], stdout=True, **variables)
        assert "Usage: driftguard" in shown
        assert ESCAPE not in shown


def test_progress_is_shown_on_a_terminal_and_keeps_out_of_the_answer(run_cli: RunCli) -> None:
    printed, shown = on_terminal(["stats", "--json"], stdout=False)
    assert "opening the memory" in shown
    assert json.loads(printed)["episodes"] == 0
    piped = run_cli("stats", "--json")
    assert (piped.stdout, piped.stderr) == (printed, "")


def test_without_colours_tables_have_none(run_cli: RunCli) -> None:
    _, shown = on_terminal(["doctor"], stdout=True, NO_COLOR="1")
    assert "everything is in place" in shown
    assert "[32m" not in shown
    assert ESCAPE not in run_cli("doctor").stdout


def _hear_ctrl_c() -> None:
    """Undo what a shell does to the jobs that it runs in the background: they ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("way", ["a file", "a question", "a client"])
def test_ctrl_c_is_one_line_and_its_exit_code(way: str, tmp_path: Path) -> None:
    pipe = tmp_path / "prompt.txt"
    os.mkfifo(pipe)
    memory = tmp_path / ".session_memory"
    memory.write_text('{"original_context": "A lighthouse.", "sessions": []}', encoding="utf-8")
    arguments = {
        "a file": ["drift", "session", str(memory), "--baseline", str(pipe)],
        "a question": ["drift", "reset", "--file", str(memory)],
        "a client": ["mcp"],
    }[way]
    with subprocess.Popen(
        [*DRIFTGUARD, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_hear_ctrl_c,  # noqa: PLW1509
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        # Each way to see that it waits, without waiting for a time.
        if way == "a file":
            # Opening returns when the command has opened the other end.
            writer = os.open(pipe, os.O_WRONLY)
        elif way == "a question":
            assert process.stderr.read(len(b"Delete")) == b"Delete"
            while process.stderr.read(1) != b":":
                pass
        else:
            process.stdin.write(INITIALIZE)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["result"]["serverInfo"]
        # A signal that comes just before a call that waits is noticed only with the next one.
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
        if way == "a file":
            os.close(writer)
        said = process.stderr.read().decode()
    assert process.returncode == 130
    assert said.splitlines()[-1] == "driftguard: interrupted"
    assert "Traceback" not in said
    assert memory.exists()


INITIALIZE = (
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        }
    ).encode()
    + b"\n"
)


@pytest.mark.skipif(not BASH, reason="there is no bash")
@pytest.mark.parametrize("command", ["stats", "doctor --json", "--help", "drift"])
def test_a_reader_that_closes_the_pipe_sees_no_traceback(command: str) -> None:
    line = f'set -o pipefail; "{sys.executable}" -m driftguard_langgraph.cli {command} | head -0'
    done = subprocess.run([BASH, "-c", line], check=False, capture_output=True, text=True)
    # Without a command the help is on stderr, so nothing is written into the pipe.
    assert done.returncode == (2 if command == "drift" else 141)
    assert (command == "drift") or done.stderr == ""
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not BASH, reason="there is no bash")
@pytest.mark.parametrize("closing_it", [">&-", "2>&-"])
def test_a_stream_that_is_closed_is_no_error(closing_it: str) -> None:
    line = f'"{sys.executable}" -m driftguard_langgraph.cli stats {closing_it}'
    done = subprocess.run([BASH, "-c", line], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("0 episodes" in done.stdout) is (closing_it == "2>&-")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*DRIFTGUARD, "stats"], check=False, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "no room" in line


@pytest.mark.usefixtures("locked")
@pytest.mark.parametrize("words", ["record a b c", "record-run --run r --failed bad", "prune"])
def test_a_memory_that_another_writer_holds_is_one_line_that_says_so(words: str) -> None:
    done = CliRunner().invoke(app, words.split())
    assert (done.exit_code, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert "database is locked. Another process holds the file: try again." in line


@pytest.mark.usefixtures("locked")
@pytest.mark.parametrize(("words", "shown"), [("review go", "warn: go"), ("stats", "1 episode")])
def test_who_only_reads_is_answered_beside_a_writer(words: str, shown: str) -> None:
    done = CliRunner().invoke(app, words.split())
    assert (done.exit_code, done.stderr) == (0, "")
    assert shown in done.stdout


@pytest.mark.skipif(not BASH, reason="there is no bash")
def test_the_script_for_bash_completes_in_bash(tmp_path: Path) -> None:
    program = tmp_path / "driftguard"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m driftguard_langgraph.cli "$@"\n')
    program.chmod(0o700)
    script = """
eval "$(driftguard --show-completion bash)"
complete -p driftguard
COMP_WORDS=(driftguard review --policy sp); COMP_CWORD=3
_driftguard_completion driftguard
echo "${COMPREPLY[@]}"
COMP_WORDS=(driftguard rec); COMP_CWORD=1
_driftguard_completion driftguard
echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(
        [BASH, "--norc", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "complete -o default -F _driftguard_completion driftguard",
        "speed_bump",
        "record record-run recover",
    ]
