"""Writing to the terminal: answers on stdout, everything else on stderr."""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

EXIT_NOT_HELD = 1
"""What was checked does not hold, or there is nothing to do or to write."""

EXIT_BAD_INPUT = 2
"""Bad input, or a memory or file that cannot be used."""

EXIT_REFUSED = 3
"""The policy refuses the reviewed step."""

EXIT_BUG = 70
"""An error that the package did not raise on purpose (`EX_SOFTWARE` of sysexits.h)."""

EXIT_INTERRUPTED = 130
"""Ctrl-C; as of a process that SIGINT ended."""

EXIT_CLOSED_PIPE = 141
"""The reader of the output went away; as of a process that SIGPIPE ended."""

EXIT_CODES = {
    0: "Done.",
    EXIT_NOT_HELD: "What was checked does not hold, or there is nothing to do.",
    EXIT_BAD_INPUT: "Bad input, or a memory or file that cannot be used.",
    EXIT_REFUSED: "The policy refuses the reviewed step.",
    EXIT_BUG: "A bug in driftguard; --debug shows where.",
    EXIT_INTERRUPTED: "Interrupted with Ctrl-C.",
    EXIT_CLOSED_PIPE: "Whoever read the output closed the pipe.",
}
"""How every command ends; the one table that the help and the documentation print."""

PIPE_WIDTH = 110
"""Columns for tables when stdout is not a terminal and says nothing of its width."""


def out() -> Console:
    """Return a console on stdout."""
    return _console(sys.stdout)


def err() -> Console:
    """Return a console on stderr."""
    return _console(sys.stderr)


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    fixed = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(file=stream, width=fixed, highlight=False)


def fail(message: str) -> None:
    """Write one line to stderr: what is wrong and what to do."""
    print(f"driftguard: {' '.join(message.split())}", file=sys.stderr)


def print_json(value: Any) -> None:
    """Write one JSON document to stdout, readable in every encoding."""
    print(json.dumps(value, indent=2))


def counted(count: int, noun: str) -> str:
    """Return a count with its noun in the number that it asks for: `1 episode`, `2 episodes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class _OneLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        said = " ".join(record.getMessage().split())
        return f"driftguard: {said.removeprefix('driftguard ')}"


def log_to_stderr(level: str) -> None:
    """Show what the package logs, from `level` on, one line each."""
    logger = logging.getLogger("driftguard_langgraph")
    logger.setLevel(level)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    logger.handlers = [handler]
    logger.propagate = False
    # Reading checkpoints, LangGraph reports every type that it does not rebuild; none is needed.
    logging.getLogger("langgraph.checkpoint.serde").setLevel(logging.ERROR)
