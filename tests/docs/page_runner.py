"""Runs the Python blocks of a page one after another and compares what they print.

A statement with the comment `# -> words` must print these words, and a block with an output
must print it. Where the page has `...`, anything may stand, and figures may be a little off:
another processor rounds the model's numbers otherwise.
"""

from __future__ import annotations

import ast
import io
import math
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from types import ModuleType
from typing import Any

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
SAID = re.compile(r"# -> (.*?)\s*$")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page.

    Attributes:
        language: What stands behind the fence.
        title: Its title, empty without one.
        code: What is in it, without the indentation of a list or a tab.
        line: The line of its fence in the page.
        prints: What the page shows as its output; None if it shows none.
    """

    language: str
    title: str
    code: str
    line: int
    prints: str | None = None

    def __str__(self) -> str:
        return f"line-{self.line}"


def expected(lines: list[str]) -> str | None:
    """What the comments of a statement say that it prints; None if they say nothing."""
    said = [found[1] for found in map(SAID.search, lines) if found]
    return "\n".join(said) if said else None


def agrees(printed: str, shown: str) -> bool:
    """Whether a page shows what was printed."""
    trimmed = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    pieces = NUMBER.split(shown.strip())
    words = [".*?".join(map(re.escape, piece.split("..."))) for piece in pieces]
    found = re.fullmatch(f"({NUMBER.pattern})".join(words), trimmed, re.DOTALL)
    return found is not None and all(
        math.isclose(float(said), float(meant), rel_tol=0.03, abs_tol=0.02)
        for said, meant in zip(found.groups(), NUMBER.findall(shown), strict=True)
    )


def check(where: str, printed: str, shown: str | None) -> None:
    """End the process if a page shows something else than was printed."""
    if shown is not None and not agrees(printed, shown):
        sys.exit(f"{where} shows:\n{shown}\nbut this is printed:\n{printed}")


def run_block(page: str, block: Block, namespace: dict[str, Any]) -> None:
    """Run one block in a namespace."""
    # Lines count as in the page, so that a traceback points into it.
    code = "\n" * block.line + block.code
    lines = code.splitlines()
    body = ast.parse(code, page).body
    ends = [statement.lineno - 1 for statement in body[1:]] + [len(lines)]
    printed = ""
    for statement, end in zip(body, ends, strict=True):
        output = io.StringIO()
        with redirect_stdout(output):
            exec(compile(ast.Module([statement], []), page, "exec"), namespace)  # noqa: S102
        shown = expected(lines[statement.lineno - 1 : end])
        check(f"{page}:{statement.lineno}", output.getvalue(), shown)
        printed += output.getvalue()
    check(f"{page}:{block.line}", printed, block.prints)


def run_page(page: str, blocks: Sequence[Block]) -> None:
    """Run the blocks of a page, each with what those before it left."""
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    for block in blocks:
        run_block(page, block, module.__dict__)
