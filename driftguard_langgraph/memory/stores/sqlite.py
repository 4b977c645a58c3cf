"""The default store: one SQLite file, one transaction per record, live across processes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, get_args

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.memory.stores.paths import checked_path
from driftguard_langgraph.memory.stores.sqlite_file import Durability
from driftguard_langgraph.memory.stores.sqlite_open import connect
from driftguard_langgraph.memory.stores.sqlite_tables import SqliteTables, in_memory


class SqliteMemoryStore(SqliteTables):
    """Memory in one SQLite database (WAL): safe for threads and processes.

    Every record is one transaction, nothing that is kept is ever rewritten, and what
    another process recorded is seen by the next call. Vectors are searched in a matrix that
    is filled once and then only extended (see `vector_index`).

    Args:
        connection: A live connection, made with `check_same_thread=False` if the store is
            used from several threads or by its async methods. The store takes over its
            transaction control (`isolation_level` becomes None) and its `row_factory`; it
            does not close it.
        durability: What a power failure may take: `normal`, at worst the newest records;
            `full`, nothing that was acknowledged.

    Raises:
        ConfigurationError: The connection opens transactions by itself
            (`autocommit=False`), is in one, or is none; or `durability` is neither.

    Example:
        ```python
        with SqliteMemoryStore.from_conn_string("memory.sqlite3") as store:
            guard = DriftGuard(store=store)
        ```
    """

    def __init__(
        self, connection: sqlite3.Connection, *, durability: Durability = "normal"
    ) -> None:
        if not isinstance(connection, sqlite3.Connection):
            raise ConfigurationError(
                f"connection must be a sqlite3.Connection, not {type(connection).__name__}: of a "
                "path, make a store with SqliteMemoryStore.open(path)."
            )
        super().__init__(connection)
        self._durability = _checked_durability(durability)

    @classmethod
    def open(cls, path: str | Path, *, durability: Durability = "normal") -> Self:
        """Open (or create) a memory file and bring it to the newest schema.

        A damaged file is refused and left as it is. One that may only be read is read, with a
        warning in the log: recording fails then. If the file is moved or deleted later, or the
        process forks, the store opens the path anew by itself.

        Args:
            path: The file, or `":memory:"`.
            durability: What a power failure may take; see the class.

        Raises:
            SchemaMismatch: The file belongs to another application or a newer version.
            CorruptStore: The file is damaged.
            StoreUnavailable: The file cannot be created or read.
        """
        if str(path) == ":memory:":
            store = cls(in_memory())
            store.setup()
        else:
            file = checked_path(path).absolute()
            _checked_durability(durability)
            store = cls(connect(file, durability), durability=durability)
            store._session.reopen = lambda: connect(file, durability)
        store._own()
        return store

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, conn_string: str, *, durability: Durability = "normal"
    ) -> Iterator[Self]:
        """Open a memory file for the length of a `with` block; see `open`."""
        with cls.open(conn_string, durability=durability) as store:
            yield store


def _checked_durability(given: object) -> Durability:
    for known in get_args(Durability):
        if given == known:
            return known  # type: ignore[no-any-return]
    raise ConfigurationError(f"durability={given!r} must be 'normal' or 'full'.")
