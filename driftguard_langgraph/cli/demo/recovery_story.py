"""The demo's third run as it appears on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from driftguard_langgraph.cli.demo.vault import POISON, RULES
from driftguard_langgraph.cli.drift.render import level, sparkline
from driftguard_langgraph.cli.render import plain
from driftguard_langgraph.drift.report import ThreatLevel
from driftguard_langgraph.recovery.verdict import RecoveryVerdict

Json = Mapping[str, Any]

_TITLES = {
    "standard": "with the recovery scaffold",
    "null": "the same without it, for comparison",
}
_KEPT = {True: "[green]kept[/green]", False: "[red]broken[/red]", None: ""}


def show_recovery(console: Console, report: Json) -> None:
    """Print what the graph did in both arms.

    Args:
        console: Where to.
        report: What `recovery.run_recovery` returned.
    """
    console.print(f"\n[bold]Run 3[/bold]  (process {report['pid']})")
    console.print("An assistant that follows the newest system message keeps these rules:")
    for rule in RULES:
        console.print(f"  {plain(rule)}")
    console.print("until a false summary is put before it:")
    for line in POISON.splitlines():
        console.print(f"  [red]{plain(line)}[/red]", soft_wrap=True)
    for arm in report["arms"]:
        _show_arm(console, arm)


def _show_arm(console: Console, arm: Json) -> None:
    runs = arm["runs"]
    console.print(f"\n[cyan]{_TITLES[arm['variant']]}[/cyan]")
    table = Table("step", "rules", "corruption", "level", "scaffold")
    for run in runs:
        table.add_row(
            "[dim](the run is stopped)[/dim]" if run["step"] is None else plain(run["step"]),
            _KEPT[run["lawful"]],
            f"{run['corruption']:.2f}{' alarm' if run['alarm'] else ''}",
            level(ThreatLevel(run["level"])),
            "shown" if run["scaffold"] is not None else "",
        )
    console.print(table)
    alarmed = next((run for run in runs if run["alarm"]), None)
    if alarmed is not None:
        console.print(f"  alarm:      {plain(alarmed['explanation'])}", soft_wrap=True)
    curve = [run["corruption"] for run in runs]
    console.print(f"  corruption: {sparkline(curve, 1.0, lowest=False)}")
    verdict = runs[-1]["verdict"]
    if verdict is not None:
        told = RecoveryVerdict.from_dict(verdict).explain()
        console.print(f"  verdict:    [bold]{plain(told)}[/bold]", soft_wrap=True)
