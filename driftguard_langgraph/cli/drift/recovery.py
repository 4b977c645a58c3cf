"""The command `drift recovery`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from driftguard_langgraph.cli import console, options
from driftguard_langgraph.cli.drift.options import drift_settings, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from driftguard_langgraph.evaluation.recovery_arms import RecoveryArm


def recovery(
    turns: Annotated[int, typer.Option(metavar="N", help="Injections in each attack.")] = 5,
    after: Annotated[int, typer.Option(metavar="N", help="Exchanges after the attack.")] = 20,
    attacked: Annotated[
        bool, typer.Option("--attacked", help="Let the attacker go on instead of asking.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="N", help="Chooses domains and wordings.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Corrupt made-up sessions and see what brings them back.

    A scripted assistant follows the newest policy that it reads. Each attack is played with
    every variant of the scaffold, with an empty one, with a placebo and without recovery. No
    model is called.

    Exit code 1 if a scaffold fails, or a session comes back without one.

    Example: driftguard drift recovery --seed 3
    """
    from driftguard_langgraph.cli.progress import bars
    from driftguard_langgraph.evaluation.recovery_arms import (
        CONTROLS,
        built_in_attacks,
        run_arms,
    )

    with bars() as progress:
        results = run_arms(
            built_in_attacks(turns, seed=seed),
            aftermath="attacked" if attacked else "ordinary",
            after=after,
            seed=seed,
            settings=drift_settings(),
            progress=progress,
        )
    # Nobody is at LOW while the attack goes on: then the answers alone decide.
    back = [each.on_policy == 1.0 if attacked else each.held for each in results]
    held = all(
        is_back is (each.arm not in CONTROLS) for is_back, each in zip(back, results, strict=True)
    )
    report = {"held": held, "seed": seed, "arms": [each.to_dict() for each in results]}
    show(report, as_json=as_json, rendered=lambda: _rendered(results, seed))
    if not held:
        raise typer.Exit(console.EXIT_NOT_HELD)


def _rendered(results: list[RecoveryArm], seed: int) -> RenderableType:
    from rich import box
    from rich.console import Group
    from rich.table import Table

    from driftguard_langgraph.cli.drift.render import level

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("attack", "arm"):
        table.add_column(name, no_wrap=True)
    for name in ("alarm", "on policy", "recovered", "relapses", "corruption"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("threat")
    for each in results:
        took = each.time_to_recover
        table.add_row(
            each.attack,
            each.arm,
            "-" if each.alarmed_at is None else f"turn {each.alarmed_at}",
            f"{each.on_policy:.0%}",
            "-" if took is None else console.counted(took, "turn"),
            str(each.relapses),
            f"{each.points[-1][0].corruption:.2f}",
            level(each.level),
        )
    return Group(
        table,
        "On policy: share of the last five answers that follow the original instructions. "
        "Recovered: turns from the alarm until the monitor was back at LOW. "
        f"Seed {seed}.",
    )
