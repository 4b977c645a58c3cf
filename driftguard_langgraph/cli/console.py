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
"""What was checked does not hold."""

EXIT_BAD_INPUT = 2
"""Bad input, or a memory that cannot be used."""

EXIT_REFUSED = 3
"""The policy refuses the reviewed step."""

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


def log_to_stderr(level: str) -> None:
    """Show what the package logs, from `level` on, one line each."""
    logger = logging.getLogger("driftguard_langgraph")
    logger.setLevel(level)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("driftguard: %(message)s"))
    logger.handlers = [handler]
    logger.propagate = False
    # Reading checkpoints, LangGraph reports every type that it does not rebuild; none is needed.
    logging.getLogger("langgraph.checkpoint.serde").setLevel(logging.ERROR)
