"""A memory of many nodes: each a bar, as high as it is frequent; the strongest are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from driftguard_langgraph.pictures.board import Area, Board, Side
from driftguard_langgraph.pictures.chains import Chain, Node, Scene
from driftguard_langgraph.pictures.layout import Group, Slot, height_of
from driftguard_langgraph.pictures.memory_form import TIMES, Form, shade_of, widest
from driftguard_langgraph.pictures.style import INK, TINY
from driftguard_langgraph.pictures.words import cut, readable, width_of

_BAR = 8.0
_LABELS = 0.29
"""Room for the names at each side, of the whole width."""
_FEEDBACK_AT = 0.34
"""Where the middle column is, of the way between the others: its names are at its right."""
_BESIDE = 5.0
_HIGHEST = 900.0
_PER_ROW = 12.0
_FITS = ((4.0, 4.0), (2.0, 2.0), (0.8, 0.8), (0.1, 0.1))
"""Gap and least height of a bar that are tried, the roomiest first."""


class Bars(Form):
    """The form for many nodes.

    Args:
        scene: What is drawn.
        groups: Its nodes, arranged.
        left: Where it begins, in points.
        width: Of the whole, in points.
        room: Its height, in points; None for what suits it.
    """

    crowded = True

    def __init__(
        self,
        scene: Scene,
        groups: Sequence[Group],
        left: float,
        width: float,
        room: float | None = None,
    ) -> None:
        side = _LABELS * width
        first, last = left + side, left + width - side - _BAR
        middle = first + _FEEDBACK_AT * (last - first)
        self.columns = tuple((at, at + _BAR) for at in (first, middle, last))
        self.heads = (
            (left, first + _BAR),
            (middle, middle + side - 14),
            (last, left + width),
        )
        rows = sum(max(map(len, group)) for group in groups)
        self._least = self._unit = 0.0
        self._fit(scene, groups, room or min(_HIGHEST, max(320.0, _PER_ROW * rows)))

    def _fit(self, scene: Scene, groups: Sequence[Group], room: float) -> None:
        """Make bars as high as the room allows."""
        for gap, least in _FITS:
            self.gap, self._least, self._unit = gap, least, 0.0
            self._measure(scene, groups)
            if self.height <= 0.7 * room:
                break
        low, high = 0.0, room
        for _ in range(30):
            self._unit = (low + high) / 2
            self._measure(scene, groups)
            low, high = (self._unit, high) if self.height <= room else (low, self._unit)
        self._unit = low
        self._measure(scene, groups)

    def _measure(self, scene: Scene, groups: Sequence[Group]) -> None:
        bands = widest(scene, {chain: self.width_of(chain) for chain in scene.chains})
        self.heights = {key: max(self._least, bands[key]) for key in scene.nodes}
        self.height = height_of(groups, self.heights, self.gap)

    def width_of(self, chain: Chain) -> float:
        """Return how wide the band of a chain is, in points."""
        return max(self._least / 2, self._unit * chain.frequency)

    def draw(self, board: Board, scene: Scene, slots: Mapping[str, Slot]) -> int:
        """Draw the bars, and as many names as there is room for, the strongest first."""
        for key, node in scene.nodes.items():
            left, right = self.columns[node.column]
            area = Area(left, slots[key].bottom, right, slots[key].top)
            board.rectangle(area, shade_of(scene, node.column), order=4)
            board.keep_free(area)
        return sum(self._name(board, node, slots[node.key]) for node in scene.nodes.values())

    def _name(self, board: Board, node: Node, slot: Slot) -> bool:
        left, right = self.columns[node.column]
        side: Side = "right" if node.column == 0 else "left"
        x = left - _BESIDE if node.column == 0 else right + _BESIDE
        often = f" {node.frequency}{TIMES}"
        head = self.heads[node.column]
        room = (head[1] - head[0]) - _BAR - _BESIDE - width_of(often, TINY)
        line = cut(readable(node.text), room, TINY) + often
        return board.write_if_free(
            x, slot.middle, line, size=TINY, side=side, colour=INK, paper=node.column == 1
        )
