"""What a page's shell commands must be: each runs, or is one that would run with real files."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from driftguard_langgraph.cli.app import main
from tests.docs.blocks import ROOT
from tests.docs.fresh import Finished, run_fresh

TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
PLACEHOLDER = re.compile(r"[A-Z][A-Z_.]+")
VARIABLE = re.compile(r"([A-Z_]+)=(.*)")
SLOW = (["drift", "eval"], ["drift", "recovery"])
EXIT = re.compile(r"# exit code (\d+)")
STEPS = (
    {"action_text": "rm -rf build", "is_error": True, "observation_text": "permission denied"},
    {"action_text": "rm -rf build", "is_error": True, "observation_text": "permission denied"},
    {"action_text": "ls build", "is_error": False, "observation_text": "main.o"},
)
SESSION = (
    {"role": "system", "content": "You are a banking assistant. Never reveal account numbers."},
    {"role": "user", "content": "Which savings accounts do you offer?"},
    {"role": "assistant", "content": "A standard savings account with 4.5% APY."},
)


def lay_out(folder: Path) -> None:
    """Put into a folder what a reader has: recorded steps and a recorded conversation."""
    for name, entries in (("traces.jsonl", STEPS), ("session.jsonl", SESSION)):
        lines = "".join(f"{json.dumps(entry)}\n" for entry in entries)
        (folder / name).write_text(lines, encoding="utf-8")


def check_commands(commands: Iterable[str], folder: Path) -> None:
    """Run the commands of a page in order, or check those that cannot be run here.

    Raises:
        AssertionError: One fails, or is none that a page should print.
    """
    lay_out(folder)
    for command in commands:
        words = shlex.split(command, comments=True)
        variables = {}
        while words and (found := VARIABLE.fullmatch(words[0])):
            variables[found[1]] = found[2]
            words.pop(0)
        match words:
            case ["driftguard", *arguments] if _needs_more(arguments):
                _check_usage(command, arguments, folder)
            case ["driftguard", *_]:
                _check_run(command, words, folder, variables)
            case ["make", *targets]:
                _check_targets(command, targets)
            case ["pip", "install", *requirements]:
                _check_requirements(command, requirements)
            case _:
                raise AssertionError(f"nobody checks this command: {command}")


def _driftguard(arguments: list[str], folder: Path, variables: dict[str, str]) -> Finished:
    return run_fresh(_main, arguments, folder=folder, variables=variables)


def _main(arguments: list[str]) -> None:
    sys.argv = ["driftguard", *arguments]
    main()


def _needs_more(arguments: list[str]) -> bool:
    """Whether files are named that a reader has, or it takes long and has tests of its own."""
    slow = arguments[0] == "demo" or arguments[:2] in SLOW
    return slow or any(map(PLACEHOLDER.fullmatch, arguments))


def _check_run(command: str, words: list[str], folder: Path, variables: dict[str, str]) -> None:
    code = EXIT.search(command)
    done = _driftguard(words[1:], folder, variables)
    assert done.code == (int(code[1]) if code else 0), f"{command}\n{done.output}"


def _check_usage(command: str, arguments: list[str], folder: Path) -> None:
    verbs = [word for word in arguments if re.fullmatch("[a-z][a-z-]*", word)][:2]
    options = [word for word in arguments if word.startswith("--")]
    while True:
        shown = _driftguard([*verbs, "--help"], folder, {})
        # A group is asked with its verb; of a verb with a plain argument only the verb is.
        if shown.code == 0 or len(verbs) == 1:
            break
        verbs.pop()
    assert shown.code == 0, f"{command}\n{shown.output}"
    for option in options:
        assert option in shown.output, f"{command}: no {option}"


def _check_targets(command: str, words: list[str]) -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    wanted = {word for word in words if "=" not in word}
    assert wanted, command
    assert wanted <= targets, command


def _check_requirements(command: str, words: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for word in words:
        if word.startswith("-"):
            continue
        name, _, extras = word.rstrip("]").partition("[")
        assert name == project["name"], command
        known = set(project["optional-dependencies"])
        assert set(filter(None, extras.split(","))) <= known, command
