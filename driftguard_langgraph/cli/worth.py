"""The command that says whether the warnings paid: `worth`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.cli.progress import working

if TYPE_CHECKING:
    from rich.table import Table

    from driftguard_langgraph.judgement.proportions import Interval
    from driftguard_langgraph.judgement.worth import Tally, Worth

_ROWS = (
    ("warned", "warned"),
    ("heeded", "  heeded: another step ran instead"),
    ("overridden", "  overridden: it ran all the same"),
    ("withheld", "held out: the warning stayed silent"),
    ("muted", "muted by evidence"),
)


def worth(
    namespace: options.Namespace = None, db: options.Db = None, as_json: options.AsJson = False
) -> None:
    """Say whether the warnings paid.

    Counts the failures after warnings, and where warnings were kept silent to have something to
    compare with: DRIFTGUARD_HOLDOUT=0.1 keeps one warned step in ten silent, drawn by
    DRIFTGUARD_HOLDOUT_SEED. The lift is the failure rate of these less that of the warned ones.

    Example: driftguard worth
    Example: driftguard worth --json
    """
    with (
        working("opening the memory"),
        options.open_guard(db, namespace, must_exist=True) as guard,
    ):
        report, where, name = guard.worth(), guard.store.location(), guard.namespace
    if as_json:
        console.print_json(report.to_dict())
        return
    typer.echo(f"{where}, namespace {'/'.join(name)}")
    console.out().print(_table(report))
    for line in (_lift_line(report), *report.notes):
        typer.echo(line)


def _table(report: Worth) -> Table:
    from rich.table import Table

    from driftguard_langgraph.cli.render import whole

    table = Table("warnings", "settled", "failed", "failure rate", "95% interval")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, title in _ROWS:
        tally: Tally = getattr(report, name)
        rate = "-" if tally.rate is None else f"{tally.rate:.1%}"
        table.add_row(title, str(tally.settled), str(tally.failed), rate, _ends(tally.interval))
    return whole(table)


def _lift_line(report: Worth) -> str:
    if report.lift is None or report.interval is None:
        return "lift: unknown"
    low, high = (100 * end for end in report.interval)
    compared = ""
    if report.compared != report.warned:
        compared = f"; {report.compared.settled} of the warned were drawn against a holdout"
    return (
        f"lift: {100 * report.lift:+.1f} points fewer failures where warned "
        f"(95% interval {low:+.1f} to {high:+.1f}){compared}"
    )


def _ends(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low:.1%} to {interval.high:.1%}"
