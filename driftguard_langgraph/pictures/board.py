"""The drawing board: an Axes whose unit is the point, and a figure without global state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path

from driftguard_langgraph.pictures.style import BODY, INK, PAPER
from driftguard_langgraph.pictures.words import families, width_of

POINTS = 72.0
"""Points of an inch."""

_DPI = 110.0
_LINE_HEIGHT = 1.25
"""Height of a line of text, in sizes of its letters."""


class Picture(Figure):
    """A figure that pyplot does not know: nothing has to be closed, and any notebook shows it.

    Args:
        width: In points.
        height: In points.
    """

    def __init__(self, width: float, height: float) -> None:
        size = (width / POINTS, height / POINTS)
        super().__init__(figsize=size, dpi=_DPI, facecolor=PAPER)
        FigureCanvasAgg(self)

    def savefig(self, fname: Any, *, transparent: bool | None = None, **kwargs: Any) -> None:
        """Write the picture to a file, as `Figure.savefig` does, on light paper by default."""
        kwargs.setdefault("facecolor", PAPER)
        super().savefig(fname, transparent=transparent, **kwargs)

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle on the board, in points from its lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Area) -> bool:
        """Whether the two have a point in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )


Side = Literal["left", "center", "right"]


class Board:
    """Draws on an Axes in points, and keeps labels apart.

    Args:
        ax: The Axes; its own ticks and frame are switched off.
        width: Of the board, in points.
        height: Of the board, in points.
    """

    def __init__(self, ax: Axes, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._ax = ax
        self._taken: list[Area] = []
        ax.set_axis_off()
        ax.set_xlim(0, width)
        ax.set_ylim(0, height)

    def write(
        self,
        x: float,
        y: float,
        line: str,
        *,
        size: float = BODY,
        colour: str = INK,
        bold: bool = False,
        side: Side = "left",
        paper: bool = False,
        order: float = 5,
    ) -> None:
        """Write one line of readable text.

        Args:
            x: Where its `side` is.
            y: Where its middle is.
            line: What `words.readable` made of a text, or words of our own.
            size: Size of the letters, in points.
            colour: Of the letters.
            bold: Whether they are bold.
            side: Which end of the line `x` is.
            paper: Whether it stands on a piece of paper, so that it reads over other things.
            order: What has more is drawn later.
        """
        under = {"facecolor": PAPER, "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
        self._ax.text(
            x, y, line, size=size, color=colour, weight="bold" if bold else "normal", ha=side,
            va="center_baseline", family=list(families()), parse_math=False, usetex=False,
            zorder=order, bbox=under if paper else None,
        )  # fmt: skip
        self._taken.append(area_of(x, y, line, size, bold, side))

    def write_if_free(
        self, x: float, y: float, line: str, *, size: float = BODY, bold: bool = False,
        side: Side = "left", colour: str = INK, paper: bool = False,
    ) -> bool:  # fmt: skip
        """Write a line as `write` does, unless something is written there.

        Returns:
            Whether it was written.
        """
        wanted = area_of(x, y, line, size, bold, side)
        if any(wanted.meets(area) for area in self._taken):
            return False
        self.write(x, y, line, size=size, bold=bold, side=side, colour=colour, paper=paper)
        return True

    def keep_free(self, area: Area) -> None:
        """Let nothing be written in an area by `write_if_free`."""
        self._taken.append(area)

    def rectangle(self, area: Area, colour: str, *, alpha: float = 1.0, order: float = 1) -> None:
        """Fill a rectangle."""
        self._ax.add_artist(
            Rectangle(
                (area.left, area.bottom), area.right - area.left, area.top - area.bottom,
                facecolor=colour, edgecolor="none", alpha=alpha, zorder=order,
            )
        )  # fmt: skip

    def card(self, area: Area, edge: str, *, order: float = 3) -> None:
        """Draw a white card with round corners."""
        self._ax.add_artist(
            FancyBboxPatch(
                (area.left, area.bottom), area.right - area.left, area.top - area.bottom,
                boxstyle="round,pad=0,rounding_size=5", facecolor=PAPER, edgecolor=edge,
                linewidth=1.2, zorder=order,
            )
        )  # fmt: skip

    def ribbon(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        width: float,
        colour: str,
        *,
        alpha: float,
        order: float = 2,
    ) -> None:
        """Draw a band that flows from left to right, as wide everywhere.

        Args:
            start: Middle of its left end.
            end: Middle of its right end.
            width: In points.
            colour: Its colour.
            alpha: How much it covers, 0..1.
            order: What has more is drawn later.
        """
        (x0, y0), (x1, y1), half = start, end, width / 2
        bend = (x0 + x1) / 2
        points = [
            (x0, y0 + half), (bend, y0 + half), (bend, y1 + half), (x1, y1 + half),
            (x1, y1 - half), (bend, y1 - half), (bend, y0 - half), (x0, y0 - half),
            (x0, y0 + half),
        ]  # fmt: skip
        codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
        self._ax.add_artist(
            PathPatch(
                Path(points, codes), facecolor=colour, edgecolor="none", alpha=alpha, zorder=order
            )
        )

    def line(
        self, xs: Sequence[float], ys: Sequence[float], colour: str, *, width: float = 1.0,
        dashed: bool = False, order: float = 3,
    ) -> None:  # fmt: skip
        """Draw a line through points."""
        style = (0, (4, 3)) if dashed else "solid"
        self._ax.plot(
            xs, ys, color=colour, linewidth=width, linestyle=style, zorder=order, marker="",
            solid_capstyle="round", solid_joinstyle="round",
        )  # fmt: skip

    def mark(
        self, x: float, y: float, shape: str, colour: str, *, size: float = 6.0,
        hollow: bool = False, order: float = 4,
    ) -> None:  # fmt: skip
        """Draw a marker of a shape that matplotlib names, `size` points wide."""
        face = PAPER if hollow else colour
        self._ax.plot(
            [x], [y], marker=shape, markersize=size, markerfacecolor=face, markeredgecolor=colour,
            markeredgewidth=1.2, linestyle="none", zorder=order,
        )  # fmt: skip

    def fill(
        self, xs: Sequence[float], low: float, highs: Sequence[float], colour: str, *,
        alpha: float, order: float = 2,
    ) -> None:  # fmt: skip
        """Fill between a level and a line."""
        self._ax.fill_between(
            xs, low, highs, facecolor=colour, edgecolor="none", alpha=alpha, zorder=order
        )

    def hatched(self, area: Area, colour: str, *, order: float = 1) -> None:
        """Fill a rectangle with slanted lines."""
        self._ax.add_artist(
            Rectangle(
                (area.left, area.bottom), area.right - area.left, area.top - area.bottom,
                facecolor="none", edgecolor=colour, linewidth=0, hatch="////", alpha=0.35,
                zorder=order,
            )
        )  # fmt: skip

    def heat(self, area: Area, rows: Sequence[Sequence[float]], colours: str) -> None:
        """Draw a grid of shares of 1 as colours.

        Args:
            area: Where.
            rows: The values, the lowest row first.
            colours: Name of a map of matplotlib.
        """
        across, up = len(rows[0]), len(rows)
        xs = [area.left + (area.right - area.left) * n / across for n in range(across + 1)]
        ys = [area.bottom + (area.top - area.bottom) * n / up for n in range(up + 1)]
        self._ax.pcolormesh(
            xs, ys, rows, cmap=colours, vmin=0.0, vmax=1.0, zorder=1, edgecolors="face",
            linewidth=0.2,
        )  # fmt: skip


def area_of(x: float, y: float, line: str, size: float, bold: bool, side: Side) -> Area:
    """Return what a line of text covers; see `Board.write`."""
    width = width_of(line, size, bold)
    left = x - {"left": 0.0, "center": width / 2, "right": width}[side]
    half = size * _LINE_HEIGHT / 2
    return Area(left - 2, y - half, left + width + 2, y + half)


def board_for(ax: Axes | None, width: float, height: float) -> tuple[Board, Figure]:
    """Return a board on an Axes, or on one that fills a new picture.

    Args:
        ax: Where to draw; None makes a `Picture` of the wanted size.
        width: Of a new picture, in points.
        height: Of a new picture, in points.

    Returns:
        The board, as large as there is room, and the figure it is in.
    """
    if ax is None:
        picture = Picture(width, height)
        return Board(picture.add_axes((0.0, 0.0, 1.0, 1.0)), width, height), picture
    points = POINTS / ax.figure.dpi
    return Board(ax, ax.bbox.width * points, ax.bbox.height * points), ax.figure.figure
