"""The command `calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftguard_langgraph.cli import console, options


def calibrate(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Labelled pairs, recorded runs, or both."),
    ],
    max_false_alarms: Annotated[
        float,
        typer.Option(metavar="SHARE", help="In runs, how many successes may be warned."),
    ] = 0.02,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Of the split into fitted and held out.")
    ] = 0,
    run_format: options.Format = None,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FILE", help="Write the changed settings there."),
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit thresholds to your own data and say what would change.

    Labelled pairs (text_a, text_b, same) fit for the best balanced accuracy; recorded runs, as
    backtest reads them, for the most repeats warned within the budget of false alarms. The
    figures are those of a part that was held out. Nothing is changed; --write makes a file
    with DRIFTGUARD_* lines.

    Exit code 1 if --write was given and there is nothing to change.

    Example: driftguard calibrate pairs.jsonl
    Example: driftguard calibrate pairs.jsonl runs.jsonl --write driftguard.env
    """
    from driftguard_langgraph._files import check_free, write_text
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.calibration import calibrate as fit

    if write is not None:
        check_free(write, "--write", force=force)
    with bars() as progress:
        result = fit(
            files,
            max_false_alarms=max_false_alarms,
            seed=seed,
            format=run_format,
            settings=options.load_settings(),
            progress=progress,
        )
    if as_json:
        console.print_json(result.to_dict())
    else:
        from driftguard_langgraph.evaluation.fit_report import render_calibration

        console.out().print(render_calibration(result))
    if write is None:
        return
    if not result.changes:
        console.fail(f"nothing to change, so {write} was not written")
        raise typer.Exit(console.EXIT_NOT_HELD)
    write_text(write, result.env_lines(), "--write", force=force)
