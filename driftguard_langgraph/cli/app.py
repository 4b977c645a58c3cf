"""The command `driftguard`: what it is made of.

How a command ends is the table `console.EXIT_CODES`; with 0, 1 and 3 `--json` has printed one
JSON document on stdout, with every other code it has printed nothing there and one line on stderr.

What is imported here is what `driftguard --help` costs, so commands import the guard and its
dependencies when they run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from driftguard_langgraph._version import __version__
from driftguard_langgraph.cli import completion
from driftguard_langgraph.cli.backtest import backtest
from driftguard_langgraph.cli.calibrate import calibrate
from driftguard_langgraph.cli.command import DEBUG, Program, Verb
from driftguard_langgraph.cli.demo.command import demo
from driftguard_langgraph.cli.doctor import doctor
from driftguard_langgraph.cli.drift.app import drift
from driftguard_langgraph.cli.evaluate import evaluation
from driftguard_langgraph.cli.mcp import mcp
from driftguard_langgraph.cli.memory import prune, record, review, stats
from driftguard_langgraph.cli.recover import recover
from driftguard_langgraph.cli.report import report
from driftguard_langgraph.cli.runs import record_run
from driftguard_langgraph.cli.transfer import export, forget, import_memory, reembed
from driftguard_langgraph.cli.worth import worth

app = typer.Typer(
    name="driftguard",
    cls=Program,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"driftguard-langgraph {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Show tracebacks of errors; may stand anywhere.")
    ] = False,
    install: Annotated[
        str | None,
        typer.Option(
            completion.INSTALL,
            metavar="[SHELL]",
            callback=completion.install,
            expose_value=False,
            autocompletion=completion.one_of(lambda: completion.SHELLS),
            help="Let the shell complete commands, options and values: bash, zsh, fish, "
            "powershell or pwsh; yours if left out.",
        ),
    ] = None,
    show: Annotated[
        str | None,
        typer.Option(
            completion.SHOW,
            metavar="[SHELL]",
            callback=completion.show,
            expose_value=False,
            autocompletion=completion.one_of(lambda: completion.SHELLS),
            help="Print the script that does it, instead.",
        ),
    ] = None,
) -> None:
    """Remember what failed, and warn an agent before it repeats it in other words.

    Settings come from DRIFTGUARD_* environment variables; `driftguard doctor` lists them.
    Answers go to stdout, everything else to stderr. With --json stdout holds one JSON document
    when a command ends with 0, 1 or 3, and nothing otherwise.

    Example: driftguard demo
    Example: driftguard record "delete the temp directory" "cache was wiped" "slow build"
    Example: driftguard review "wipe the tmp folder"
    """


_PANELS: dict[str, dict[str, Callable[..., Any]]] = {
    "Memory": {
        "review": review,
        "record": record,
        "record-run": record_run,
        "stats": stats,
        "worth": worth,
        "report": report,
        "prune": prune,
        "forget": forget,
        "export": export,
        "import": import_memory,
        "reembed": reembed,
    },
    "Drift": {"recover": recover},
    "Evaluation": {"demo": demo, "backtest": backtest, "calibrate": calibrate},
    "Services": {"doctor": doctor, "mcp": mcp},
}

for _panel, _verbs in _PANELS.items():
    for _name, _verb in _verbs.items():
        app.command(_name, cls=Verb, rich_help_panel=_panel)(_verb)
app.add_typer(drift, name="drift", rich_help_panel="Drift")
app.add_typer(evaluation, name="eval", rich_help_panel="Evaluation")


def main() -> None:
    """Run the command line and exit the process.

    Raises:
        SystemExit: Always, with the exit code.
    """
    for name in ("stdout", "stderr"):
        # Where a stream was closed (`>&-`), its number would go to the next file that is opened.
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not turn an answer into an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="driftguard")
