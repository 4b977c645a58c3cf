"""The figures of a backtest as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from driftguard_langgraph.evaluation.scores import BacktestResult, Tally
from driftguard_langgraph.html.text import SHOWN_CHARS, printable

KIND_ROWS = 20
"""Kinds of repeats that are shown; labels name them, so there may be any number."""

TOOL_ROWS = 30
"""Rows of the table by tool; the tools with fewest steps are summed up in a last row."""


def render(result: BacktestResult) -> RenderableType:
    """Return the result as tables: the rates, then counts by source and by tool."""
    parts: list[RenderableType] = [summary(result), rates(result)]
    if len(result.by_source) > 1:
        parts.append(_counts("By source", "source", result.by_source))
    parts.append(_counts("By tool", "tool", result.by_tool))
    parts.append(LEGEND[result.labels])
    return Group(*parts)


def render_repeats(result: BacktestResult) -> RenderableType:
    """Return the rates beside those of the baselines, and for each source."""
    parts: list[RenderableType] = [summary(result), rates(result)]
    if len(result.by_source) > 1:
        parts.append(_rates_by_source(result.by_source))
    parts.append(LEGEND[result.labels])
    return Group(*parts)


LEGEND = {
    "given": "Repeats and ambiguous successes are labelled in the file.",
    "derived": "The file has no labels: a repeat is a failure of the same tool on the same "
    "action, or with the same error text, as an earlier one of its stream.",
    "mixed": "Some steps are labelled; the repeats among the others are derived from the "
    "errors seen.",
}
"""What the knowledge about repeats rests on."""


def summary(result: BacktestResult) -> str:
    """Return what was replayed, how much of it, and what a step costs, as markup."""
    total = result.total
    files = printable(", ".join(result.files), SHOWN_CHARS)
    skipped = f", {result.skipped} entries skipped" if result.skipped else ""
    return escape(
        f"{files}: {total.steps} steps in {result.streams} streams, {total.failures} failures, "
        f"{total.repeats} of them repeats{skipped}.\n"
        f"Replayed in {result.seconds:.1f} s with {result.model_id}; a step costs "
        f"{result.ms_per_step:.1f} ms in the median, {result.ms_per_step_p95:.1f} ms at p95.\n"
    )


def rates(result: BacktestResult) -> Table:
    """Return the rates of the guard and of every baseline as a table."""
    table = Table(title="What would have been warned", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("figure")
    table.add_column("driftguard", justify="right")
    table.add_column("counts", justify="right")
    for name in result.baselines:
        table.add_column(name, justify="right", style="dim")
    for label, rate, counts in figures(result.total):
        others = (rate(tally) for tally in result.baselines.values())
        table.add_row(_plain(label), percent(rate(result.total)), counts, *map(percent, others))
    return table


Rate = Callable[[Tally], float | None]


def figures(total: Tally) -> list[tuple[str, Rate, str]]:
    """Return the name of every rate, how to take it, and the counts behind it in `total`."""
    rows: list[tuple[str, Rate, str]] = [
        (
            "recall over repeats",
            lambda tally: tally.recall,
            f"{total.warned_repeats} / {total.repeats}",
        )
    ]
    for kind, (seen, caught) in sorted(total.kinds.items())[:KIND_ROWS]:
        rows.append((f"  {kind}", _recall_of(kind), f"{caught} / {seen}"))
    rows.append(
        (
            "false alarms over successes",
            lambda tally: tally.false_alarm_rate,
            f"{total.false_alarms} / {total.successes}",
        )
    )
    rows.append(
        (
            "precision of warnings",
            lambda tally: tally.warning_precision,
            f"{total.hits} / {total.warned}",
        )
    )
    return rows


def _recall_of(kind: str) -> Rate:
    return lambda tally: tally.recall_by_kind.get(kind)


def _rates_by_source(tallies: dict[str, Tally]) -> Table:
    table = Table(title="By source", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("source", overflow="fold")
    for name in ("repeats", "recall", "successes", "false alarms", "precision"):
        table.add_column(name, justify="right")
    for name, tally in sorted(tallies.items()):
        table.add_row(
            _plain(name),
            str(tally.repeats),
            percent(tally.recall),
            str(tally.successes),
            percent(tally.false_alarm_rate),
            percent(tally.warning_precision),
        )
    return table


COUNTS = ("steps", "failures", "repeats", "warned", "hits", "misses", "false_alarms")
"""The columns of the tables by source and by tool."""


def _counts(title: str, label: str, tallies: dict[str, Tally]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(label, overflow="fold")
    for name in COUNTS:
        table.add_column(name.replace("_", " "), justify="right")
    for name, counts in ranked(tallies):
        table.add_row(_plain(name), *map(str, counts))
    return table


def ranked(tallies: dict[str, Tally]) -> list[tuple[str, list[int]]]:
    """Return the counts of the largest tallies, with a sum of the rest as the last row."""
    order = sorted(tallies.items(), key=lambda item: (-item[1].steps, item[0]))
    rows = [
        (name, [getattr(tally, column) for column in COUNTS]) for name, tally in order[:TOOL_ROWS]
    ]
    rest = [tally for _, tally in order[TOOL_ROWS:]]
    if rest:
        sums = [sum(getattr(tally, column) for tally in rest) for column in COUNTS]
        rows.append((f"({len(rest)} more)", sums))
    return rows


def _plain(text: str) -> str:
    return escape(printable(text, SHOWN_CHARS))


def percent(rate: float | None) -> str:
    """Return a rate in percent, a dash for one that is not defined."""
    return "-" if rate is None else f"{100 * rate:.1f}%"
