"""The README is run as printed: what a reader copies must work."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
SHELL = {"bash", "console", "sh", "shell"}
TIMEOUT_SECONDS = 300
TRACES = (
    {"action_text": "rm -rf build", "is_error": True, "observation_text": "permission denied"},
    {"action_text": "rm -rf build", "is_error": True, "observation_text": "permission denied"},
    {"action_text": "ls build", "is_error": False, "observation_text": "main.o"},
)
"""What a reader has in `traces.jsonl`."""


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int

    def __str__(self) -> str:
        return f"line-{self.line}"


BLOCKS = [
    Block(found[1], found[2], README.count("\n", 0, found.start()) + 1)
    for found in FENCE.finditer(README)
]
PYTHON = [block for block in BLOCKS if block.language == "python"]
COMMANDS = [
    line.strip().removeprefix("$ ")
    for block in BLOCKS
    if block.language in SHELL
    for line in block.code.replace("\\\n", " ").splitlines()
    if line.strip() and not line.lstrip().startswith("#")
]
OWN_COMMANDS = [command for command in COMMANDS if command.startswith("driftguard ")]
MAKE_COMMANDS = [command for command in COMMANDS if command.startswith("make ")]
PIP_COMMANDS = [command for command in COMMANDS if command.startswith("pip ")]


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run in `folder` as a reader would: this environment's commands first, no keys."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    env["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), env.get("PATH", os.defpath)))
    return subprocess.run(
        arguments,
        check=False,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        stdin=subprocess.DEVNULL,
    )


def test_the_readme_has_a_python_example_and_the_two_commands() -> None:
    assert PYTHON
    assert {"make demo", "make test"} <= {" ".join(shlex.split(c)[:2]) for c in MAKE_COMMANDS}


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_a_python_block_runs_as_printed(block: Block, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(block.code, encoding="utf-8")
    done = run([sys.executable, "-W", "error::DeprecationWarning:__main__", "example.py"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_driftguard_commands_run_in_the_printed_order(tmp_path: Path) -> None:
    traces = "".join(f"{json.dumps(step)}\n" for step in TRACES)
    (tmp_path / "traces.jsonl").write_text(traces, encoding="utf-8")
    for command in OWN_COMMANDS:
        done = run(shlex.split(command, comments=True), tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("command", MAKE_COMMANDS)
def test_a_make_command_names_a_target_that_exists(command: str) -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    wanted = [w for w in shlex.split(command, comments=True)[1:] if "=" not in w]
    assert wanted
    assert set(wanted) <= targets


@pytest.mark.parametrize("command", PIP_COMMANDS)
def test_a_pip_command_names_this_package_and_extras_that_exist(command: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [w for w in shlex.split(command, comments=True)[2:] if not w.startswith("-")]
    for requirement in wanted:
        name, _, extras = requirement.rstrip("]").partition("[")
        assert name == project["name"]
        assert set(filter(None, extras.split(","))) <= set(project["optional-dependencies"])
