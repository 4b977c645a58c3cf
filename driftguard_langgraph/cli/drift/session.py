"""The command `drift session`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftguard_langgraph.cli import completion, console, options
from driftguard_langgraph.cli.drift.options import (
    MODES,
    BaselineFile,
    Files,
    Output,
    baseline_text,
    check_output,
    drift_settings,
    show,
    write_report,
)
from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from driftguard_langgraph.drift.report import ThreatLevel
    from driftguard_langgraph.evaluation.drift_scores import SessionScore
    from driftguard_langgraph.evaluation.sessions import ParseStats
    from driftguard_langgraph.settings import DriftGuardSettings

Mode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="NAME",
        autocompletion=completion.one_of(lambda: MODES),
        help="cumulative, or sliding-window: what is compared.",
    ),
]
WindowSize = Annotated[
    int | None,
    typer.Option("--window-size", metavar="N", help="Turns of the sliding window."),
]
BaselineTurns = Annotated[
    int | None,
    typer.Option("--baseline-turns", metavar="N", help="First messages that are the baseline."),
]
MaxTurns = Annotated[
    int | None,
    typer.Option("--max-turns", metavar="N", help="Look at the first messages only."),
]
FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        metavar="LEVEL",
        autocompletion=completion.one_of(completion.levels),
        help="Exit code 1 if a conversation reached LOW, MEDIUM, HIGH or CRITICAL.",
    ),
]


def session(
    files: Files,
    baseline: BaselineFile = None,
    baseline_turns: BaselineTurns = None,
    mode: Mode = None,
    window_size: WindowSize = None,
    max_turns: MaxTurns = None,
    fail_on: FailOn = None,
    output: Output = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure recorded conversations turn by turn.

    Says what moved, when, and in which words. Reads sessions of Claude Code and Codex, logs of
    OpenAI's and LangChain's messages, turns with a role and a text, and plain text with lines
    like "User: ..."; the content tells which. System and tool messages count; side chains,
    meta records and what a program injected do not, and how much was left out is said on
    stderr. Without --baseline the first message of each conversation is what it is measured
    against.

    Exit code 1 if a conversation reached the level of --fail-on, now or earlier.

    Example: driftguard drift session chat.jsonl
    Example: driftguard drift session runs/*.jsonl --fail-on HIGH --output drift.json
    """
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.drift_scores import score_sessions
    from driftguard_langgraph.evaluation.sessions import read_all

    gate = _level(fail_on)
    told = baseline_text(baseline)
    if max_turns is not None and max_turns < 1:
        raise ConfigurationError(f"--max-turns {max_turns}: must be 1 or more.")
    settings = drift_settings(
        drift_mode=mode, drift_window_size=window_size, drift_baseline_turns=baseline_turns
    )
    inputs = [*files, *([baseline] if baseline is not None else [])]
    check_output(output, inputs, force=force)
    with bars() as progress:
        sessions, stats = read_all(files, progress=progress)
        scores = score_sessions(
            sessions, baseline=told, max_turns=max_turns, settings=settings, progress=progress
        )
    report = session_report(scores, stats, settings)
    write_report(output, report, force=force)
    if not as_json:
        _tell(stats)
    show(report, as_json=as_json, rendered=lambda: _rendered(scores))
    _gate(scores, gate)


def _level(name: str | None) -> ThreatLevel | None:
    from driftguard_langgraph.drift.report import ThreatLevel

    if name is None:
        return None
    usable = [level for level in ThreatLevel if level.rank]
    for level in usable:
        if level.value == name.upper():
            return level
    raise ConfigurationError(f"--fail-on {name!r} is unknown: use {', '.join(usable)}.")


def session_report(
    scores: list[SessionScore], stats: list[ParseStats], settings: DriftGuardSettings
) -> dict[str, Any]:
    """Return what was measured as plain JSON.

    Args:
        scores: The conversations.
        stats: What was read of each file.
        settings: With which they were measured.
    """
    return {
        "mode": settings.drift_mode,
        "window_size": settings.drift_window_size,
        "alarm_threshold": settings.drift_alarm_threshold,
        "sessions": [score.to_dict() for score in scores],
        "stats": [each.to_dict() for each in stats],
    }


def _tell(stats: list[ParseStats]) -> None:
    for each in stats:
        if each.skipped:
            console.fail(each.line())


def _rendered(scores: list[SessionScore]) -> RenderableType:
    """Return one conversation in full; of several a table, and in full those that alarmed."""
    from rich.console import Group

    from driftguard_langgraph.cli.drift.render import render_score, render_table

    if len(scores) == 1:
        return render_score(scores[0])
    alarmed = [score for score in scores if score.first_alarm is not None]
    return Group(render_table(scores), *(render_score(score) for score in alarmed))


def _gate(scores: list[SessionScore], gate: ThreatLevel | None) -> None:
    if gate is None:
        return
    if not any(score.readings for score in scores):
        raise ConfigurationError(
            "--fail-on has nothing to judge: no message behind the baseline was measured. Give "
            "longer conversations, or a smaller --baseline-turns."
        )
    over = [score for score in scores if score.peak_level.rank >= gate.rank]
    if over:
        worst = max(over, key=lambda score: score.peak_level.rank)
        console.fail(
            f"{len(over)} of {len(scores)} reached {gate.value} or more: {worst.name} "
            f"{worst.peak_level.value}"
        )
        raise typer.Exit(console.EXIT_NOT_HELD)
