"""The bands of a memory's picture: chains in colour, and numbers where there is room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from driftguard_langgraph.pictures.board import Board
from driftguard_langgraph.pictures.chains import Scene
from driftguard_langgraph.pictures.layout import Band, Slot, bands
from driftguard_langgraph.pictures.memory_form import TIMES, Form
from driftguard_langgraph.pictures.style import CHAINS, INK, REST, SMALL

_ALONG = (0.5, 0.35, 0.65, 0.2, 0.8)
"""Where along a band its number may stand, the best place first."""

_WIDE_ENOUGH = 9.0
"""Width from which a band holds its number, in points."""


def draw_bands(board: Board, scene: Scene, slots: Mapping[str, Slot], form: Form) -> list[Band]:
    """Draw the chains, the strongest in colour and above the others.

    Returns:
        The pieces of all chains.
    """
    pieces = bands(scene, slots, form.width_of)
    colours = dict(zip(scene.chains, CHAINS, strict=False))
    for piece in pieces:
        colour = colours.get(piece.chain)
        start, end = _ends(scene, form, piece)
        board.ribbon(
            (start, piece.start),
            (end, piece.end),
            piece.width,
            colour or REST,
            alpha=0.72 if colour else 0.45,
            order=2.5 if colour else 2,
        )
    return pieces


def write_numbers(board: Board, scene: Scene, form: Form, pieces: list[Band]) -> None:
    """Write how often each edge was observed, where nothing else is."""
    edges: dict[tuple[str, str], list[Band]] = defaultdict(list)
    for piece in pieces:
        edges[piece.source, piece.target].append(piece)
    frequent = sorted(edges.values(), key=lambda each: -sum(b.chain.frequency for b in each))
    for those in frequent:
        width = sum(band.width for band in those)
        if form.crowded and width < _WIDE_ENOUGH:
            continue
        number = f"{sum(band.chain.frequency for band in those)}{TIMES}"
        for along in _ALONG:
            x, y = _point(
                *_ends(scene, form, those[0]), _mean(those, "start"), _mean(those, "end"), along
            )
            paper = width < _WIDE_ENOUGH
            if board.write_if_free(
                x, y, number, size=SMALL, bold=True, side="center", colour=INK, paper=paper
            ):
                break


def _ends(scene: Scene, form: Form, piece: Band) -> tuple[float, float]:
    start = form.columns[scene.nodes[piece.source].column][1]
    return start, form.columns[scene.nodes[piece.target].column][0]


def _mean(those: list[Band], name: str) -> float:
    total = sum(band.width for band in those)
    return sum(float(getattr(band, name)) * band.width for band in those) / total


def _point(x0: float, x1: float, y0: float, y1: float, along: float) -> tuple[float, float]:
    """Return a point of the middle of a ribbon, see `Board.ribbon`."""
    back = 1 - along
    bend = (x0 + x1) / 2
    early = back**3 + 3 * along * back**2
    x = x0 * back**3 + 3 * bend * along * back + x1 * along**3
    return x, y0 * early + y1 * (1 - early)
