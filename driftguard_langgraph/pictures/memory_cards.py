"""A memory of a few nodes: each a card with its words, how often, and how it was worded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from driftguard_langgraph.pictures.board import Area, Board
from driftguard_langgraph.pictures.chains import Chain, Node, Scene
from driftguard_langgraph.pictures.layout import Group, Slot, height_of
from driftguard_langgraph.pictures.memory_form import TIMES, Form, shade_of, widest
from driftguard_langgraph.pictures.style import BODY, SMALL, SOFT
from driftguard_langgraph.pictures.words import cut, readable, width_of, wrapped

_CARD = 0.255
"""Width of a card, of the whole."""
_PADDING = 9.0
_LINE = 14.0
_LINES = 3
_WIDEST_BAND = 46.0
_BAND_PER_EPISODE = 11.0
_THINNEST_BAND = 2.0


class Cards(Form):
    """The form for a few nodes.

    Args:
        scene: What is drawn.
        groups: Its nodes, arranged.
        left: Where it begins, in points.
        width: Of the whole, in points.
    """

    crowded = False

    def __init__(self, scene: Scene, groups: Sequence[Group], left: float, width: float) -> None:
        card = _CARD * width
        lefts = (left, left + (width - card) / 2, left + width - card)
        self.columns = tuple((at, at + card) for at in lefts)
        self.heads = self.columns
        self.gap = 18.0
        most = max((node.frequency for node in scene.nodes.values()), default=1)
        self._unit = min(_BAND_PER_EPISODE, _WIDEST_BAND / most)
        self._lines = {
            key: wrapped(readable(node.text), card - 2 * _PADDING, BODY, _LINES)
            for key, node in scene.nodes.items()
        }
        bands = widest(scene, {chain: self.width_of(chain) for chain in scene.chains})
        self.heights = {
            key: max(self._lines_of(node) * _LINE + 2 * _PADDING - 2, bands[key] + 12)
            for key, node in scene.nodes.items()
        }
        self.height = height_of(groups, self.heights, self.gap)

    def _lines_of(self, node: Node) -> int:
        """Return how many lines are on a card: the words, how often, another wording."""
        return len(self._lines[node.key]) + 1 + bool(node.others)

    def width_of(self, chain: Chain) -> float:
        """Return how wide the band of a chain is, in points."""
        return max(_THINNEST_BAND, self._unit * chain.frequency)

    def draw(self, board: Board, scene: Scene, slots: Mapping[str, Slot]) -> int:
        """Draw the cards; every one has its name."""
        for key, node in scene.nodes.items():
            left, right = self.columns[node.column]
            slot = slots[key]
            area = Area(left, slot.bottom, right, slot.top)
            board.card(area, shade_of(scene, node.column))
            board.keep_free(area)
            self._write(board, node, left + _PADDING, slot, shade_of(scene, node.column))
        return len(scene.nodes)

    def _write(self, board: Board, node: Node, x: float, slot: Slot, shade: str) -> None:
        lines = self._lines[node.key]
        y = slot.middle + (self._lines_of(node) - 1) * _LINE / 2
        for line in lines:
            board.write(x, y, line, size=BODY)
            y -= _LINE
        often = f"{node.frequency}{TIMES}"
        board.write(x, y, often, size=BODY, bold=True, colour=shade)
        if not node.others:
            return
        beside = x + width_of(often, BODY, bold=True) + 7
        count = f"in {len(node.others) + 1} wordings, also:"
        board.write(beside, y, count, size=SMALL, colour=SOFT)
        left, right = self.columns[node.column]
        other = cut(readable(node.others[0]), right - left - 2 * _PADDING, SMALL)
        board.write(x, y - _LINE, other, size=SMALL, colour=SOFT)
