"""The program as one piece: what holds for every command."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from unittest.mock import patch

import pytest
from typer.core import TyperGroup
from typer.main import get_group
from typer.testing import CliRunner

from driftguard_langgraph.cli import console
from driftguard_langgraph.cli.app import app
from driftguard_langgraph.cli.help_page import render
from driftguard_langgraph.cli.manual import Command, Manual, manual_of, walk
from driftguard_langgraph.evaluation.formats.registry import FORMAT_NAMES
from driftguard_langgraph.recovery.schedule import VARIANTS
from driftguard_langgraph.types import POLICIES, SEVERITIES

HEAVY = ("langgraph", "langchain_core", "numpy", "onnxruntime", "networkx", "pydantic", "rich")
COMMANDS: dict[str, Command] = dict(walk(get_group(app), "driftguard"))
VERBS = sorted(path for path, each in COMMANDS.items() if not isinstance(each, TyperGroup))
WIDTH = 80


def manual(path: str) -> Manual:
    return manual_of(COMMANDS[path], path)


def helped(path: str, width: int = WIDTH) -> str:
    with patch.dict(os.environ, COLUMNS=str(width)):
        return render(manual(path))


@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_every_command_says_in_a_sentence_what_it_does(path: str) -> None:
    summary = manual(path).summary
    assert re.fullmatch(r"[A-Z].*\.", summary)
    assert len(summary) <= 100


@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_every_command_has_an_example_that_its_parser_takes(path: str) -> None:
    examples = manual(path).examples
    assert examples
    for line in examples:
        assert line.startswith(f"{path} ") or line == path
        assert len(line) <= WIDTH
        _, *words = shlex.split(line)
        command = COMMANDS["driftguard"]
        while isinstance(command, TyperGroup):
            command = command.commands[words.pop(0)]  # type: ignore[assignment]
        with command.make_context("example", words):
            pass


@pytest.mark.parametrize("path", VERBS)
def test_every_verb_can_answer_in_json(path: str) -> None:
    assert "--json" in {row.name for row in manual(path).options}


@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_everything_that_a_command_takes_is_explained(path: str) -> None:
    taken = (*manual(path).arguments, *manual(path).options)
    assert [row.name for row in taken if not row.text.endswith((".", "]"))] == []


@pytest.mark.parametrize("path", sorted(COMMANDS))
@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_help_fits_the_terminal(path: str, width: int) -> None:
    examples = [f"  {line}" for line in manual(path).examples]
    lines = helped(path, width).splitlines()
    # Names, words and lines to copy stay whole, on a terminal that is narrower as well.
    whole = {*examples, *(f"  {row.name}" for row in manual(path).options)}
    whole |= {f"  {row.name}" for row in manual(path).arguments}
    long = [line for line in lines if len(line) > width and line not in whole]
    assert [line for line in long if len(line.split()) > 1] == []
    assert [line for line in lines if line != line.rstrip()] == []
    assert set(examples) <= set(lines)


@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_a_paragraph_of_the_help_is_filled_line_by_line(path: str) -> None:
    lines = helped(path).splitlines()
    for line, following in pairwise(lines):
        if line and following and not line.startswith(" ") and not following.startswith(" "):
            [first, *_] = following.split()
            assert len(line) + 1 + len(first) > WIDTH


@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_every_exit_code_of_a_command_is_one_of_the_table(path: str) -> None:
    assert {int(row.name) for row in manual(path).exit_codes} <= set(console.EXIT_CODES)


def test_the_help_of_the_program_has_the_table_of_exit_codes() -> None:
    lines = helped("driftguard").splitlines()
    table = [line.split(maxsplit=1) for line in lines[lines.index("Exit codes") + 1 :]]
    assert table == [[str(code), text] for code, text in console.EXIT_CODES.items()]


def test_the_help_groups_every_verb_and_hides_inner_workings() -> None:
    panels = manual("driftguard").panels
    assert list(panels) == ["Memory", "Drift", "Evaluation", "Services"]
    listed = {f"driftguard {row.name}" for rows in panels.values() for row in rows}
    assert listed == {path for path in COMMANDS if path.count(" ") == 1}
    shown = helped("driftguard")
    assert all(f"\n{title}\n" in shown for title in panels)
    assert "--phase" not in helped("driftguard demo")


@pytest.mark.parametrize(
    ("path", "option", "names"),
    [
        ("driftguard backtest", "--format", FORMAT_NAMES),
        ("driftguard calibrate", "--format", FORMAT_NAMES),
        ("driftguard review", "--policy", POLICIES),
        ("driftguard mcp", "--policy", POLICIES),
        ("driftguard record", "--severity", SEVERITIES),
        ("driftguard recover", "--variant", VARIANTS),
    ],
    ids=lambda value: value.replace("driftguard ", "") if isinstance(value, str) else "names",
)
def test_the_help_of_an_option_names_all_that_it_takes(
    path: str, option: str, names: tuple[str, ...]
) -> None:
    [text] = [row.text for row in manual(path).options if row.name.startswith(f"{option} ")]
    assert [name for name in names if not re.search(rf"\b{name}\b", text)] == []


def test_h_is_help() -> None:
    long, short = (CliRunner().invoke(app, ["stats", word]) for word in ("--help", "-h"))
    assert (long.exit_code, short.exit_code) == (0, 0)
    assert long.stdout == short.stdout == helped("driftguard stats", 120) + "\n"


@pytest.mark.parametrize("words", [[], ["drift"], ["eval"]], ids=["program", "drift", "eval"])
def test_without_a_command_the_help_is_shown_and_nothing_was_done(words: list[str]) -> None:
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Usage: {' '.join(['driftguard', *words])} [OPTIONS] COMMAND")


@pytest.mark.parametrize("statement", ["import driftguard_langgraph.cli.app", "app(['--help'])"])
def test_help_needs_none_of_the_heavy_dependencies(statement: str) -> None:
    code = f"""
import sys
from driftguard_langgraph.cli.app import app
try:
    {statement}
except SystemExit as done:
    assert done.code == 0
print("modules:", *sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    modules = done.stdout.rpartition("modules:")[2].split()
    assert set(HEAVY) & set(modules) == set()


def test_the_demo_phases_are_not_for_others() -> None:
    done = CliRunner().invoke(app, ["demo", "--phase", "third"])
    assert done.exit_code == 2
    assert "--phase" in done.stderr
