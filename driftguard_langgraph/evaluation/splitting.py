"""Holding a part of the data out, so that no figure is printed on what was fitted."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

HELD_OUT = 0.4
"""Share of the groups that is held out: enough of both to measure something on small data."""

Item = TypeVar("Item")


def split(
    items: Sequence[Item], group_of: Callable[[Item], str], seed: int
) -> tuple[list[Item], list[Item]]:
    """Return the items to fit and the items to measure on; groups stay together.

    Args:
        items: What to split; order is kept.
        group_of: Names the group of an item.
        seed: Of the shuffle.
    """
    groups = sorted({group_of(item) for item in items})
    random.Random(seed).shuffle(groups)  # noqa: S311 - a split, no secret
    held_out = set(groups[: round(HELD_OUT * len(groups))])
    return (
        [item for item in items if group_of(item) not in held_out],
        [item for item in items if group_of(item) in held_out],
    )
