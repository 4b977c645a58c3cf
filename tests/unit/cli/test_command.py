"""How the program answers what goes wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner, Result

from driftguard_langgraph.cli.app import app
from driftguard_langgraph.cli.command import Program, Verb
from driftguard_langgraph.errors import StoreUnavailable

small = typer.Typer(name="small", cls=Program, add_completion=False, rich_markup_mode=None)
ERRORS = {
    "own": (StoreUnavailable("the disk\nis full."), 2, "driftguard: the disk is full."),
    "bug": (
        RuntimeError("a\nbug"),
        70,
        "driftguard: unexpected RuntimeError: a bug (--debug shows where)",
    ),
    "ctrl-c": (KeyboardInterrupt(), 130, "driftguard: interrupted"),
    "abort": (typer.Abort(), 130, "driftguard: interrupted"),
    "exit": (typer.Exit(3), 3, ""),
}


@small.callback()
def _root(debug: bool = False) -> None:
    """Fail."""


@small.command(cls=Verb)
def fail(how: str) -> None:
    """Fail in some way."""
    error, _, _ = ERRORS[how]
    raise error


@small.command(cls=Verb)
def say(words: list[str]) -> None:
    """Say something."""
    typer.echo(" ".join(words))


def run(*words: str) -> Result:
    return CliRunner().invoke(small, list(words))


def one_line(done: Result) -> str:
    assert (done.exit_code, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("how", ERRORS)
def test_an_error_is_one_line_and_an_exit_code_with_a_meaning(how: str) -> None:
    _, code, line = ERRORS[how]
    done = run("fail", how)
    assert (done.exit_code, done.stdout, done.stderr.strip()) == (code, "", line)


@pytest.mark.parametrize("how", ["own", "bug"])
@pytest.mark.parametrize("place", [0, 1, 2], ids=["first", "between", "last"])
def test_debug_shows_where_an_error_comes_from_and_leaves_the_exit_code(
    how: str, place: int
) -> None:
    words = ["fail", how]
    words.insert(place, "--debug")
    _, code, line = ERRORS[how]
    done = run(*words)
    assert done.exit_code == code
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert "in fail\n" in done.stderr
    assert done.stderr.splitlines()[-1] == line


def test_behind_two_dashes_debug_is_a_word() -> None:
    assert run("say", "--", "a", "--debug").stdout == "a --debug\n"


MISUNDERSTOOD = {
    "stat": "there is no command 'stat'; did you mean driftguard stats or driftguard drift "
    "status? See driftguard --help.",
    "sesion x.jsonl": "there is no command 'sesion'; did you mean driftguard drift session? "
    "See driftguard --help.",
    "drift calibrat": "there is no command 'calibrat'; did you mean driftguard drift calibrate "
    "or driftguard calibrate? See driftguard drift --help.",
    "xyzzy": "there is no command 'xyzzy'. See driftguard --help.",
    "stats --jsno": "no such option: --jsno (Possible options: --json). "
    "See driftguard stats --help.",
    "eval pairs": "missing argument 'FILE'. See driftguard eval pairs --help.",
    "prune now": "got unexpected extra argument(s) (now). See driftguard prune --help.",
    "drift history --last x": "invalid value for '--last': ",
    "record go\0 broke stayed": "",
}


@pytest.mark.parametrize("line", MISUNDERSTOOD, ids=lambda line: line.replace("\0", " NUL"))
def test_what_cannot_be_understood_is_one_line_with_what_to_do(line: str) -> None:
    said = one_line(CliRunner().invoke(app, line.split(" ")))
    assert said.startswith(f"driftguard: {MISUNDERSTOOD[line]}")


def test_a_control_character_in_a_verb_does_not_reach_the_terminal() -> None:
    assert "\x1b" not in one_line(CliRunner().invoke(app, ["\x1b]0;owned\x07stats"]))


@pytest.mark.parametrize("count", [1, 100_000], ids=["little", "much"])
def test_a_reader_that_goes_away_is_no_error(count: int) -> None:
    code = f"""
import sys
from tests.unit.cli.test_command import small
small(["say", *{count} * ["word"]])
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (141, "")


def test_what_is_no_command_line_of_the_process_is_returned_to_the_caller() -> None:
    with pytest.raises(StoreUnavailable):
        small(["fail", "own"], standalone_mode=False)
