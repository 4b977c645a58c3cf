"""Scores of 0 to 100 as log-odds and back: evidence of several turns adds up there."""

from __future__ import annotations

import math

LIMIT = 6.0
"""Log-odds of the scores 0 and 100. It bounds what a single turn can say, so that a session
comes back from the longest excursion; measured, 5 to 8 do the same."""

_LOWEST = 1.0 / (1.0 + math.exp(LIMIT))


def score_of(level: float) -> float:
    """Return the score, 0..100, of log-odds; those beyond `LIMIT` count as it."""
    chance = 1.0 / (1.0 + math.exp(-bounded(level)))
    return min(100.0, max(0.0, 100.0 * (chance - _LOWEST) / (1.0 - 2.0 * _LOWEST)))


def level_of(score: float) -> float:
    """Return the log-odds of a score; the inverse of `score_of`."""
    chance = _LOWEST + min(100.0, max(0.0, score)) / 100.0 * (1.0 - 2.0 * _LOWEST)
    return bounded(math.log(chance / (1.0 - chance)))


def bounded(level: float) -> float:
    """Return log-odds that are not beyond `LIMIT`."""
    return min(LIMIT, max(-LIMIT, level))
