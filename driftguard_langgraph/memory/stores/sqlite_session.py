"""One SQLite connection shared by threads: transactions, settings, and a search index."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from driftguard_langgraph.memory.stores.records import Vector
from driftguard_langgraph.memory.stores.sqlite_file import sqlite_errors
from driftguard_langgraph.memory.stores.vector_index import VectorIndex
from driftguard_langgraph.types import Kind, NodeType

Values = Sequence[Any] | Mapping[str, Any]
Shelf = tuple[str, Kind, NodeType]
"""What is searched together: encoded namespace, kind, role."""


class SqliteSession:
    """Serialises the threads of one process on one connection.

    Args:
        connection: A connection in autocommit mode.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.lock = threading.RLock()
        self._depth = 0
        self._indexes: dict[Shelf, VectorIndex] = {}
        self._generation = ""

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the database's write lock; commit at the end, or roll back."""
        with self.lock:
            if self._depth == 0:
                self.write("begin a write", "BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
                if self._depth == 1:
                    self.write("commit", "COMMIT")
            except BaseException:
                if self._depth == 1:
                    self._roll_back()
                raise
            finally:
                self._depth -= 1

    def _roll_back(self) -> None:
        # Row ids of a rolled-back transaction are given out again.
        self._indexes.clear()
        if self.connection.in_transaction:
            self.write("roll back", "ROLLBACK")

    def read(self, action: str, sql: str, values: Values = ()) -> list[sqlite3.Row]:
        """Run a query and return all of its rows.

        Args:
            action: What is being done, for the error message.
            sql: The statement.
            values: Its parameters.
        """
        with self.lock, sqlite_errors(action):
            return self.connection.execute(sql, values).fetchall()

    def write(self, action: str, sql: str, values: Values = ()) -> sqlite3.Cursor:
        """Run a statement that returns no rows; see `read`."""
        with self.lock, sqlite_errors(action):
            return self.connection.execute(sql, values)

    def meta(self, key: str) -> str | None:
        """Return a value of the `meta` table."""
        found = self.read("read the memory", "SELECT value FROM meta WHERE key=?", (key,))
        return str(found[0]["value"]) if found else None

    def set_meta(self, key: str, value: str) -> None:
        """Set a value of the `meta` table."""
        self.write("write to the memory", "INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))

    def forget_vectors(self) -> None:
        """Make every process read the vectors anew: some were removed or replaced."""
        self.set_meta("generation", str(int(self.meta("generation") or 0) + 1))

    def nearest(self, shelf: Shelf, vector: Vector, limit: int) -> dict[int, float]:
        """Return the ids of the nearest wordings with their cosines, nearest first."""
        with self.lock:
            generation = self.meta("generation") or ""
            if generation != self._generation:
                self._indexes.clear()
                self._generation = generation
            index = self._indexes.setdefault(shelf, VectorIndex(len(vector)))
            fresh = self.read(
                "search",
                "SELECT id, vector FROM wordings "
                "WHERE namespace=? AND kind=? AND role=? AND id>? ORDER BY id",
                (*shelf, index.newest),
            )
            for row in fresh:
                index.add(row["id"], np.frombuffer(row["vector"], "<f4"))
            return dict(index.search(vector, limit))
