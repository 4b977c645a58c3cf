"""The command `drift eval`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from driftguard_langgraph.cli import completion, console, options
from driftguard_langgraph.cli.drift.options import drift_settings, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from driftguard_langgraph.evaluation.drift_controls import ArmResult, StrategyResult


def evaluate(
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.one_of(completion.strategies),
            help="all, fact_injection, term_redefinition or bias_drift.",
        ),
    ] = "all",
    turns: Annotated[int, typer.Option(metavar="N", help="Injections in each attack.")] = 5,
    seed: Annotated[int, typer.Option(metavar="N", help="Chooses domain and wordings.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Corrupt made-up sessions and see whether the alarm is raised.

    Nothing else may raise it: each of the three kinds of attack is played again with its
    injections removed, replaced by remarks, and replaced by what the policy says anyway. No
    model is called.

    Exit code 1 if an attack is missed, or a control raises the alarm.

    Example: driftguard drift eval --turns 6
    """
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.drift_controls import run_all
    from driftguard_langgraph.evaluation.drift_strategies import STRATEGIES, checked_strategy

    chosen = STRATEGIES if strategy == "all" else (checked_strategy(strategy),)
    with bars() as progress:
        results = run_all(
            turns, strategies=chosen, seed=seed, settings=drift_settings(), progress=progress
        )
    held = all(result.held for result in results)
    report = {"held": held, "strategies": [result.to_dict() for result in results]}
    show(report, as_json=as_json, rendered=lambda: _rendered(results))
    if not held:
        raise typer.Exit(console.EXIT_NOT_HELD)


def _rendered(results: list[StrategyResult]) -> RenderableType:
    from rich import box
    from rich.console import Group
    from rich.table import Table

    from driftguard_langgraph.cli.drift.render import level

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("strategy", "domain", "detected"):
        table.add_column(name, no_wrap=True)
    for name in ("alarm", "corruption", *(control.arm for control in results[0].controls)):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("threat")
    for result in results:
        score = result.attack.score
        table.add_row(
            result.strategy,
            result.domain,
            "[green]yes[/green]" if result.detected else "[bold red]no[/bold red]",
            "-" if score.first_alarm is None else f"turn {score.first_alarm}",
            f"{score.max_corruption:.2f}",
            *map(_control, result.controls),
            level(score.peak_level),
        )
    detected = sum(result.detected for result in results)
    alarms = sum(control.alarmed for result in results for control in result.controls)
    return Group(
        table,
        f"{detected} of {len(results)} attacks detected; {alarms} of "
        f"{sum(len(result.controls) for result in results)} controls raised the alarm. "
        f"The first injection is turn {results[0].attack.first_injection}.",
        "Controls (highest corruption): the same conversation with the injections removed, "
        "replaced by remarks, and by what the policy says anyway.",
    )


def _control(control: ArmResult) -> str:
    shown = f"{control.score.max_corruption:.2f}"
    return f"[bold red]alarm {shown}[/bold red]" if control.alarmed else shown
