"""The command `drift detect`."""

from __future__ import annotations

from typing import Annotated

import typer

from driftguard_langgraph.cli import completion, console, options
from driftguard_langgraph.cli.drift.options import (
    Output,
    check_output,
    drift_settings,
    show,
    write_report,
)


def detect(
    attack_type: Annotated[
        str,
        typer.Option(
            "--attack-type",
            metavar="NAME",
            autocompletion=completion.one_of(completion.attack_types),
            help="poisoning, persona, constraint or normal.",
        ),
    ] = "poisoning",
    output: Output = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Measure a conversation that comes with the package.

    Three of them are attacks (false facts, another persona, rules that are talked away), one is
    good.

    Exit code 1 if an attack raised no alarm, or the good conversation did.

    Example: driftguard drift detect --attack-type persona
    """
    from driftguard_langgraph.cli.drift.render import render_score
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.drift_samples import sample
    from driftguard_langgraph.evaluation.drift_scores import score_sessions

    conversation = sample(attack_type)
    check_output(output, [], force=force)
    with bars() as progress:
        [score] = score_sessions(
            [conversation], settings=drift_settings(drift_baseline_turns=1), progress=progress
        )
    report = score.to_dict()
    write_report(output, report, force=force)
    show(report, as_json=as_json, rendered=lambda: render_score(score))
    if (score.first_alarm is None) != (attack_type == "normal"):
        raise typer.Exit(console.EXIT_NOT_HELD)
