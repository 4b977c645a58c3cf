"""The command `recover`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftguard_langgraph._version import __version__
from driftguard_langgraph.cli import console, options
from driftguard_langgraph.cli.drift.options import (
    BaselineFile,
    baseline_text,
    check_output,
    drift_settings,
)
from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from driftguard_langgraph.evaluation.recover import SessionRecovery
    from driftguard_langgraph.evaluation.sessions import ParseStats, Session

FORMATS = ("text", "message", "json")
NAMED = 10
"""Conversations that an error message names."""

_File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A conversation: Claude Code, Codex, message logs, or text with speakers.",
    ),
]
_Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write it there instead of printing it."),
]


_Variant = Annotated[
    str, typer.Option("--variant", metavar="NAME", help="minimal, standard, full, null or placebo.")
]
_Session = Annotated[
    str | None,
    typer.Option(
        "--session", metavar="NAME", help="Which conversation of the file; the last if left out."
    ),
]
_Turn = Annotated[
    int | None,
    typer.Option(
        "--turn", help="Look at drift up to this turn only, counted as in `drift session`."
    ),
]
_Budget = Annotated[
    int | None, typer.Option("--token-budget", help="Most tokens; rules are never cut to keep it.")
]
_Role = Annotated[
    str, typer.Option("--role", metavar="NAME", help="Whose message: system or user.")
]
_Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        help="text, message (JSON for a model), or json (with the evidence behind it).",
    ),
]


def recover(
    file: _File,
    variant: _Variant = "standard",
    session: _Session = None,
    turn: _Turn = None,
    baseline: BaselineFile = None,
    token_budget: _Budget = None,
    role: _Role = "system",
    output_format: _Format = "text",
    output: _Output = None,
    force: options.Force = False,
) -> None:
    """Print the scaffold that brings a recorded conversation back to what it was told.

    What it was told is --baseline, or the system messages at its start, and the user's first
    message. Whatever makes the scaffold less than certain (no system prompt, no rule found,
    broken lines) is said on stderr, or under `findings` with --format json.

    Exit code 1 if there is no scaffold: nothing to restore, or the rules do not fit the budget.

    Example: driftguard recover chat.jsonl --variant full --format json
    """
    from driftguard_langgraph.cli.outfile import write_text
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.recover import recover_session
    from driftguard_langgraph.evaluation.sessions import read_sessions
    from driftguard_langgraph.recovery.placement import checked_role
    from driftguard_langgraph.recovery.schedule import checked_variant

    chosen, speaker = checked_variant(variant), checked_role(role)
    _check(output_format, token_budget)
    told = baseline_text(baseline)
    check_output(output, [file, *([baseline] if baseline is not None else [])], force=force)
    settings = drift_settings()
    found = read_sessions(file)
    with bars() as progress:
        recovery = recover_session(
            _chosen(found.sessions, session, file),
            found.stats,
            baseline=told,
            variant=chosen,
            turn=turn,
            token_budget=token_budget,
            settings=settings,
            progress=progress,
        )
    if output_format != "json":
        _tell(recovery, found.sessions, session)
    shown = _shown(recovery, found.stats, file, output_format, speaker)
    if shown is not None and output is not None:
        write_text(output, shown, "--output", force=force)
    elif shown is not None:
        typer.echo(shown, nl=False)
    if recovery.scaffold is None:
        raise typer.Exit(console.EXIT_NOT_HELD)


def _check(output_format: str, token_budget: int | None) -> None:
    if output_format not in FORMATS:
        raise ConfigurationError(
            f"--format {output_format!r} is unknown: use {', '.join(FORMATS)}."
        )
    if token_budget is not None and token_budget < 1:
        raise ConfigurationError(f"--token-budget {token_budget}: must be 1 or more.")


def _chosen(sessions: tuple[Session, ...], name: str | None, file: Path) -> Session:
    if name is None:
        return sessions[-1]
    for each in sessions:
        if name in {each.name, each.name.removeprefix(f"{file.name}: ")}:
            return each
    known = [each.name.removeprefix(f"{file.name}: ") for each in sessions]
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    raise ConfigurationError(
        f"--session {name!r} is not in {file}: it has {', '.join(known[:NAMED])}{more}."
    )


def _tell(recovery: SessionRecovery, sessions: tuple[Session, ...], asked: str | None) -> None:
    if asked is None and len(sessions) > 1:
        console.fail(
            f"{len(sessions)} conversations: this is the last, {recovery.session} "
            "(--session chooses another)"
        )
    for finding in recovery.findings:
        console.fail(f"{finding.status}: {finding.detail}")


def _shown(
    recovery: SessionRecovery, stats: ParseStats, file: Path, output_format: str, role: str
) -> str | None:
    """Return what is printed or written, None if there is nothing."""
    if output_format == "json":
        return json.dumps(_envelope(recovery, stats, file, role), indent=2) + "\n"
    if recovery.scaffold is None:
        return None
    if output_format == "message":
        return json.dumps(recovery.scaffold.to_message(role), indent=2) + "\n"
    return f"{recovery.scaffold.text}\n" if recovery.scaffold.text else ""


def _envelope(
    recovery: SessionRecovery, stats: ParseStats, file: Path, role: str
) -> dict[str, Any]:
    scaffold = recovery.scaffold
    return {
        "tool": "driftguard recover",
        "version": __version__,
        "input": {"sha256": hashlib.sha256(file.read_bytes()).hexdigest(), **stats.to_dict()},
        **recovery.to_dict(),
        "message": scaffold.to_message(role) if scaffold is not None else None,
    }
