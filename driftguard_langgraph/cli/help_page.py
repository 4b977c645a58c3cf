"""The help of a command as it appears on the terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from textwrap import wrap

from driftguard_langgraph.cli.manual import Manual, Row

WIDEST = 100
"""Columns that are used of a wider terminal: longer lines are hard to read."""

NARROW = 60
"""Columns below which a text stands under the name that it explains, not beside it."""

NAME_WIDTH = 28
"""Columns of the longest name that the texts beside it make room for."""

_BOLD = "\x1b[1m"
_NAME = "\x1b[1;36m"
_DIM = "\x1b[2m"
_END = "\x1b[0m"

_CODE = re.compile(r"`([^`]+)`")
_TYPED = re.compile(r"-[-\w]+|^[\w-]+$")
"""Of a name what is typed as it stands, and not a placeholder: an option, a command, a code."""


def render(manual: Manual) -> str:
    """Return a manual as text for the terminal, with colours if stdout can show them.

    Args:
        manual: What the command says of itself.
    """
    page = _Page(min(shutil.get_terminal_size().columns, WIDEST), is_coloured=_shows_colours())
    return "\n".join(page.lines(manual))


def _shows_colours() -> bool:
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout.isatty()


class _Page:
    def __init__(self, width: int, *, is_coloured: bool) -> None:
        self._width = width
        self._is_coloured = is_coloured

    def lines(self, manual: Manual) -> Iterator[str]:
        """Return the lines of the page."""
        usage = self._in("       ", f"{manual.path} {manual.usage}")
        yield f"{self._styled('Usage:', _BOLD)} {usage[0].lstrip()}"
        yield from usage[1:]
        for text in (manual.summary, *manual.paragraphs):
            yield ""
            yield from map(self._with_code, self._in("", text))
        yield from self._section("Arguments", manual.arguments)
        widest = self._name_width([row for rows in manual.panels.values() for row in rows])
        for title, rows in manual.panels.items():
            yield from self._section(title, rows, widest)
        yield from self._section("Options", manual.options)
        if manual.examples:
            yield from self._heading("Example" if len(manual.examples) == 1 else "Examples")
            # A line to copy is not broken: where it is too long the terminal folds it.
            yield from (f"  {line}" for line in manual.examples)
        yield from self._section("Exit codes", manual.exit_codes)
        if " " in manual.path:
            yield ""
            for line in self._in("", "driftguard --help lists all exit codes."):
                yield self._styled(line, _DIM)

    def _section(self, title: str, rows: Sequence[Row], widest: int | None = None) -> Iterator[str]:
        if not rows:
            return
        yield from self._heading(title)
        names = self._name_width(rows) if widest is None else widest
        for row in rows:
            yield from self._row(row, names)

    def _row(self, row: Row, names: int) -> Iterator[str]:
        name = _TYPED.sub(lambda found: self._styled(found[0], _NAME), row.name)
        if self._width < NARROW or len(row.name) > names:
            yield f"  {name}"
            indent = 6 if self._width < NARROW else names + 4
            yield from map(self._with_code, self._in(" " * indent, row.text))
            return
        first, *others = self._in(" " * (names + 4), row.text) or [""]
        beside = self._with_code(first.lstrip())
        yield f"  {name}{' ' * (names - len(row.name))}  {beside}".rstrip()
        yield from map(self._with_code, others)

    def _name_width(self, rows: Sequence[Row]) -> int:
        return max((len(row.name) for row in rows if len(row.name) <= NAME_WIDTH), default=0)

    def _heading(self, title: str) -> Iterator[str]:
        yield ""
        yield self._styled(title, _BOLD)

    def _in(self, indent: str, text: str) -> list[str]:
        return wrap(
            text,
            self._width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _with_code(self, line: str) -> str:
        """Show what stands between backticks as something to type."""
        return _CODE.sub(rf"{_BOLD}\1{_END}", line) if self._is_coloured else line

    def _styled(self, text: str, style: str) -> str:
        return f"{style}{text}{_END}" if self._is_coloured else text
