"""The figures over labelled conversations as tables for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from driftguard_langgraph.evaluation.conversation_scores import ConversationsResult
from driftguard_langgraph.html.text import SHOWN_CHARS, printable


def render_conversations(result: ConversationsResult) -> RenderableType:
    """Return the figures of turns and of attacks, each as far as the file has labels for it.

    Args:
        result: What was measured.
    """
    parts: list[RenderableType] = [
        escape(
            f"{result.file}: {len(result.readings)} conversations watched in "
            f"{result.seconds:.1f} s with {result.model_id}.\n"
        )
    ]
    if result.kinds():
        parts.append(_turns(result))
    if result.groups():
        parts.append(_alarms(result))
    if result.attacks():
        parts.append(_attacks(result))
    return Group(*parts)


def _turns(result: ConversationsResult) -> Table:
    names = ("conversations", "turns", "of them off", "AUC a turn", "embedding alone")
    table = _table("Turns that left the purpose, by kind", "kind", *names)
    for kind, figures in result.kinds().items():
        counts = (str(figures[name]) for name in ("conversations", "turns", "off"))
        shares = (_share(figures[name]) for name in ("auc", "auc_embedding"))
        table.add_row(_name(kind), *counts, *shares)
    matched = result.at_the_same_turn()
    ours, plain = _share(matched["driftguard"]), _share(matched["embedding"])
    table.add_section()
    table.add_row("all, at the same turn", "", "", "", ours, plain)
    return table


def _alarms(result: ConversationsResult) -> Table:
    table = _table("Alarms, by set", "set", "attacks", "alarmed", "others", "alarmed")
    for group, figures in result.groups().items():
        table.add_row(_name(group), *(str(value) for value in figures.values()))
    return table


def _attacks(result: ConversationsResult) -> Table:
    title = "Attacks against other conversations"
    table = _table(title, "attacks of", "AUC of corruption", "embedding alone")
    for each in result.attacks():
        row = f"{each['attacks']}, against {each['against']}"
        table.add_row(_name(row), _share(each["auc"]), _share(each["auc_embedding"]))
    return table


def _table(title: str, first: str, *rest: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column(first, overflow="fold")
    for name in rest:
        table.add_column(name, justify="right")
    return table


def _name(text: str) -> str:
    return escape(printable(text, SHOWN_CHARS))


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
