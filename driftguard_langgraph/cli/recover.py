"""The command `recover`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftguard_langgraph._version import __version__
from driftguard_langgraph.cli import completion, console, options
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

FORMATS = ("text", "message")
ROLES = ("system", "user")
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
    typer.Option("--output", "-o", metavar="FILE", help="Write the scaffold there, not to stdout."),
]
_Variant = Annotated[
    str,
    typer.Option(
        "--variant",
        metavar="NAME",
        autocompletion=completion.one_of(completion.variants),
        help="minimal, standard, full, null or placebo.",
    ),
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
        "--turn",
        metavar="N",
        help="Look at drift up to this turn only, counted as in `drift session`.",
    ),
]
_Budget = Annotated[
    int | None,
    typer.Option(
        "--token-budget", metavar="N", help="Most tokens; rules are never cut to keep it."
    ),
]
_Role = Annotated[
    str,
    typer.Option(
        "--role",
        metavar="NAME",
        autocompletion=completion.one_of(lambda: ROLES),
        help="Whose message: system or user.",
    ),
]
_Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        autocompletion=completion.one_of(lambda: FORMATS),
        help="text, or message (as JSON for a model).",
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
    as_json: options.AsJson = False,
) -> None:
    """Print what brings a recorded conversation back on course.

    That is a scaffold: the rules, limits and terms that the conversation began with, and what
    drifted, quoted. What it began with is --baseline, or the system messages at its start, and
    the user's first message. Whatever makes the scaffold less than certain (no system prompt,
    no rule found, broken lines) is said on stderr, or under `findings` with --json, which adds
    the evidence behind it.

    Exit code 1 if there is no scaffold: nothing to restore, or the rules do not fit the budget.

    Example: driftguard recover chat.jsonl
    Example: driftguard recover chat.jsonl --variant full --json
    """
    from driftguard_langgraph._files import write_text
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.recover import recover_session
    from driftguard_langgraph.evaluation.sessions import read_sessions
    from driftguard_langgraph.recovery.placement import checked_role
    from driftguard_langgraph.recovery.schedule import checked_variant

    chosen, speaker = checked_variant(variant), checked_role(role)
    _check(output_format, token_budget)
    told, settings = baseline_text(baseline), drift_settings()
    check_output(output, [file, *([baseline] if baseline is not None else [])], force=force)
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
    shown = _shown(recovery, output_format, speaker)
    if shown is not None and output is not None:
        write_text(output, shown, "--output", force=force)
    if as_json:
        console.print_json(_envelope(recovery, found.stats, file, speaker))
    else:
        _tell(recovery, found.sessions, session)
        if shown is not None and output is None:
            typer.echo(shown, nl=False)
    if recovery.scaffold is None:
        raise typer.Exit(console.EXIT_NOT_HELD)


def _check(output_format: str, token_budget: int | None) -> None:
    if output_format not in FORMATS:
        raise ConfigurationError(
            f"--format {output_format!r} is unknown: use {' or '.join(FORMATS)}."
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


def _shown(recovery: SessionRecovery, output_format: str, role: str) -> str | None:
    """Return the scaffold as it is printed or written, None if there is none."""
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
