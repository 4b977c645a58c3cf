"""Where the Postgres store's connections come from: given ones, or its own."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.errors import ConfigurationError, StoreUnavailable

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

MOST_CONNECTIONS = 10
"""Connections that one store opens at once; further threads wait for one of them."""

CONNECT_TIMEOUT = 10
"""Seconds to wait for a server that does not answer."""

_inherited: list[Any] = []
"""Connections of the parent process: to close one in a child would end the parent's."""


class ConnectionSource(ABC):
    """Lends connections to threads, one at a time each."""

    def __init__(self) -> None:
        self._pid = os.getpid()

    @abstractmethod
    def lend(self) -> AbstractContextManager[psycopg.Connection[Any]]:
        """Lend a connection in autocommit mode, outside a transaction."""

    @abstractmethod
    def close(self) -> None:
        """Close what was opened here; what was given stays open."""

    def _refuse_in_a_child(self) -> None:
        if self._pid != os.getpid():
            raise StoreUnavailable(
                "the connection to the memory was made before this process forked. Connect anew "
                "and make another store."
            )


class GivenConnection(ConnectionSource):
    """One connection, used by one thread at a time.

    Args:
        connection: Whose transaction control is taken over.

    Raises:
        ConfigurationError: It has a transaction under way.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        super().__init__()
        self._connection = connection
        self._lock = threading.RLock()
        _refuse_busy(connection)
        _take_over(connection)

    @contextmanager
    def lend(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend the connection; other threads wait."""
        self._refuse_in_a_child()
        with self._lock:
            yield self._connection

    def close(self) -> None:
        """Leave the connection to its owner."""


class GivenPool(ConnectionSource):
    """A pool of `psycopg_pool`, or what has its method `connection`."""

    def __init__(self, pool: ConnectionPool[Any]) -> None:
        super().__init__()
        self._pool = pool

    @contextmanager
    def lend(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection of the pool; it goes back as it was."""
        self._refuse_in_a_child()
        with self._pool.connection() as connection:
            before = connection.autocommit, connection.isolation_level
            _take_over(connection)
            try:
                yield connection
            finally:
                if not connection.closed:
                    connection.autocommit, connection.isolation_level = before

    def close(self) -> None:
        """Leave the pool to its owner."""


class OwnConnections(ConnectionSource):
    """Connections made when they are needed, and kept for the next call.

    Unlike a pool with threads of its own, a server that is down is reported at once, and a
    forked child connects anew by itself.

    Args:
        dsn: What `psycopg.connect` takes.
    """

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self._dsn = dsn
        self._lock = ForkSafeLock()
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._idle: list[psycopg.Connection[Any]] = []
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)

    @contextmanager
    def lend(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection that is alive, as far as this side can tell."""
        with self._lock:
            if self._pid != os.getpid():
                _inherited.extend(self._idle)
                self._begin()
            slots = self._slots
        with slots:
            connection = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection)

    def _take(self) -> psycopg.Connection[Any]:
        while True:
            with self._lock:
                if self._closed:
                    raise StoreUnavailable("the store is closed: open it again.")
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._connect()
            if _is_alive(connection):
                return connection
            connection.close()

    def _connect(self) -> psycopg.Connection[Any]:
        import psycopg
        from psycopg.conninfo import make_conninfo

        try:
            defaults = {
                "connect_timeout": CONNECT_TIMEOUT,
                "fallback_application_name": "driftguard",
            }
            conninfo = make_conninfo("", **{**defaults, **_parsed(self._dsn)})
            connection = psycopg.connect(conninfo, autocommit=True)
        except psycopg.ProgrammingError:
            # The message would quote the string, and with it the password.
            raise ConfigurationError(
                "postgres_dsn is no connection string: write it as "
                "postgresql://user@host:5432/database, or as host=... dbname=..."
            ) from None
        _take_over(connection)
        return connection

    def _give_back(self, connection: psycopg.Connection[Any]) -> None:
        from psycopg.pq import TransactionStatus

        usable = connection.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            keep = usable and not self._closed and self._pid == os.getpid()
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()

    def close(self) -> None:
        """Close the idle connections now, and those on loan when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        if self._pid != os.getpid():
            _inherited.extend(idle)
            return
        for connection in idle:
            connection.close()


def connection_source(given: object) -> ConnectionSource:
    """Return the source over a live connection or a pool; a source is one itself.

    Raises:
        ConfigurationError: It is neither.
    """
    import psycopg

    if isinstance(given, ConnectionSource):
        return given
    if isinstance(given, psycopg.Connection):
        return GivenConnection(given)
    lends: Any = given
    if hasattr(given, "getconn") and hasattr(given, "connection"):
        return GivenPool(lends)
    raise ConfigurationError(
        f"the store needs a psycopg.Connection or a psycopg_pool.ConnectionPool, not "
        f"{type(given).__name__}; its async methods use the same ones in worker threads."
    )


def _parsed(dsn: str) -> dict[str, Any]:
    from psycopg.conninfo import conninfo_to_dict

    return dict(conninfo_to_dict(dsn))


def _refuse_busy(connection: psycopg.Connection[Any]) -> None:
    from psycopg.pq import TransactionStatus

    if connection.info.transaction_status in {TransactionStatus.INTRANS, TransactionStatus.INERROR}:
        raise ConfigurationError(
            "the store was given a connection with a transaction under way: commit it first."
        )


def _take_over(connection: psycopg.Connection[Any]) -> None:
    """Let only the store begin transactions, in which each statement sees what is committed."""
    import psycopg

    if not connection.autocommit:
        connection.autocommit = True
    # Attributes of the client: nothing is sent.
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED


def _is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server is not known to have hung up; asks nobody, waits for nothing."""
    import psycopg

    with suppress(psycopg.Error):
        # The first look may find the server's farewell, the second the end of the stream.
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
        return not connection.closed
    return False
