"""The figures of a backtest as tables for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from driftguard_langgraph.evaluation.scores import BacktestResult, Tally

TOOL_ROWS = 30
"""Rows of the table by tool; the tools with fewest steps are summed up in a last row."""


def render(result: BacktestResult) -> RenderableType:
    """Return the result as tables: the rates, then counts by source and by tool."""
    parts: list[RenderableType] = [_summary(result), _rates(result)]
    if len(result.by_source) > 1:
        parts.append(_counts("By source", "source", result.by_source))
    parts.append(_counts("By tool", "tool", result.by_tool))
    parts.append(_LEGEND[result.labels])
    return Group(*parts)


_LEGEND = {
    "given": "Repeats and ambiguous successes are labelled in the file.",
    "derived": "The file has no labels: a repeat is a failure of the same tool on the same "
    "action, or with the same error text, as an earlier one of its stream.",
    "mixed": "Some steps are labelled; the repeats among the others are derived from the "
    "errors seen.",
}


def _summary(result: BacktestResult) -> str:
    total = result.total
    files = ", ".join(result.files)
    skipped = f", {result.skipped} entries skipped" if result.skipped else ""
    return escape(
        f"{files}: {total.steps} steps in {result.streams} streams, {total.failures} failures, "
        f"{total.repeats} of them repeats{skipped}.\n"
        f"Replayed in {result.seconds:.1f} s with {result.model_id}, "
        f"median {result.ms_per_step:.1f} ms a step.\n"
    )


def _rates(result: BacktestResult) -> Table:
    table = Table(title="What would have been warned", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("counts", justify="right")
    total = result.total
    table.add_row(
        "recall over repeats", _percent(total.recall), f"{total.warned_repeats} / {total.repeats}"
    )
    for kind, rate in total.recall_by_kind.items():
        seen, caught = total.kinds[kind]
        table.add_row(f"  {escape(kind)}", _percent(rate), f"{caught} / {seen}")
    table.add_row(
        "false alarms over successes",
        _percent(total.false_alarm_rate),
        f"{total.false_alarms} / {total.successes}",
    )
    table.add_row(
        "precision of warnings", _percent(total.warning_precision), f"{total.hits} / {total.warned}"
    )
    return table


_COUNTS = ("steps", "failures", "repeats", "warned", "hits", "misses", "false_alarms")


def _counts(title: str, label: str, tallies: dict[str, Tally]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(label, overflow="fold")
    for name in _COUNTS:
        table.add_column(name.replace("_", " "), justify="right")
    ranked = sorted(tallies.items(), key=lambda item: (-item[1].steps, item[0]))
    for name, tally in ranked[:TOOL_ROWS]:
        table.add_row(escape(name), *(str(getattr(tally, column)) for column in _COUNTS))
    rest = [tally for _, tally in ranked[TOOL_ROWS:]]
    if rest:
        sums = (str(sum(getattr(tally, column) for tally in rest)) for column in _COUNTS)
        table.add_row(f"({len(rest)} more)", *sums)
    return table


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{100 * rate:.1f}%"
