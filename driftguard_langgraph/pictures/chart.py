"""A small chart on the board: one scale across, one up, and what is drawn on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from driftguard_langgraph.pictures.board import Area, Board
from driftguard_langgraph.pictures.style import INK, LINE, SOFT, TINY, WASH

_TICKS_UP = 4
_TICKS_ACROSS = 10


@dataclass(frozen=True, slots=True)
class Chart:
    """Where values are.

    Attributes:
        board: What is drawn on.
        area: Of the chart.
        across: Lowest and highest value from left to right.
        up: Lowest and highest value from bottom to top.
    """

    board: Board
    area: Area
    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: float) -> float:
        """Return where a value is from left to right; one that is too far is at the edge."""
        return _placed(value, self.across, self.area.left, self.area.right)

    def y(self, value: float) -> float:
        """Return where a value is from bottom to top; one that is too far is at the edge."""
        return _placed(value, self.up, self.area.bottom, self.area.top)

    def ground(self, *, ticks_across: bool = True, percent: bool = True) -> None:
        """Draw the ground and its scales.

        Args:
            ticks_across: Whether the scale across is written.
            percent: Whether the scale up is written in percent.
        """
        self.board.rectangle(self.area, WASH, order=0.5)
        for value in _round_values(*self.up, _TICKS_UP):
            y = self.y(value)
            self.board.line([self.area.left, self.area.right], [y, y], LINE, width=0.6, order=0.8)
            shown = f"{100 * value:.3g}%" if percent else f"{value:g}"
            self.board.write(self.area.left - 5, y, shown, size=TINY, colour=SOFT, side="right")
        for value in _round_values(*self.across, _TICKS_ACROSS) if ticks_across else ():
            self.board.write_if_free(
                self.x(value), self.area.bottom - 9, f"{value:g}", size=TINY, colour=SOFT,
                side="center",
            )  # fmt: skip

    def curve(
        self, points: Sequence[tuple[float, float]], colour: str, *, dots: bool = True
    ) -> None:
        """Draw a line through values."""
        xs, ys = [self.x(a) for a, _ in points], [self.y(b) for _, b in points]
        self.board.line(xs, ys, colour, width=2.0, order=3)
        for x, y in zip(xs, ys, strict=True) if dots else ():
            self.board.mark(x, y, "o", colour, size=3.5, order=3.2)

    def level(self, value: float, name: str, colour: str) -> None:
        """Draw a line from left to right, named at its right end."""
        y = self.y(value)
        self.board.line([self.area.left, self.area.right], [y, y], colour, dashed=True, order=2)
        self.board.write(self.area.right + 5, y, name, size=TINY, colour=colour, bold=True)

    def upright(self, value: float, colour: str = INK, *, dashed: bool = False) -> None:
        """Draw a line from bottom to top."""
        x = self.x(value)
        self.board.line(
            [x, x], [self.area.bottom, self.area.top], colour, width=1.4, dashed=dashed, order=2.5
        )


def _placed(value: float, scale: tuple[float, float], start: float, end: float) -> float:
    low, high = scale
    share = (value - low) / (high - low) if high > low else 0.5
    return start + min(max(share, 0.0), 1.0) * (end - start)


def _round_values(low: float, high: float, most: int) -> list[float]:
    """Return at most so many round values of a scale."""
    steps = (base * 10.0**power for power in range(-4, 6) for base in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= most)
    first = -(-low // step)
    values = [round((first + n) * step, 6) for n in range(most + 2)]
    return [value for value in values if value <= high + 1e-9]
