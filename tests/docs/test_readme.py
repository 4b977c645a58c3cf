"""The README is run as printed: what a reader copies must work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks_of, commands_of, python_of, run_python
from tests.docs.commands import check_commands
from tests.docs.page_runner import Block

README = ROOT / "README.md"
BLOCKS = blocks_of(README.read_text(encoding="utf-8"))
PYTHON = python_of(BLOCKS)
COMMANDS = commands_of(BLOCKS)


def test_the_readme_has_a_python_example_and_the_two_commands() -> None:
    assert PYTHON
    assert {"make demo", "make test"} <= {" ".join(command.split()[:2]) for command in COMMANDS}


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_a_python_block_runs_as_printed_and_by_itself(block: Block, tmp_path: Path) -> None:
    run_python(README, [block], tmp_path)


def test_the_commands_work_in_the_printed_order(tmp_path: Path) -> None:
    check_commands(COMMANDS, tmp_path)
