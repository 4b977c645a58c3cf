"""The command `drift calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.cli.drift.options import (
    BaselineFile,
    Files,
    baseline_text,
    check_output,
    drift_settings,
    show,
)

if TYPE_CHECKING:
    from driftguard_langgraph.evaluation.drift_calibration import DriftCalibration

SHOWN_ALARMING = 10
"""Conversations that alarm now and are named; `--json` has them all."""


def calibrate(
    files: Files,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Good conversations that may alarm; DRIFTGUARD_DRIFT_FALSE_ALARM_BUDGET if "
            "left out.",
        ),
    ] = None,
    baseline: BaselineFile = None,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FILE", help="Write the changed settings there."),
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit the alarm to your own good conversations and say what would change.

    Give conversations in which nothing was wrong. The threshold is the lowest at which a new
    one of their kind alarms with a probability of at most the budget; a budget of 2% needs 49
    conversations. Nothing is changed; --write makes a file with DRIFTGUARD_* lines.

    Exit code 1 if --write was given and there is nothing to change.

    Example: driftguard drift calibrate good/*.jsonl --budget 0.05 --write drift.env
    """
    from driftguard_langgraph._files import write_text
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.drift_calibration import calibrate_drift

    told = baseline_text(baseline)
    inputs = [*files, *([baseline] if baseline is not None else [])]
    check_output(write, inputs, force=force, option="--write")
    with bars() as progress:
        result = calibrate_drift(
            files, budget=budget, baseline=told, settings=drift_settings(), progress=progress
        )
    show(result.to_dict(), as_json=as_json, rendered=lambda: _rendered(result))
    if write is None:
        return
    if not result.changes:
        console.fail(f"nothing to change, so {write} was not written")
        raise typer.Exit(console.EXIT_NOT_HELD)
    write_text(write, result.env_lines(), "--write", force=force)


def _rendered(result: DriftCalibration) -> str:
    from rich.markup import escape

    from driftguard_langgraph.cli.render import plain
    from driftguard_langgraph.evaluation.drift_calibration import (
        CONFIDENCE,
        THRESHOLD,
        upper_bound,
    )

    count, old = len(result.maxima), result.old[THRESHOLD]
    now = result.false_alarms(old)
    fitted = "none" if result.fitted is None else f"{result.fitted:.4f}"
    bound = f"with {CONFIDENCE:.0%} confidence at most {upper_bound(now, count):.1%}"
    alarm = f"{console.counted(count, 'conversation')} {'alarms' if now == 1 else 'alarm'}"
    lines = [
        f"[bold]{THRESHOLD}[/bold] {old:.4f} (fitted {fitted}): {result.verdict}",
        f"now {now} of {alarm}; {bound} of such conversations do",
    ]
    if result.fitted is not None:
        lines.append(
            f"fitted, {result.false_alarms(result.fitted)} of {count} would; a new one does with "
            f"a probability of at most {result.budget:.1%}"
        )
    lines += [
        f"  alarms now: {plain(name)} (corruption {corruption:.2f})"
        for name, corruption in result.alarming[:SHOWN_ALARMING]
    ]
    if result.changes:
        lines += ["", escape(result.env_lines().rstrip())]
    return "\n".join(lines)
