"""Search by vector in the Postgres store: exact in small shelves, by the index in large ones.

Measured at 384 floats on one core: looking at a vector takes 1.3 µs, so that 2,000 of them
take about as long as the index does, whose cost is that of the vectors it comes across, 25 µs
each, until enough of them are of the shelf. A tenant that is a small part of the table is
faster, and has perfect recall, without the index.

Without the extension the vectors of a shelf are read once into this process and then only
extended, as the SQLite store does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.memory.stores import postgres_queries as sql
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.postgres_keys import owner_of, shelf_of
from driftguard_langgraph.memory.stores.postgres_session import PostgresSession, Row, fetch
from driftguard_langgraph.memory.stores.postgres_vectors import VectorColumn, decode_arrays
from driftguard_langgraph.memory.stores.records import Vector, Wording
from driftguard_langgraph.memory.stores.vector_index import Shelf, Shelves, VectorIndex
from driftguard_langgraph.types import Kind, Namespace, NodeType

if TYPE_CHECKING:
    import psycopg

EXACT_UP_TO = 2000
"""Vectors of a shelf that are always all looked at."""

EXACT_PER_ROOT = 30
"""A shelf is also looked at whole while it has fewer vectors than this many times the root of
all there are: the break-even of `n * 1.3 µs` with `48 * total / n * 25 µs`."""

COUNTED_EVERY = 200
"""Searches of a shelf after which its vectors are counted again."""

KNOWN_SHELVES = 10_000
"""Shelves whose size is kept in mind."""

BEAM = 100
"""Candidates that the index keeps at once (`hnsw.ef_search`)."""

REACH = 3
"""The index is asked for this many times the limit: it finds them only roughly in order."""

LEAST_REACH = 48
"""And for no fewer than this: the first few alone miss one of ten where the filter is tight."""

READ_AT_ONCE = 4096
"""Vectors read per query without the extension: about 12 MB of 384 floats."""


class PostgresSearch:
    """Finds the nearest wordings.

    Args:
        session: Runs the statements.
    """

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._lock = ForkSafeLock()
        self._sizes: dict[UUID, tuple[bool, int]] = {}
        self._shelves = Shelves()
        self._generation = ""

    def nearest(
        self,
        column: VectorColumn,
        where: tuple[Namespace, Kind, NodeType],
        vector: Vector,
        limit: int,
    ) -> list[Wording]:
        """Return the wordings nearest to `vector`, nearest first.

        Args:
            column: How the vectors are kept.
            where: Namespace, kind and role.
            vector: Unit vector.
            limit: How many wordings at most.
        """
        if limit < 1:
            return []
        # Before any lock of this process: who holds the one may be waiting for the other.
        self._session.lock(owner_of(where[0]))
        if column.schema is None:
            return self._nearest_here(where, vector, limit)
        return self._nearest_there(column, where, vector, limit)

    def _nearest_there(
        self,
        column: VectorColumn,
        where: tuple[Namespace, Kind, NodeType],
        vector: Vector,
        limit: int,
    ) -> list[Wording]:
        shelf = shelf_of(*where)
        values = {"vector": vector, "shelf": shelf, "limit": limit, "reach": limit}
        with self._session.connection("search") as connection:
            found: list[Row] = []
            if self._is_large(connection, shelf):
                reach = max(REACH * limit, LEAST_REACH)
                with connection.transaction():
                    connection.execute(sql.TUNE.encode(), (str(min(max(BEAM, reach), 1000)),))
                    roughly = {**values, "reach": reach}
                    found = fetch(connection, column.indexed(vector.size), roughly)
            if len(found) < limit:
                found = fetch(connection, column.exact(), values)
        return [rows.decode_wording(row, row["similarity"]) for row in found]

    def _is_large(self, connection: psycopg.Connection[Any], shelf: UUID) -> bool:
        """Whether the index pays for a shelf; counted now and then, as shelves grow slowly."""
        large, left = self._sizes.get(shelf, (False, 0))
        if left == 0:
            values = {"shelf": shelf, "least": EXACT_UP_TO, "root": EXACT_PER_ROOT}
            [found] = fetch(connection, sql.IS_LARGE, values)
            large, left = bool(found["large"]), COUNTED_EVERY
        if len(self._sizes) >= KNOWN_SHELVES:
            self._sizes.clear()
        self._sizes[shelf] = large, left - 1
        return large

    def _nearest_here(
        self, where: tuple[Namespace, Kind, NodeType], vector: Vector, limit: int
    ) -> list[Wording]:
        namespace, kind, role = where
        shelf: Shelf = (rows.encode_namespace(namespace), kind, role)
        with self._session.connection("search") as connection, self._lock:
            while True:
                index = self._caught_up(connection, shelf, shelf_of(*where))
                hits = index.search(vector, limit)
                found = fetch(connection, sql.WORDINGS_BY_ID, (list(hits),))
                if len(found) == len(hits):
                    break
                # Some were deleted, or are in a block that was given up.
                self._shelves.drop(shelf)
        found.sort(key=lambda row: (-hits[row["id"]], row["id"]))
        return [rows.decode_wording(row, hits[row["id"]]) for row in found]

    def _caught_up(
        self, connection: psycopg.Connection[Any], shelf: Shelf, key: UUID
    ) -> VectorIndex:
        index = self._shelves.open(shelf)
        while True:
            values = (key, index.newest, READ_AT_ONCE)
            fresh = fetch(connection, sql.FRESH_VECTORS, values)
            if fresh[0]["generation"] != self._generation:
                # All were replaced: what is newer than the newest one known is not enough.
                self._generation = fresh[0]["generation"]
                self._shelves.clear()
                index = self._shelves.open(shelf)
                continue
            vectors: Sequence[Row] = [row for row in fresh if row["id"] is not None]
            if vectors:
                arrays = decode_arrays([row["vector"] for row in vectors])
                self._shelves.extend(shelf, [row["id"] for row in vectors], arrays)
            if len(vectors) < READ_AT_ONCE:
                return index
