"""Drift reports as they appear on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from driftguard_langgraph.cli import console
from driftguard_langgraph.cli.console import counted
from driftguard_langgraph.cli.render import plain, whole

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from driftguard_langgraph.drift.report import Anomaly, ThreatLevel
    from driftguard_langgraph.evaluation.drift_scores import SessionScore

WIDTH = 60
"""Columns of a curve; a longer conversation is shown with the worst of each part."""

ANOMALY_ROWS = 25
"""Anomalies that are shown, the gravest of the conversation; `--json` has them all."""

BACKGROUND = 0.05
"""Weight up to which an anomaly is background: it is counted, not shown."""

NARROW = 72
"""Columns below which anomalies are listed: a table of them would have columns of a few letters."""

QUOTE = 160
"""Characters of a quotation in the table."""

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-=+*%#"
_STYLES = {"NORMAL": "green", "LOW": "green", "MEDIUM": "yellow", "HIGH": "red"}


def render_score(score: SessionScore) -> RenderableType:
    """Return a conversation as curves, anomalies and an explanation."""
    from rich.console import Group

    if not score.readings:
        return f"[bold]{plain(score.name)}[/bold]: nothing after its baseline to measure"
    parts: list[RenderableType] = [_heading(score), _curves(score)]
    found = [each for reading in score.readings for each in reading.report.anomalies]
    if found:
        parts.append(_anomalies(found))
    revised = [each for reading in score.readings for each in reading.report.revisions]
    parts += [f"revised by the user at turn {r.turn}: {_quote(r.said.text)}" for r in revised]
    parts.append(_explanation(score))
    return Group(*parts)


def render_table(scores: Sequence[SessionScore]) -> Table:
    """Return several conversations as a table, one a row."""
    from rich import box
    from rich.table import Table

    table = Table("conversation", box=box.SIMPLE_HEAD)
    for name in ("turns", "score", "lowest", "corruption", "first alarm"):
        table.add_column(name, justify="right")
    table.add_column("threat")
    for score in scores:
        lowest = min((reading.report.score for reading in score.readings), default=100.0)
        table.add_row(
            plain(score.name),
            str(len(score.readings)),
            f"{score.final.score:.0f} {score.final.verdict.value}",
            f"{lowest:.0f}",
            f"{score.max_corruption:.2f}",
            "-" if score.first_alarm is None else f"turn {score.first_alarm}",
            level(score.peak_level),
        )
    return whole(table)


def sparkline(values: Sequence[float], top: float, *, lowest: bool) -> str:
    """Return values from 0 to `top` as a line of blocks, at most `WIDTH` of them.

    Args:
        values: The values, one a turn.
        top: The highest possible one.
        lowest: Whether the lowest of several is the worst (else the highest).
    """
    worst = min if lowest else max
    count = min(len(values), WIDTH)
    edges = [len(values) * part // count for part in range(count + 1)] if count else []
    shown = [worst(values[a:b]) for a, b in pairwise(edges)]
    blocks = _blocks()
    last = len(blocks) - 1
    return "".join(blocks[min(last, max(0, int(value / top * len(blocks))))] for value in shown)


def level(threat: ThreatLevel) -> str:
    """Return a threat level as markup."""
    style = _STYLES.get(threat.value, "bold red")
    return f"[{style}]{threat.value}[/{style}]"


def _blocks() -> str:
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        _BLOCKS.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return _ASCII
    return _BLOCKS


def _heading(score: SessionScore) -> str:
    final = score.final
    told = f"after a baseline of {score.baseline}" if score.baseline else "against --baseline"
    more = f", {score.left_out} more not looked at" if score.left_out else ""
    alarm = (
        "no alarm"
        if score.first_alarm is None
        else f"[bold red]alarm[/bold red] at turn {score.first_alarm}"
        + ("" if final.alarm else ", over since")
    )
    return (
        f"[bold]{plain(score.name)}[/bold]: {counted(len(score.readings), 'turn')} {told}{more}\n"
        f"score {final.score:.0f} ({final.verdict.value}), threat {level(final.threat_level)}, "
        f"at its worst {level(score.peak_level)}; {alarm}"
    )


def _curves(score: SessionScore) -> str:
    reports = [reading.report for reading in score.readings]
    scores = [report.score for report in reports]
    corruption = [report.corruption for report in reports]
    return (
        f"  score       {sparkline(scores, 100.0, lowest=True)}  "
        f"{scores[0]:.0f} -> {scores[-1]:.0f}, lowest {min(scores):.0f}\n"
        f"  corruption  {sparkline(corruption, 1.0, lowest=False)}  "
        f"{corruption[0]:.2f} -> {corruption[-1]:.2f}, highest {max(corruption):.2f}"
    )


def _anomalies(found: Sequence[Anomaly]) -> RenderableType:
    from rich import box
    from rich.console import Group
    from rich.table import Table

    heavy = [each for each in found if each.weight > BACKGROUND]
    gravest = sorted(heavy, key=lambda each: (-each.weight, each.turn))[:ANOMALY_ROWS]
    in_order = sorted(gravest, key=lambda each: each.turn)
    more = len(found) - len(gravest)
    lighter = f"  {more} lighter {'anomaly is' if more == 1 else 'anomalies are'} in --json"
    if console.out().width < NARROW:
        return Group(*map(_anomaly, in_order), *([lighter] if more else []))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("turn", justify="right")
    table.add_column("who")
    table.add_column("what")
    table.add_column("weight", justify="right")
    table.add_column("said")
    table.add_column("against")
    for each in in_order:
        table.add_row(
            str(each.turn),
            each.channel.value,
            plain(each.rule.replace("_", " ")),
            f"{each.weight:.2f}",
            _quote(each.said.text),
            "" if each.against is None else _quote(each.against.text),
        )
    return Group(*([table] if gravest else []), *([lighter] if more else []))


def _anomaly(each: Anomaly) -> str:
    """Return an anomaly as lines, where a table has no room."""
    what = plain(each.rule.replace("_", " "))
    lines = [
        f"  turn {each.turn}, {each.channel.value}: {what} (weight {each.weight:.2f})",
        f"    said: {_quote(each.said.text)}",
    ]
    if each.against is not None:
        lines.append(f"    against: {_quote(each.against.text)}")
    return "\n".join(lines)


def _explanation(score: SessionScore) -> str:
    from rich.markup import escape

    from driftguard_langgraph.html.text import SHOWN_CHARS, printable

    worst, final = score.worst, score.final
    told = dict.fromkeys((worst.explanation, final.explanation))
    return "\n".join(escape(printable(" ".join(each.split()), SHOWN_CHARS)) for each in told)


def _quote(text: str) -> str:
    return plain(text if len(text) <= QUOTE else text[: QUOTE - 1] + "…")
