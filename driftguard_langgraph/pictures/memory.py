"""The picture of a memory: action, feedback and outcome in columns, chains as bands."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftguard_langgraph.memory.graph import Graph
from driftguard_langgraph.pictures.board import Board, board_for
from driftguard_langgraph.pictures.chains import Scene, scene_of
from driftguard_langgraph.pictures.head import MARGIN, write_head
from driftguard_langgraph.pictures.layout import Group, arranged, stacked
from driftguard_langgraph.pictures.memory_bands import draw_bands, write_numbers
from driftguard_langgraph.pictures.memory_bars import Bars
from driftguard_langgraph.pictures.memory_cards import Cards
from driftguard_langgraph.pictures.memory_form import TIMES, Form
from driftguard_langgraph.pictures.style import (
    FAILURE,
    INK,
    LINE,
    SMALL,
    SOFT,
    SUCCESS,
    TITLE,
)
from driftguard_langgraph.pictures.words import cut, readable, width_of
from driftguard_langgraph.types import Kind

WIDTH = 720.0
_HEAD = 88.0
_FOOT = 14.0
_CARDS_HIGHEST = 760.0
"""Height up to which nodes are cards, in points."""
_CARDS_NARROWEST = 420.0
"""Width from which they are."""

_HEADERS = (
    ("ACTION", "what was tried"),
    ("FEEDBACK", "what came back"),
    ("OUTCOME", "what it led to"),
)


def draw_memory(graph: Graph, kind: Kind, ax: Axes | None, max_nodes: int) -> Figure:
    """Draw a graph; see `plots.plot_memory`."""
    scene = scene_of(graph, kind, max_nodes)
    if not scene.nodes:
        return _draw_nothing(scene, ax)
    groups = arranged(scene)
    form = _form(scene, groups, WIDTH, None)
    board, figure = board_for(ax, WIDTH, form.height + _HEAD + _FOOT)
    room = board.height - _HEAD - _FOOT
    if ax is not None:
        form = _form(scene, groups, board.width, room)
    top = board.height - _HEAD - max(0.0, room - form.height) / 2
    slots = stacked(groups, form.heights, form.gap, top)
    pieces = draw_bands(board, scene, slots, form)
    named = form.draw(board, scene, slots)
    write_numbers(board, scene, form, pieces)
    _write_head(board, scene, form, named)
    return figure


def _form(scene: Scene, groups: list[Group], width: float, room: float | None) -> Form:
    inner = width - 2 * MARGIN
    cards = Cards(scene, groups, MARGIN, inner)
    highest = _CARDS_HIGHEST if room is None else room
    if cards.height <= highest and inner >= _CARDS_NARROWEST:
        return cards
    return Bars(scene, groups, MARGIN, inner, room)


def _draw_nothing(scene: Scene, ax: Axes | None) -> Figure:
    board, figure = board_for(ax, WIDTH, 62.0)
    what, call = (
        ("failures", "record") if scene.kind == "mistake" else ("successes", "record_success")
    )
    hint = f"guard.{call}(action, feedback, outcome) adds the first chain"
    write_head(board, f"No {what} remembered yet", hint)
    return figure


def _write_head(board: Board, scene: Scene, form: Form, named: int) -> None:
    room = board.width - 2 * MARGIN
    failed = scene.kind == "mistake"
    board.write(MARGIN, board.height - 22, _title(scene, room), size=TITLE, bold=True)
    sign = "\N{BALLOT X} failures" if failed else "\N{CHECK MARK} successes"
    colour = FAILURE if failed else SUCCESS
    board.write(MARGIN, board.height - 43, sign, size=SMALL, bold=True, colour=colour)
    beside = MARGIN + width_of(sign, SMALL, bold=True) + 10
    summary = cut(_summary(scene, named), room - beside + MARGIN, SMALL)
    board.write(beside, board.height - 43, summary, size=SMALL, colour=SOFT)
    for at, (name, meaning) in enumerate(_HEADERS):
        left, right = form.heads[at]
        y = board.height - 68
        board.write(left, y, name, size=SMALL, bold=True, colour=INK)
        offset = width_of(name, SMALL, bold=True) + 7
        if left + offset + width_of(meaning, SMALL) <= right:
            board.write(left + offset, y, meaning, size=SMALL, colour=SOFT)
        board.line([left, right], [y - 9, y - 9], LINE, width=1.2)


def _title(scene: Scene, room: float) -> str:
    first = next(node for node in scene.nodes.values() if node.column == 0)
    failed = scene.kind == "mistake"
    if first.frequency == 1:
        what = _counted(scene.episodes, "failure") if failed else _successes(scene.episodes)
        return f"{what} remembered" + (", each seen once" if scene.episodes > 1 else "")
    lead = "Failed most" if failed else "Worked most"
    end = f"\N{RIGHT DOUBLE QUOTATION MARK}, {first.frequency}{TIMES}"
    begin = f"{lead}: \N{LEFT DOUBLE QUOTATION MARK}"
    left = room - width_of(begin + end, TITLE, bold=True)
    return begin + cut(readable(first.text), left, TITLE, bold=True) + end


def _successes(count: int) -> str:
    return f"{count:,} success{'' if count == 1 else 'es'}"


def _summary(scene: Scene, named: int) -> str:
    chains = _counted(len(scene.chains), "chain")
    parts = [f"{_counted(scene.episodes, 'episode')} in {chains}"]
    shown = len(scene.nodes)
    if shown < scene.all_nodes:
        parts.append(f"the strongest {shown} of {scene.all_nodes} nodes")
    if named < shown:
        parts.append(f"{named} of {shown} named, the most frequent first")
    return " \N{MIDDLE DOT} ".join(parts)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
