"""Sharing whole numbers out over others in proportion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

SHARED_AMONG = 100
"""Columns over which a row is shared out, if these hold it."""

Possible = Callable[[int, int], bool]
"""Whether some of a row may go into a column."""


def fitted(counts: list[int], total: int) -> list[int]:
    """Return counts whose sum is at most a total, each at least 1 as far as it reaches."""
    if sum(counts) <= total:
        return list(counts)
    kept = [0] * len(counts)
    strongest = sorted(filter(counts.__getitem__, range(len(counts))), key=lambda n: -counts[n])
    for place in strongest[:total]:
        kept[place] = 1
    left = [count - each for count, each in zip(counts, kept, strict=True)]
    for (_, place), more in spread([total - sum(kept)], left).items():
        kept[place] += more
    return kept


def spread(
    rows: Sequence[int], columns: Sequence[int], possible: Possible = lambda row, column: True
) -> dict[tuple[int, int], int]:
    """Share rows out over columns in proportion, so that no sum is exceeded.

    The cost is bounded: where there are many columns, a row is shared out over the next ones.

    Args:
        rows: How much there is of each.
        columns: How much each takes.
        possible: Whether some of a row may go into a column.
    """
    shares: dict[tuple[int, int], int] = {}
    room = {place: count for place, count in enumerate(columns) if count}
    for row, count in enumerate(rows):
        near = _next(room, count, partial(possible, row)) if count else {}
        total = sum(near.values())
        wanted = min(count, total)
        part = {place: wanted * space // total for place, space in near.items()}
        remainder = {place: wanted * space % total for place, space in near.items()}
        short = wanted - sum(part.values())
        for place in sorted(near, key=lambda place: -remainder[place])[:short]:
            part[place] += 1
        for place, each in part.items():
            if each:
                shares[row, place] = each
                room[place] -= each
                if not room[place]:
                    del room[place]
    return shares


def _next(room: dict[int, int], wanted: int, possible: Callable[[int], bool]) -> dict[int, int]:
    """Return the first columns with room: so many that a row fits, and not all of very many."""
    near: dict[int, int] = {}
    space = 0
    for place, count in room.items():
        if space >= wanted and len(near) >= SHARED_AMONG:
            break
        if possible(place):
            near[place] = count
            space += count
    return near
