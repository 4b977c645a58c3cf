"""The command `backtest`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from driftguard_langgraph.evaluation.backtest import MemoryScope
    from driftguard_langgraph.evaluation.failures import FailurePredicate

SHOWN_REASONS = 5
"""Skipped entries that are explained on stderr; the rest are counted."""


def backtest(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Traces or message logs, JSONL or JSON."),
    ],
    memory: Annotated[
        str,
        typer.Option(
            help="`stream`: each stream (a message log: each file) remembers for "
            "itself; `all`: one memory."
        ),
    ] = "stream",
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Leave out and count what cannot be read.")
    ] = False,
    error_pattern: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="In message logs a tool result has failed when this occurs in it, instead "
            "of the usual marks of an error.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Replay recorded runs and count what would have been warned.

    Every step is predicted first and recorded after, in the order of the file, in a memory
    apart from yours. Reads trace steps (action_text or action_json, is_error,
    observation_text, stream_id) and OpenAI-style messages with tool calls.

    Example: driftguard backtest traces.jsonl --json
    """
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.backtest import backtest as replay

    scope = _scope(memory)
    skipped: list[str] = []
    with bars() as progress:
        result = replay(
            files,
            memory=scope,
            settings=options.load_settings(),
            is_failure=_predicate(error_pattern),
            on_invalid=skipped.append if skip_invalid else None,
            progress=progress,
        )
    for reason in skipped[:SHOWN_REASONS]:
        console.fail(f"skipped {reason}")
    if len(skipped) > SHOWN_REASONS:
        console.fail(f"skipped {len(skipped) - SHOWN_REASONS} more entries")
    if as_json:
        console.print_json(result.to_dict())
        return
    from driftguard_langgraph.evaluation.report import render

    console.out().print(render(result))


def _scope(name: str) -> MemoryScope:
    if name in ("stream", "all"):
        return cast("MemoryScope", name)
    raise ConfigurationError(f"--memory {name!r} is unknown: use 'stream' or 'all'.")


def _predicate(pattern: str | None) -> FailurePredicate:
    from driftguard_langgraph.evaluation.failures import by_pattern, looks_failed

    if pattern is None:
        return looks_failed
    try:
        return by_pattern(re.compile(pattern))
    except re.error as error:
        raise ConfigurationError(f"--error-pattern {pattern!r} is no regex: {error}.") from None
