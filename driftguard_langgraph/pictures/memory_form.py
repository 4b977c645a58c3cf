"""What a memory's picture looks like: cards for a few nodes, bars for many."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import pairwise

from driftguard_langgraph.pictures.board import Board
from driftguard_langgraph.pictures.chains import Chain, Scene
from driftguard_langgraph.pictures.layout import Slot
from driftguard_langgraph.pictures.style import FAILURE, INK, SOFT, SUCCESS

TIMES = "\N{MULTIPLICATION SIGN}"


class Form(ABC):
    """How large nodes and bands are, and how nodes are drawn.

    Attributes:
        heights: Of the nodes, in points.
        gap: Room between two nodes, in points.
        height: Of the whole, in points.
        columns: Where the nodes of each column begin and end, in points.
        heads: The same for the heads of the columns.
        crowded: Whether there is room for names and numbers only where nothing is in the way.
    """

    heights: Mapping[str, float]
    gap: float
    height: float
    columns: tuple[tuple[float, float], ...]
    heads: tuple[tuple[float, float], ...]
    crowded: bool

    @abstractmethod
    def width_of(self, chain: Chain) -> float:
        """Return how wide the band of a chain is, in points."""

    @abstractmethod
    def draw(self, board: Board, scene: Scene, slots: Mapping[str, Slot]) -> int:
        """Draw the nodes, with name and frequency.

        Returns:
            How many of them have their name.
        """


def shade_of(scene: Scene, column: int) -> str:
    """Return the colour of a column's nodes."""
    return (INK, SOFT, FAILURE if scene.kind == "mistake" else SUCCESS)[column]


def widest(scene: Scene, width_of: Mapping[Chain, float]) -> dict[str, float]:
    """Return how wide the bands are that meet each node, on the side where they are wider.

    Args:
        scene: What is drawn.
        width_of: The width of each chain's band.
    """
    into: dict[str, float] = dict.fromkeys(scene.nodes, 0.0)
    out: dict[str, float] = dict.fromkeys(scene.nodes, 0.0)
    for chain in scene.chains:
        for source, target in pairwise(chain.keys):
            out[source] += width_of[chain]
            into[target] += width_of[chain]
    return {key: max(into[key], out[key]) for key in scene.nodes}
