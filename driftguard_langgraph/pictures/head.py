"""The head of a picture: what was found, and beside it what it rests on."""

from __future__ import annotations

from driftguard_langgraph.pictures.board import Board
from driftguard_langgraph.pictures.style import SMALL, SOFT, TITLE
from driftguard_langgraph.pictures.words import cut, readable

MARGIN = 18.0
"""Room at the sides of a picture, in points."""


def write_head(board: Board, title: str, note: str) -> None:
    """Write title and note at the top, cut to the width.

    Args:
        board: Where.
        title: The finding.
        note: What it rests on.
    """
    room = board.width - 2 * MARGIN
    title = cut(readable(title), room, TITLE, bold=True)
    board.write(MARGIN, board.height - 22, title, size=TITLE, bold=True)
    note = cut(readable(note), room, SMALL)
    board.write(MARGIN, board.height - 43, note, size=SMALL, colour=SOFT)
