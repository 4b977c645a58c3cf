"""The command that tells the memory how a whole run ended: `record-run`."""

from __future__ import annotations

from typing import Annotated

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.cli.progress import working
from driftguard_langgraph.errors import ConfigurationError


def record_run(
    outcome: Annotated[str, typer.Argument(metavar="OUTCOME", help="What the run led to.")],
    succeeded: Annotated[
        bool, typer.Option("--succeeded/--failed", help="How it ended.", show_default=False)
    ],
    thread: Annotated[str | None, typer.Option(metavar="ID", help="The thread that ended.")] = None,
    run: Annotated[str | None, typer.Option(metavar="ID", help="Or the run.")] = None,
    severity: options.Severity = "medium",
    namespace: options.Namespace = None,
    db: options.Db = None,
    as_json: options.AsJson = False,
) -> None:
    """Tell the memory how a whole run ended, when that is known.

    The verdict is spread over the actions that were recorded in the run. The newest one
    about a run counts.

    Example: driftguard record-run --thread user-7 --failed "refund went to the wrong card"
    """
    if (thread is None) == (run is None):
        raise ConfigurationError("say which run it was: either --thread ID or --run ID.")
    with working("recording"), options.open_guard(db, namespace, must_answer=True) as guard:
        receipt = guard.record_run_outcome(
            thread_id=thread, run_id=run, success=succeeded, outcome=outcome, severity=severity
        )
    if as_json:
        console.print_json(receipt)
        return
    ended = "succeeded" if succeeded else "failed"
    actions = console.counted(receipt["actions"], "action")
    typer.echo(f"{receipt['status']}: run {ended}, {actions} of it remembered")
