"""The command `backtest`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from driftguard_langgraph.cli import completion, console, options
from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from driftguard_langgraph.evaluation.backtest import MemoryScope
    from driftguard_langgraph.evaluation.failures import FailurePredicate

SCOPES = ("stream", "all")
SHOWN_REASONS = 5
"""Skipped entries that are explained on stderr; the rest are counted."""


Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Recorded runs: JSONL, JSON, or checkpoints."),
]
Memory = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="NAME",
        autocompletion=completion.one_of(lambda: SCOPES),
        help="`stream`: each stream (thread, session, trace, else file) remembers for itself; "
        "`all`: one memory.",
    ),
]
SkipInvalid = Annotated[
    bool, typer.Option("--skip-invalid", help="Leave out and count what cannot be read.")
]
ErrorPattern = Annotated[
    str | None,
    typer.Option(
        metavar="REGEX",
        help="Where the log does not say it, a tool result has failed when this occurs in it, "
        "instead of the usual marks of an error.",
    ),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write the report as one HTML page, too."),
]


def backtest(
    files: Files,
    memory: Memory = "stream",
    skip_invalid: SkipInvalid = False,
    error_pattern: ErrorPattern = None,
    run_format: options.Format = None,
    html: Html = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Replay recorded runs and count what would have been warned.

    Every step is predicted first and recorded after, in the order of the file, in a memory
    apart from yours. Reads trace steps (action_text or action_json, is_error,
    observation_text, stream_id), message logs of OpenAI and LangChain, run exports of
    LangSmith, sessions of Claude Code, and the SQLite file of a LangGraph checkpointer. The
    page of --html holds the warned steps and the misses, and needs no network.

    Example: driftguard backtest traces.jsonl
    Example: driftguard backtest traces.jsonl --html report.html
    """
    from driftguard_langgraph._files import check_free, write_text
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.backtest import backtest as replay

    scope = _scope(memory)
    if html is not None:
        check_free(html, "--html", force=force)
    skipped: list[str] = []
    with bars() as progress:
        result = replay(
            files,
            format=run_format,
            memory=scope,
            settings=options.load_settings(),
            is_failure=_predicate(error_pattern),
            on_invalid=skipped.append if skip_invalid else None,
            progress=progress,
        )
    _explain(skipped)
    if html is not None:
        from driftguard_langgraph.evaluation.html_page import render_page

        write_text(html, render_page(result), "--html", force=force)
    if as_json:
        console.print_json(result.to_dict())
        return
    from driftguard_langgraph.evaluation.report import render

    console.out().print(render(result))


def _explain(skipped: list[str]) -> None:
    for reason in skipped[:SHOWN_REASONS]:
        console.fail(f"skipped {reason}")
    if len(skipped) > SHOWN_REASONS:
        console.fail(f"skipped {len(skipped) - SHOWN_REASONS} more")


def _scope(name: str) -> MemoryScope:
    if name in SCOPES:
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
