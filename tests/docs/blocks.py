"""The code blocks of a page, and running them as a reader would."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from tests.docs.fresh import run_fresh
from tests.docs.page_runner import Block, run_page

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```\s*$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]*)"')
SHELL = {"bash", "console", "sh", "shell"}
OUTPUT = "Output"
"""The title of a block that shows what the block before it prints."""


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page, each with the output that the page shows for it."""
    found: list[Block] = []
    for fence in FENCE.finditer(text):
        _, language, options, code = fence.groups()
        title = TITLE.search(options)
        block = Block(
            language,
            title[1] if title else "",
            textwrap.dedent(code),
            text.count("\n", 0, fence.start()) + 1,
        )
        if block.title == OUTPUT and found:
            last = found.pop()
            found.append(Block(last.language, last.title, last.code, last.line, block.code))
        else:
            found.append(block)
    return found


def python_of(blocks: Sequence[Block]) -> list[Block]:
    """Those that Python runs."""
    return [block for block in blocks if block.language == "python"]


def commands_of(blocks: Sequence[Block]) -> list[str]:
    """Every command of the shell blocks, in order, with its comment."""
    return [
        line.strip().removeprefix("$ ")
        for block in blocks
        if block.language in SHELL
        for line in block.code.replace("\\\n", " ").splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]


def run_python(page: Path, blocks: Sequence[Block], folder: Path, **variables: str) -> None:
    """Run blocks of a page in one new process, each with what those before it left.

    What they print must be what the page says that they print.
    """
    done = run_fresh(run_page, str(page), blocks, folder=folder, variables=variables)
    assert done.code == 0, done.output
