"""The command `driftguard`: what it is made of, and how it ends.

Exit codes: 0 done; 1 what was checked does not hold (`demo`, `doctor`, `drift detect`,
`drift eval`, `drift session --fail-on`), nothing is worth writing (`calibrate --write`,
`drift calibrate --write`), or no scaffold can be made (`recover`); 2 bad input, or a memory that
cannot be used; 3 the policy refuses the reviewed step (`review`).

What is imported here is what `driftguard --help` costs, so commands import the guard and its
dependencies when they run.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from driftguard_langgraph._version import __version__
from driftguard_langgraph.cli import console
from driftguard_langgraph.cli.backtest import backtest
from driftguard_langgraph.cli.calibrate import calibrate
from driftguard_langgraph.cli.demo.command import demo
from driftguard_langgraph.cli.doctor import doctor
from driftguard_langgraph.cli.drift.app import drift
from driftguard_langgraph.cli.evaluate import evaluation
from driftguard_langgraph.cli.mcp import mcp
from driftguard_langgraph.cli.memory import prune, record, review, stats
from driftguard_langgraph.cli.recover import recover
from driftguard_langgraph.cli.runs import record_run
from driftguard_langgraph.cli.transfer import export, forget, import_memory, reembed
from driftguard_langgraph.cli.worth import worth
from driftguard_langgraph.errors import DriftGuardError

EXIT_BUG = 70
"""Exit code of an error that the package did not raise on purpose (`EX_SOFTWARE`, sysexits.h)."""


class _Group(TyperGroup):
    """Answers the package's own errors with one line and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except DriftGuardError as error:
            if ctx.params.get("debug"):
                raise
            console.fail(str(error))
            raise typer.Exit(console.EXIT_BAD_INPUT) from None


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
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
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """A memory of failures that warns an agent before it repeats one in other words.

    Settings come from DRIFTGUARD_* environment variables; `driftguard doctor` lists them.
    """


for _command in (
    *(demo, review, record, record_run, stats, worth, prune, forget, export, reembed),
    *(doctor, backtest, calibrate, recover, mcp),
):
    app.command()(_command)
app.command("import")(import_memory)
app.add_typer(evaluation, name="eval")
app.add_typer(drift, name="drift")


def main() -> None:
    """Run the command line and exit the process.

    Raises:
        SystemExit: Always, with the exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not turn an answer into an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="driftguard")
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        console.fail(f"unexpected {type(error).__name__}: {error} (--debug shows where)")
        sys.exit(EXIT_BUG)
