"""Memory in PostgreSQL: many machines, one memory, searched by pgvector."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from driftguard_langgraph.memory.stores.postgres_connections import (
    ConnectionSource,
    OwnConnections,
    connection_source,
)
from driftguard_langgraph.memory.stores.postgres_errors import require_psycopg
from driftguard_langgraph.memory.stores.postgres_schema import migrate, schema_version
from driftguard_langgraph.memory.stores.postgres_session import PostgresSession
from driftguard_langgraph.memory.stores.postgres_tables import PostgresTables

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

logger = logging.getLogger(__name__)

_WARNED: set[str] = set()
"""Memories without the extension of which this process was told."""


class PostgresMemoryStore(PostgresTables):
    """Memory in a PostgreSQL database: safe for threads, processes and machines.

    Every record is one transaction; writers of one namespace wait for each other, those of
    others do not, and nobody waits to read. Vectors are searched by pgvector (0.8 or newer),
    exactly while a namespace is small and by an HNSW index when it is large; without the
    extension they are searched exactly in this process.

    What is deleted is gone for every reader at once. Its bytes leave the server's files with
    the next `VACUUM`, and its write-ahead log and backups as the server's owner keeps them.

    Args:
        connection: A live `psycopg.Connection` or a `psycopg_pool.ConnectionPool`. The store
            takes over the transaction control of a connection while it uses it, and closes
            none. Tables, named `driftguard_*`, go to the first schema of its `search_path`.

    Raises:
        MissingExtra: psycopg is not installed.
        ConfigurationError: It is something else, or has a transaction under way.

    Example:
        ```python
        with PostgresMemoryStore.from_conn_string("postgresql://host/agents") as store:
            guard = DriftGuard(store=store)
        ```
    """

    def __init__(
        self, connection: psycopg.Connection[Any] | ConnectionPool[Any] | ConnectionSource
    ) -> None:
        require_psycopg()
        super().__init__(PostgresSession(connection_source(connection)))

    @classmethod
    def open(cls, dsn: str) -> Self:
        """Connect to a database, with as many connections as threads need.

        A connection that is lost is made anew by the next call, and so it is in a child
        process after a fork.

        Args:
            dsn: What `psycopg.connect` takes; what it does not say, libpq's `PG*` variables do.

        Raises:
            ConfigurationError: It is no connection string.
            SchemaMismatch: The tables belong to another application or a newer version.
            StoreUnavailable: The server cannot be reached, or refuses.
        """
        store = cls.connect(dsn)
        try:
            store.setup()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def connect(cls, dsn: str) -> Self:
        """Make a store that connects at its first use, and that `setup()` was not called on.

        Args:
            dsn: As for `open`.
        """
        source = OwnConnections(dsn)
        store = cls(source)
        weakref.finalize(store, source.close)
        return store

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str) -> Iterator[Self]:
        """Connect to a database for the length of a `with` block; see `open`."""
        with cls.open(conn_string) as store:
            yield store

    def schema_version(self) -> int:
        """Return the version of the memory's schema, 0 while there is none.

        Raises:
            SchemaMismatch: The tables belong to another application or a newer version.
        """
        return schema_version(self._session)

    def setup(self) -> None:
        """Create or migrate the schema. Calling it again does nothing."""
        migrate(self._session)
        self.__dict__.pop("_column", None)
        if self._column.schema is None and self.location() not in _WARNED:
            _WARNED.add(self.location())
            logger.warning(
                "%s has no vector extension of version 0.8 or newer: vectors are read into this "
                "process and searched exactly. Install pgvector and run CREATE EXTENSION vector; "
                "the next setup() makes use of it.",
                self.location(),
            )

    def close(self) -> None:
        """Close the connections that the store opened. Calling it again does nothing."""
        self._session.source.close()

    def location(self) -> str:
        """Say which database and schema, on which server."""
        with self._session.connection("locate the memory") as connection:
            info = connection.info
            return f"PostgreSQL database {info.dbname} on {info.host}:{info.port}"
