"""A short form of many vectors, by which the few that can be nearest are picked out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

COLUMNS = 64
"""Length of the short form. Of 5,700 real sentences' vectors (384 numbers) the 5 nearest are
among the candidates with recall@5 .994."""

MOST_CANDIDATES = 1024
_FEWEST_CANDIDATES = 256
_SHARE = 50
"""One row in so many is picked out, to be compared in full, within these bounds."""

_SAMPLE = 4096
"""Rows from which directions are learnt, and scores by which the cut is guessed."""

_REFIT = 4
"""The directions are learnt anew when there are so many times more rows."""

_BLOCK = 2048
"""Rows whose short forms lie together, column by column: a product with them streams through
memory two to three times faster than one with rows of `COLUMNS` numbers (measured), and each
block is too small for OpenBLAS to share it with other threads."""

_ONE_THREAD = 400_000
"""Numbers in a matrix that OpenBLAS multiplies in the calling thread. It shares larger products
(from 460,800 on) with its other threads, which then wait in busy loops for more: the time saved
is small, and all of a review costs twice the processor time."""


def products(rows: Matrix, vector: Matrix) -> Matrix:
    """Return the product of each row with a vector, computed in this thread alone."""
    step = max(1, _ONE_THREAD // max(1, rows.shape[1]))
    found = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), step):
        np.dot(rows[start : start + step], vector, out=found[start : start + step])
    return found


class Sketch:
    """The directions in which vectors differ most, and where each of them lies along these.

    Learning the directions takes 50 ms, now and then; a row is added by one small product.
    """

    def __init__(self) -> None:
        self._basis: Matrix = np.empty((0, 0), np.float32)
        self._heads: Matrix = np.zeros((0, COLUMNS, _BLOCK), np.float32)
        self._learnt_from = 0
        self._size = 0

    @property
    def nbytes(self) -> int:
        """Bytes held in memory, spare room included."""
        return self._heads.nbytes + self._basis.nbytes

    def catch_up(self, rows: Matrix) -> None:
        """Take in the rows that are new.

        Args:
            rows: All rows, those of earlier calls first.
        """
        size = len(rows)
        if size > _REFIT * self._learnt_from:
            sample = rows[:: max(1, size // _SAMPLE)]
            _, directions = np.linalg.eigh(sample.T @ sample)
            self._basis = np.ascontiguousarray(directions[:, : -COLUMNS - 1 : -1], np.float32)
            self._learnt_from, self._size = size, 0
        blocks = -(-size // _BLOCK)
        if blocks > len(self._heads):
            # Zeros, because the rest of the last block takes part in every product.
            grown = np.zeros((blocks * 3 // 2, COLUMNS, _BLOCK), np.float32)
            grown[: len(self._heads)] = self._heads
            self._heads = grown
        while self._size < size:
            block, place = divmod(self._size, _BLOCK)
            part = rows[self._size : (block + 1) * _BLOCK]
            self._heads[block, :, place : place + len(part)] = (part @ self._basis).T
            self._size += len(part)

    def candidates(self, vector: Matrix) -> NDArray[np.intp]:
        """Return the places of the rows that seem nearest, in order of age."""
        wanted = min(max(self._size // _SHARE, _FEWEST_CANDIDATES), MOST_CANDIDATES)
        blocks = self._heads[: -(-self._size // _BLOCK)]
        scores = np.asarray((vector @ self._basis) @ blocks, np.float32).ravel()[: self._size]
        step = max(1, self._size // _SAMPLE)
        sample = scores[::step]
        found = np.flatnonzero(scores >= _nth_best(sample, wanted // step))
        if not wanted // 2 <= len(found) <= 2 * wanted:
            # What was sampled was not like the rest.
            found = np.flatnonzero(scores >= _nth_best(scores, wanted))
        return found


def _nth_best(scores: Matrix, n: int) -> np.float32:
    place = len(scores) - max(1, n)
    return np.float32(np.partition(scores, place)[place])
