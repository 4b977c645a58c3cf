"""The figures over labelled pairs as tables for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from driftguard_langgraph.evaluation.pair_scores import PairsResult, TierScores
from driftguard_langgraph.html.text import SHOWN_CHARS, printable


def render_pairs(result: PairsResult, *, by_kind: bool) -> RenderableType:
    """Return the figures of every tier beside those of the baselines.

    Args:
        result: What was compared.
        by_kind: Whether to add the share matched of each kind.
    """
    count = sum(len(tier.labels) for tier in result.tiers.values())
    parts: list[RenderableType] = [
        escape(
            f"{result.file}: {count} pairs compared in {result.seconds:.1f} s "
            f"with {result.model_id}.\n"
        )
    ]
    for name, tier in result.tiers.items():
        parts.append(_figures(name, tier))
        if by_kind:
            parts.append(_shares(name, tier))
    return Group(*parts)


def _figures(name: str, tier: TierScores) -> Table:
    same = sum(tier.labels)
    title = f"Tier {name}: {same} the same, {len(tier.labels) - same} different"
    table = Table(
        title=escape(printable(title, SHOWN_CHARS)), title_justify="left", box=box.SIMPLE_HEAD
    )
    table.add_column("judge")
    for column in ("AUC", "balanced accuracy", "recall", "wrongly matched"):
        table.add_column(column, justify="right")
    for judge in tier.judges:
        rates = (
            tier.auc(judge),
            tier.balanced_accuracy(judge),
            tier.recall(judge),
            tier.wrongly_matched(judge),
        )
        table.add_row(judge, *map(_share, rates))
    return table


def _shares(name: str, tier: TierScores) -> Table:
    title = escape(printable(f"Share matched, tier {name}"))
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("kind", overflow="fold")
    table.add_column("pairs", justify="right")
    shares = {judge: tier.matched_share(judge) for judge in tier.judges}
    for judge in shares:
        table.add_column(judge, justify="right")
    for kind, count in tier.counts().items():
        table.add_row(
            escape(printable(kind, SHOWN_CHARS)),
            str(count),
            *(_share(each[kind]) for each in shares.values()),
        )
    return table


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
