"""The demo as it appears on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from driftguard_langgraph.cli.console import counted
from driftguard_langgraph.cli.demo.promises import Expectation
from driftguard_langgraph.cli.demo.scenario import JOBS
from driftguard_langgraph.cli.render import plain, warning_lines

Json = Mapping[str, Any]
_PLANS = {job.name: job for job in JOBS}


def show_memory(console: Console, title: str, memory: Json) -> None:
    """Print counts and graph nodes of a memory.

    Args:
        console: Where to.
        title: When the memory looked like this.
        memory: A snapshot of it.
    """
    stats = memory["stats"]
    counts = ", ".join(
        f"{kind}: "
        + ", ".join(counted(stats[kind][f"{noun}s"], noun) for noun in ("episode", "node", "edge"))
        for kind in ("mistakes", "successes")
    )
    console.print(f"\n[bold]{escape(title)}[/bold]  {counts}")
    if not memory["nodes"]:
        return
    table = Table("kind", "node", "type", "frequency")
    for node in memory["nodes"]:
        table.add_row(node["kind"], plain(node["label"]), node["type"], str(node["frequency"]))
    console.print(table)


def show_run(console: Console, title: str, run: Json) -> None:
    """Print what the graph did in one run.

    Args:
        console: Where to.
        title: Which run it was.
        run: The report of the run.
    """
    console.print(f"\n[bold]{escape(title)}[/bold]  (process {run['pid']})")
    for done in run["jobs"]:
        job = _PLANS[done["job"]]
        nature = f" [dim]a look-alike: {job.lookalike}[/dim]" if job.lookalike else ""
        console.print(f"\n[cyan]{job.name}[/cyan]: {escape(job.goal)}{nature}")
        console.print(f"  path:     {' -> '.join(done['path'])}")
        for line in _job_lines(done):
            console.print(f"  {line}", soft_wrap=True)


def show_expectations(console: Console, checks: Sequence[Expectation]) -> None:
    """Print what did not hold, or that everything did."""
    broken = [check for check in checks if not check.held]
    console.print()
    for check in broken:
        console.print(
            f"[bold red]did not hold[/bold red] {escape(check.what)}: {plain(check.seen)}"
        )
    if broken:
        console.print(f"{len(broken)} of {len(checks)} expectations did not hold.")
    else:
        console.print(f"[green]All {len(checks)} expectations held.[/green]")


def _job_lines(done: Json) -> Iterator[str]:
    for entry in done["reviews"]:
        review = entry["review"]
        yield f"proposed: {_step(entry['proposal'])} [dim]({review['decision']})[/dim]"
        for warning in review["warnings"]:
            yield from (f"  {line}" for line in warning_lines(warning))
        for other in review["related"]:
            differences = ", ".join(other["match"]["differences"]) or other["match"]["kind"]
            known = plain(other["action_text"])
            yield f"  [dim]not the same as {known}: {plain(differences)}[/dim]"
    for step in done["executed"]:
        yield f"executed: {_step(step)}"
    verdict = "[green]succeeded[/green]" if done["success"] else "[red]failed[/red]"
    yield f"{verdict}: {plain(done['feedback'])}; {plain(done['outcome'])}"


def _step(step: str | Json) -> str:
    if isinstance(step, str):
        return plain(step)
    arguments = ", ".join(f"{key}={json.dumps(value)}" for key, value in step["args"].items())
    return plain(f"{step['name']}({arguments})")
