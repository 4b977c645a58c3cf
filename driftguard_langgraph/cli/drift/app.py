"""The group of commands `drift`."""

from __future__ import annotations

import typer

from driftguard_langgraph.cli.drift.calibrate import calibrate
from driftguard_langgraph.cli.drift.detect import detect
from driftguard_langgraph.cli.drift.evaluate import evaluate
from driftguard_langgraph.cli.drift.memory import freeze, history, reset, status, unfreeze
from driftguard_langgraph.cli.drift.recovery import recovery
from driftguard_langgraph.cli.drift.session import session

drift = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@drift.callback()
def _root() -> None:
    """Watch conversations for drift and corruption.

    Example: driftguard drift session chat.jsonl
    """


for _command in (session, detect, calibrate, status, history, reset, freeze, unfreeze, recovery):
    drift.command()(_command)
drift.command("eval")(evaluate)
