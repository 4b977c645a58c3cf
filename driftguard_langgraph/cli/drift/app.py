"""The group of commands `drift`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from driftguard_langgraph.cli.command import Verb, Verbs
from driftguard_langgraph.cli.drift.calibrate import calibrate
from driftguard_langgraph.cli.drift.detect import detect
from driftguard_langgraph.cli.drift.evaluate import evaluate
from driftguard_langgraph.cli.drift.memory import freeze, history, reset, status, unfreeze
from driftguard_langgraph.cli.drift.recovery import recovery
from driftguard_langgraph.cli.drift.session import session

drift = typer.Typer(cls=Verbs, rich_markup_mode=None)


@drift.callback()
def _root() -> None:
    """Watch conversations for drift and corruption.

    Example: driftguard drift session chat.jsonl
    """


_PANELS: dict[str, dict[str, Callable[..., Any]]] = {
    "Recorded conversations": {"session": session, "calibrate": calibrate},
    "Sessions that a tracker keeps": {
        "status": status,
        "history": history,
        "freeze": freeze,
        "unfreeze": unfreeze,
        "reset": reset,
    },
    "Does it work?": {"detect": detect, "eval": evaluate, "recovery": recovery},
}

for _panel, _verbs in _PANELS.items():
    for _name, _verb in _verbs.items():
        drift.command(_name, cls=Verb, rich_help_panel=_panel)(_verb)
