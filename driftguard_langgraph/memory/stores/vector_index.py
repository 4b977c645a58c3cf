"""Cosine search over rows that only grow, kept as matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores.vector_sketch import Sketch, products, products_of
from driftguard_langgraph.types import Kind, NodeType

Shelf = tuple[str, Kind, NodeType]
"""What is searched together: encoded namespace, kind, role."""

KEPT_BYTES = 256 * 2**20
"""Vectors are kept up to this size (about 170,000 of 384 floats). It is what a process that
serves many namespaces may grow to; reading a vector again costs about 2 µs."""


SKETCHED_FROM = 3072
"""Rows from which on a sketch is quicker than comparing all of them (measured)."""

SHORTEST_SKETCHED = 64
"""Length of vectors from which on a sketch is quicker."""

MOST_SKETCHED = 64
"""Rows that may be wanted of a sketch; for more, all are compared."""


class VectorIndex:
    """Unit vectors with ascending integer ids.

    Up to `SKETCHED_FROM` rows are searched exactly: one matrix product, 0.06 ms at 1,000
    rows of 384 floats on one core. Of more, a sketch picks out some hundreds, which are then
    compared exactly: 0.2 ms at 10,000 rows, 1 ms at 100,000 (14 ms for all of them). Not
    thread-safe: the owner holds a lock.
    """

    def __init__(self) -> None:
        self._ids = np.empty(0, np.int64)
        self._rows = np.empty((0, 0), np.float32)
        self._size = 0
        self._sketch = Sketch()

    @property
    def newest(self) -> int:
        """The largest id added so far, 0 while empty."""
        return int(self._ids[self._size - 1]) if self._size else 0

    @property
    def nbytes(self) -> int:
        """Bytes held in memory, spare room included."""
        return self._rows.nbytes + self._ids.nbytes + self._sketch.nbytes

    def extend(self, ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Append vectors.

        Args:
            ids: Ascending, and above `newest`.
            vectors: Shape `(len(ids), dimension)`; the dimension never changes.
        """
        size = self._size + len(ids)
        if size > len(self._ids):
            # Growing by half keeps the cost of appending one by one constant.
            room = max(size, len(self._ids) * 3 // 2)
            grown = np.empty((room, vectors.shape[1]), np.float32)
            if self._size:
                grown[: self._size] = self._rows[: self._size]
            self._rows = grown
            self._ids = np.resize(self._ids, room)
        self._rows[self._size : size] = vectors
        self._ids[self._size : size] = ids
        self._size = size
        if self._is_sketched:
            self._sketch.catch_up(self._rows[:size])

    @property
    def _is_sketched(self) -> bool:
        return self._size >= SKETCHED_FROM and self._rows.shape[1] >= SHORTEST_SKETCHED

    def search(
        self, vector: NDArray[np.float32], limit: int, floor: float | None = None
    ) -> dict[int, float]:
        """Return the ids of the nearest rows with their cosines, nearest first, ties by age.

        Args:
            vector: Unit vector of the index's dimension.
            limit: How many rows at most.
            floor: Lowest cosine; None for any.

        Raises:
            SchemaMismatch: The vector has another dimension than the rows.
        """
        if not self._size or limit < 1:
            return {}
        if vector.shape != self._rows.shape[1:]:
            raise SchemaMismatch(
                f"the memory holds vectors of {self._rows.shape[1]} numbers, the query has "
                f"{vector.size}: use the model the memory was embedded with, or call reembed()."
            )
        rows, ids = self._rows[: self._size], self._ids[: self._size]
        if self._is_sketched and limit <= MOST_SKETCHED:
            places = self._sketch.candidates(vector)
            scores, ids = products_of(rows, places, vector), ids[places]
        else:
            scores = products(rows, vector)
        if floor is not None:
            near = scores >= floor
            scores, ids = scores[near], ids[near]
        if limit < len(scores):
            # All that tie with the last place stay, so that age decides among them.
            last = len(scores) - limit
            near = scores >= np.partition(scores, last)[last]
            scores, ids = scores[near], ids[near]
        order = np.argsort(-scores, kind="stable")[:limit]
        return dict(zip(ids[order].tolist(), scores[order].tolist(), strict=True))


class Shelves:
    """The indexes of the shelves in use; the least recently used ones are given up.

    The shelves of the namespace that is being asked always stay, however large.

    Args:
        kept_bytes: How much all of them may take.
    """

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._bytes = 0
        self._indexes: dict[Shelf, VectorIndex] = {}

    def __len__(self) -> int:
        return len(self._indexes)

    def open(self, shelf: Shelf) -> VectorIndex:
        """Return the index of a shelf, empty if it is not known."""
        index = self._indexes.pop(shelf, None) or VectorIndex()
        self._indexes[shelf] = index
        return index

    def extend(self, shelf: Shelf, ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Append to the index of an open shelf; others may be given up for it."""
        index = self._indexes[shelf]
        before = index.nbytes
        index.extend(ids, vectors)
        self._bytes += index.nbytes - before
        if self._bytes > self._kept_bytes:
            self._trim(shelf[0])

    def _trim(self, namespace: str) -> None:
        for shelf in [shelf for shelf in self._indexes if shelf[0] != namespace]:
            if self._bytes <= self._kept_bytes:
                return
            self.drop(shelf)

    def drop(self, shelf: Shelf) -> None:
        """Forget one shelf."""
        index = self._indexes.pop(shelf, None)
        self._bytes -= index.nbytes if index else 0

    def clear(self) -> None:
        """Forget all."""
        self._indexes.clear()
        self._bytes = 0
