"""One SQLite connection shared by threads: transactions, settings, and a search index."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from driftguard_langgraph.errors import StoreError, StoreUnavailable
from driftguard_langgraph.memory.stores import sqlite_queries as sql
from driftguard_langgraph.memory.stores.records import Vector
from driftguard_langgraph.memory.stores.sqlite_file import identify_of, sqlite_errors
from driftguard_langgraph.memory.stores.sqlite_rows import decode_vectors
from driftguard_langgraph.memory.stores.vector_index import Shelf, Shelves, VectorIndex

logger = logging.getLogger(__name__)

Values = Sequence[Any] | Mapping[str, Any]

READ_AT_ONCE = 4096
"""Vectors read per query while an index is filled: about 6 MB of 384 floats."""

SCRUBBED_SIZE = 2**30
"""Files up to this many bytes are rewritten after a deletion (about 9 ms per MB, in which
nobody else can write)."""

_inherited: list[sqlite3.Connection] = []
"""Connections of the parent process; SQLite forbids a child to use or even close them."""


class SqliteSession:
    """Serialises the threads of one process on one connection.

    Args:
        connection: The connection; its transaction control is taken over.

    Attributes:
        lock: Held by whoever uses the connection.
        reopen: Makes a new connection to the same path, for when the file was moved or the
            process has forked. Without it both are errors.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.lock = threading.RLock()
        self.reopen: Callable[[], sqlite3.Connection] | None = None
        self._depth = 0
        self._reading = False
        self._erased = False
        self._answers: dict[tuple[str, tuple[Any, ...]], list[sqlite3.Row]] = {}
        self._shelves = Shelves()
        self._generation = ""
        self._adopt(connection)
        _sessions.add(self)

    def _adopt(self, connection: sqlite3.Connection) -> None:
        connection.isolation_level = None
        connection.row_factory = sqlite3.Row
        self._connection: sqlite3.Connection | None = connection
        # Asked at the first use: a constructor must not block an event loop.
        self._path: str | None = None
        self._identity: object = None

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection: of this process, and to the file that bears the name now."""
        connection = self._connection
        if connection is None:
            if self.reopen is None:
                raise StoreUnavailable(
                    f"the connection to {self._path} was made before this process forked, or "
                    "its file was moved since. Connect anew and make another store."
                )
            connection = self.reopen()
            self._adopt(connection)
        if self._path is None:
            found = connection.execute("PRAGMA database_list").fetchone()
            self._path = str(found["file"] or "")
            self._identify = identify_of(connection)
            self._identity = self._identify(self._path)
        return connection

    def close(self) -> None:
        """Close the connection, if this process has one."""
        with self.lock:
            self.reopen = None
            if self._connection is not None:
                self._connection.close()

    def _follow_the_file(self) -> None:
        """Leave a file that no longer bears its name: what is written there is lost."""
        if not self._path or self._connection is None:
            return
        if self._identify(self._path) == self._identity:
            return
        logger.warning("The memory file %s was moved, deleted or replaced.", self._path)
        self._shelves.clear()
        if self.reopen is not None:
            self._connection.close()
        self._connection = None

    def leave_to_the_parent(self) -> None:
        """Give the inherited connection up; runs in a child process right after a fork."""
        self.lock = threading.RLock()
        if self._path != "" and self._connection is not None:
            _inherited.append(self._connection)
            self._connection = None
            self._depth = 0
            self._reading = False
            self._answers.clear()
            self._shelves.clear()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the database's write lock; commit at the end, or roll back."""
        with self.lock:
            depth = self._depth
            if depth == 0:
                self._follow_the_file()
            self._depth = depth + 1
            try:
                if depth:
                    self.write("begin a nested write", _savepoint("SAVEPOINT", depth))
                else:
                    self._run("begin a write", "BEGIN IMMEDIATE")
                yield
                self.write("commit", _savepoint("RELEASE", depth) or "COMMIT")
            except BaseException:
                # The first error is the one to report.
                with suppress(StoreError):
                    self._roll_back(depth)
                raise
            finally:
                self._depth = depth
            if depth == 0 and self._erased:
                self._scrub()

    def _roll_back(self, depth: int) -> None:
        with sqlite_errors("roll back"):
            if not self.connection.in_transaction:
                return
            # Row ids of a rolled-back transaction are given out again.
            self._shelves.clear()
            self._answers.clear()
            self.connection.execute(_savepoint("ROLLBACK TO", depth) or "ROLLBACK")
            if depth:
                self.connection.execute(_savepoint("RELEASE", depth))
            else:
                self._erased = False

    def _scrub(self) -> None:
        """Rewrite the file after deletions, so that no byte of what is gone stays behind.

        SQLite zeroes what it deletes, but not the copies that moving rows between pages
        left in spare room, nor those in the log.
        """
        self._erased = False
        wrong = "the file is too large to be rewritten by the way."
        try:
            small = Path(self._path or "").stat().st_size <= SCRUBBED_SIZE
            if small:
                self._run("overwrite what was deleted", "VACUUM")
            self._run("empty the log", "PRAGMA wal_checkpoint(TRUNCATE)")
            if small:
                return
        except (StoreUnavailable, OSError) as error:
            wrong = str(error)
        logger.warning(
            "Traces of deleted text may be left in %s: %s Run VACUUM on it while nobody writes.",
            self._path,
            wrong,
        )

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all that is read inside be of one moment; nothing can be written inside."""
        with self.lock:
            if self._depth or self._reading:
                yield
                return
            self._follow_the_file()
            self._run("begin to read", "BEGIN")
            self._reading = True
            try:
                yield
            finally:
                self._reading = False
                with suppress(StoreError):
                    self._run("end reading", "COMMIT")

    def _run(self, action: str, statement: str) -> None:
        with self.lock, sqlite_errors(action):
            self._answers.clear()
            self.connection.execute(statement)

    def read(self, action: str, statement: str, values: Values = ()) -> list[sqlite3.Row]:
        """Run a query and return all of its rows.

        Args:
            action: What is being done, for the error message.
            statement: The SQL.
            values: Its parameters.
        """
        with self.lock, sqlite_errors(action):
            if not self.connection.in_transaction:
                self._follow_the_file()
            return self.connection.execute(statement, values).fetchall()

    def look_up(self, action: str, statement: str, values: tuple[Any, ...]) -> list[sqlite3.Row]:
        """Run a query once for all of a transaction, as long as nothing is written; see `read`."""
        with self.lock:
            if not (self._depth or self._reading):
                return self.read(action, statement, values)
            known = self._answers.get((statement, values))
            if known is None:
                known = self._answers[statement, values] = self.read(action, statement, values)
            return known

    def write(self, action: str, statement: str, values: Values = ()) -> sqlite3.Cursor:
        """Run a statement that returns no rows; see `read`."""
        with self.lock, sqlite_errors(action):
            if self._depth and not self.connection.in_transaction:
                # Out of space or memory, SQLite ends a transaction by itself. What follows
                # must not be kept without what came before.
                raise StoreUnavailable(f"could not {action}: the transaction was rolled back.")
            cursor = self.connection.execute(statement, values)
            if cursor.rowcount > 0:
                # Not for a savepoint, which changes no answer.
                self._answers.clear()
            return cursor

    def meta(self, key: str) -> str | None:
        """Return a value of the `meta` table."""
        found = self.look_up("read the memory", sql.META, ())
        return next((str(row["value"]) for row in found if row["key"] == key), None)

    def has(self, what: Literal["wordings", "runs"]) -> bool:
        """Whether a table has a row; of a memory without vectors there is no telling."""
        found = self.look_up("read the memory", sql.META, ())
        return bool(found and found[0][what])

    def set_meta(self, key: str, value: str) -> None:
        """Set a value of the `meta` table."""
        self.write("write to the memory", "INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))

    def forget_vectors(self) -> None:
        """Make every process read all vectors anew: they were replaced."""
        self.set_meta("generation", str(int(self.meta("generation") or 0) + 1))

    def note_erasure(self) -> None:
        """Let nothing of what was deleted stay behind in the file after the commit."""
        self._erased = bool(self._path)

    def nearest(
        self, shelf: Shelf, vector: Vector, limit: int, floor: float | None
    ) -> tuple[list[sqlite3.Row], dict[int, float]]:
        """Return the wordings nearest to `vector`, in no order, and their cosines by id."""
        with self.snapshot():
            while True:
                hits = self._caught_up(shelf).search(vector, limit, floor)
                wanted = (str(list(hits)),)
                found = self.read("search", sql.WORDINGS_BY_ID, wanted) if hits else []
                if len(found) == len(hits):
                    return found, hits
                # Some were deleted, here or by another process.
                self._shelves.drop(shelf)

    def _caught_up(self, shelf: Shelf) -> VectorIndex:
        generation = self.meta("generation") or ""
        if generation != self._generation:
            self._shelves.clear()
            self._generation = generation
        index = self._shelves.open(shelf)
        while fresh := self.read("search", sql.FRESH_VECTORS, (*shelf, index.newest, READ_AT_ONCE)):
            self._shelves.extend(shelf, [row["id"] for row in fresh], decode_vectors(fresh))
            if len(fresh) < READ_AT_ONCE:
                break
        return index


def _savepoint(verb: str, depth: int) -> str:
    """Return a statement about the nested transaction at this depth; empty for the outermost."""
    return f"{verb} nested_{depth}" if depth else ""


_sessions: weakref.WeakSet[SqliteSession] = weakref.WeakSet()


def _after_fork() -> None:
    for session in _sessions:
        session.leave_to_the_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
