"""Reviews and counts as they appear on the terminal.

Everything that was recorded is somebody else's text: it is escaped, and its control
characters are shown instead of obeyed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from driftguard_langgraph.html.text import printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from driftguard_langgraph.cli.checkup import Check
    from driftguard_langgraph.cli.settings_table import SettingRow

SHOWN_CHARS = 300
"""Characters of a recorded text that are shown; `--json` has them all."""


def plain(text: object) -> str:
    """Return recorded text as one harmless line of markup."""
    return escape(printable(" ".join(str(text).split()), SHOWN_CHARS))


def review_lines(review: Mapping[str, Any]) -> RenderableType:
    """Return a review (`GuardReview.to_dict()`) as lines of markup."""
    lines = [f"[bold]{review['decision']}[/bold]: {plain(review['query'])}"]
    for warning in review["warnings"]:
        lines += warning_lines(warning)
    for good in review["reinforcements"]:
        lines.append(
            f"[green]worked before[/green] ({good['frequency']}x, "
            f"confidence {good['confidence']:.2f}): {plain(good['action_text'])} -> "
            f"{plain(good['feedback_text'])}"
        )
    for other in review["related"]:
        differences = ", ".join(other["match"]["differences"]) or other["match"]["kind"]
        lines.append(
            f"[dim]not the same ({plain(differences)}): {plain(other['action_text'])}, "
            f"a {other['kind']}[/dim]"
        )
    for noise in review["muted"]:
        ran = f"ran {noise['evidence']['successes_since']}x since it failed, and worked"
        lines.append(f"[dim]muted ({ran}): {plain(noise['action_text'])}[/dim]")
    if review["run_credit"]:
        lines.append(credit_line(review["run_credit"]))
    return "\n".join(lines)


def credit_line(credit: Mapping[str, Any]) -> str:
    """Return how the runs with the reviewed step ended as a line of markup."""
    ended = f"{credit['failed_runs']} failed, {credit['succeeded_runs']} succeeded in the end"
    return f"[dim]its runs: {ended} (suspicion {credit['suspicion']:.2f}, no warning)[/dim]"


def warning_lines(warning: Mapping[str, Any]) -> list[str]:
    """Return one warning with its evidence as lines of markup."""
    match, seen = warning["match"], warning["last_seen"][:19]
    trust = f"confidence {warning['confidence']:.2f}, seen {warning['frequency']}x, last {seen}Z"
    why = f"{match['kind']}, similarity {match['similarity']:.2f}"
    lines = [
        f"[yellow]warning[/yellow] ({trust})",
        f"  was tried:  {plain(warning['action_text'])}",
        f"  came back:  {plain(warning['feedback_text'])}",
        f"  led to:     {plain(warning['outcome_text'])}",
        f"  matched:    {why}; episodes {plain(', '.join(warning['episode_ids']))}",
    ]
    if warning.get("remedy"):
        lines.append(f"  worked:     {plain(warning['remedy'])}")
    return lines


def whole(table: Table) -> Table:
    """Return a table that folds what a narrow terminal has no room for, instead of cutting it."""
    for column in table.columns:
        column.overflow = "fold"
    return table


def counts_table(kinds: Mapping[str, Mapping[str, int]]) -> Table:
    """Return counts by kind as a table: a column for each kind, a row for each count."""
    from rich.table import Table

    table = Table("")
    for kind in kinds:
        table.add_column(kind, justify="right")
    for name in next(iter(kinds.values())):
        table.add_row(name.replace("_", " "), *(str(counts[name]) for counts in kinds.values()))
    return whole(table)


def checks_table(checks: Sequence[Check]) -> Table:
    """Return the findings of `doctor` as a table."""
    from rich.table import Table

    table = Table("", "check", "found")
    for check in checks:
        mark = "[green]ok[/green]" if check.ok else "[bold red]wrong[/bold red]"
        table.add_row(mark, check.name, escape(check.detail))
    return whole(table)


def settings_table(rows: Sequence[SettingRow]) -> Table:
    """Return the settings as a table."""
    from rich.table import Table

    table = Table("setting", "value", "from")
    for row in rows:
        table.add_row(row.name, escape(row.value), row.origin)
    return whole(table)
