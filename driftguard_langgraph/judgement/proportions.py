"""Shares and their differences, with the uncertainty they have. Pure.

Wilson's score interval for one share, and Newcombe's hybrid of two of them for the difference
of independent shares (method 10 of R. G. Newcombe, "Interval estimation for the difference
between independent proportions: comparison of eleven methods", Statistics in Medicine 17,
1998, 873-890). Both hold their level with few observations and with none or all failed, where
the textbook's interval does not, and never leave the possible range.
"""

from __future__ import annotations

from math import hypot, sqrt
from statistics import NormalDist
from typing import NamedTuple

LEVEL = 0.95
"""Confidence level of every interval."""

_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


class Interval(NamedTuple):
    """The ends of a confidence interval."""

    low: float
    high: float


def wilson(hits: int, total: int) -> Interval:
    """Return Wilson's score interval of a share, without correction for continuity.

    Args:
        hits: How often it was so.
        total: Of how many, at least 1.
    """
    share, square = hits / total, _Z * _Z
    centre = share + square / (2 * total)
    spread = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total))
    scale = 1 + square / total
    # At the ends of the range the bound is exact; rounding must not step over the share.
    low = 0.0 if hits == 0 else (centre - spread) / scale
    high = 1.0 if hits == total else (centre + spread) / scale
    return Interval(low, high)


def difference(hits: int, total: int, other_hits: int, other_total: int) -> Interval:
    """Return Newcombe's hybrid score interval of the difference of two independent shares.

    Args:
        hits: How often it was so in the first sample.
        total: Size of the first sample, at least 1.
        other_hits: How often in the second, whose share is subtracted.
        other_total: Size of the second, at least 1.
    """
    share, other = hits / total, other_hits / other_total
    first, second = wilson(hits, total), wilson(other_hits, other_total)
    return Interval(
        share - other - hypot(share - first.low, second.high - other),
        share - other + hypot(first.high - share, other - second.low),
    )
