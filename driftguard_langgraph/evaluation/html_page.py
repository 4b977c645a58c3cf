"""The report of a backtest as one HTML page.

It has no script, loads nothing, and its content security policy forbids both. Every text from
the replayed files is somebody else's and is escaped where it is put in; their control
characters are shown instead of passed on.
"""

from __future__ import annotations

from html import escape
from importlib import resources

from driftguard_langgraph.evaluation.findings import Finding, Shortlist
from driftguard_langgraph.evaluation.report import COUNTS, LEGEND, figures, percent, ranked
from driftguard_langgraph.evaluation.scores import BacktestResult, Tally
from driftguard_langgraph.html.page import Section, page, table
from driftguard_langgraph.html.text import SHOWN_CHARS, escaped

_TITLE = "What a guard would have said"


def render_page(result: BacktestResult) -> str:
    """Return the page.

    Args:
        result: What the backtest found.
    """
    style = resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    sections = (
        Section("figures", "Figures", _figures(result)),
        Section("tools", "By tool", _tools(result)),
        Section("warned", "Warned steps", _warned(result)),
        Section("missed", "Missed repeats", _missed(result)),
    )
    return page(_TITLE, _summary(result), sections, style=style)


def text(value: str) -> str:
    """Return a text as it may stand in the page, between tags or in an attribute."""
    return escaped(value, SHOWN_CHARS)


def _summary(result: BacktestResult) -> str:
    total = result.total
    skipped = f" {result.skipped} entries could not be read." if result.skipped else ""
    return (
        f"<p>{total.steps} steps in {result.streams} streams, {total.failures} failures, "
        f"{total.repeats} of them repeats of an earlier one.{skipped} A step costs "
        f"{result.ms_per_step:.1f} ms in the median and {result.ms_per_step_p95:.1f} ms at the "
        f"95th percentile, with {text(result.model_id)}.</p>\n"
        f'<p class="soft">{text(", ".join(result.files))}</p>'
    )


def _figures(result: BacktestResult) -> str:
    header = ["figure", "driftguard", "counts", *result.baselines]
    rows = [
        [
            label.strip(),
            percent(rate(result.total)),
            counts,
            *(percent(rate(tally)) for tally in result.baselines.values()),
        ]
        for label, rate, counts in figures(result.total)
    ]
    parts = [table("The guard, and what simpler memories would have said", header, rows)]
    if len(result.by_source) > 1:
        parts.append(_counts("Counts by source", "source", result.by_source))
    parts.append(f'<p class="soft">{escape(LEGEND[result.labels])}</p>')
    return "\n".join(parts)


def _tools(result: BacktestResult) -> str:
    return _counts("Counts by tool", "tool", result.by_tool)


def _counts(caption: str, label: str, tallies: dict[str, Tally]) -> str:
    header = [label, *(name.replace("_", " ") for name in COUNTS)]
    rows = [[name, *map(str, counts)] for name, counts in ranked(tallies)]
    return table(caption, header, rows)


def _warned(result: BacktestResult) -> str:
    what = "What the guard would have warned of, with what it knew then and what happened."
    return _list(result.warned, what, "Nothing would have been warned.")


def _missed(result: BacktestResult) -> str:
    what = "Failures that repeat an earlier one and would not have been warned."
    return _list(result.missed, what, "No repeat would have been missed.")


def _list(found: Shortlist, what: str, nothing: str) -> str:
    if not found.count:
        return f"<p>{nothing}</p>"
    left = f" The first {len(found.kept)} are shown, {found.left_out} are left out."
    note = f'<p class="soft">{what}{left if found.left_out else ""}</p>'
    return note + "\n" + "\n".join(map(_finding, found.kept))


def _finding(finding: Finding) -> str:
    kind = finding.happened.replace(" ", "-")
    facts = [("step", finding.where), ("stream", finding.stream), ("came back", finding.came_back)]
    if finding.grounds is not None:
        grounds = finding.grounds
        facts += [
            ("was tried", grounds.action),
            ("failed with", grounds.feedback),
            ("confidence", f"{grounds.confidence:.2f}, seen {grounds.frequency}x"),
            ("matched", grounds.matched),
        ]
        if grounds.remedy is not None:
            facts.append(("worked instead", grounds.remedy))
    if finding.repeats is not None:
        where = f" of {finding.earlier}" if finding.earlier is not None else ""
        facts.append(("repeats", f"{finding.repeats}{where}"))
    rows = "".join(f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts)
    return (
        f'<details><summary><strong class="{kind}">{finding.happened}</strong> '
        f'<span class="soft">{text(finding.tool)}</span> {text(finding.action)}</summary>'
        f"<dl>{rows}</dl></details>"
    )
