"""Statements, transactions and locks of the Postgres store, thread by thread.

Writers of one namespace wait for each other, those of different namespaces do not: a block
takes a namespace's advisory lock when it first reads or writes there. Each also shares a lock
of the whole memory, which whatever concerns all namespaces takes for itself alone. Both end
with the transaction, so a killed process leaves none behind.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from driftguard_langgraph.memory.stores.postgres_connections import ConnectionSource
from driftguard_langgraph.memory.stores.postgres_errors import postgres_errors, refuse_broken
from driftguard_langgraph.memory.stores.postgres_vectors import vector_dumper

if TYPE_CHECKING:
    import psycopg

Row = dict[str, Any]
Values = Sequence[Any] | Mapping[str, Any]

LOCK_TIMEOUT = 30.0
"""Seconds to wait for another writer. One record holds the lock for some milliseconds, so only
a stuck process makes anybody wait this long."""

IDLE_TIMEOUT = 300.0
"""Seconds after which the server ends a block whose process says nothing any more: a machine
that vanished must not hold its locks."""

WHOLE = "the whole memory"
"""Stands for all namespaces where a lock is asked for."""

_KEY = "hashtextextended('driftguard ' || coalesce(current_schema(), '') || {}, 0)"
_WHOLE_KEY, _ONE_KEY = _KEY.format("''"), _KEY.format("%(whose)s")
_PATIENCE = """
    set_config('lock_timeout', %(patience)s, true),
    set_config('idle_in_transaction_session_timeout', %(idle)s, true)
"""
_LOCK_WHOLE = f"SELECT {_PATIENCE}, pg_advisory_xact_lock({_WHOLE_KEY})"
_LOCK_ONE = f"""
    SELECT {_PATIENCE}, pg_advisory_xact_lock_shared({_WHOLE_KEY}),
           pg_advisory_xact_lock({_ONE_KEY})
"""


@dataclass(slots=True)
class _Block:
    """The transaction of a thread, and what it has locked."""

    connection: psycopg.Connection[Any]
    locked: set[str] = field(default_factory=set)


class PostgresSession:
    """Runs statements: alone, or in the transaction of the calling thread.

    Args:
        source: Lends connections.
    """

    def __init__(self, source: ConnectionSource) -> None:
        self.source = source
        self._threads = threading.local()

    @property
    def _block(self) -> _Block | None:
        block: _Block | None = getattr(self._threads, "block", None)
        return block

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Run a transaction; commit at the end, or roll back."""
        block = self._block
        if block is not None:
            with self._nested(block):
                yield
            return
        with postgres_errors("write"), self.source.lend() as connection:
            self._threads.block = _Block(connection)
            try:
                with connection.transaction():
                    yield
                    refuse_broken(connection)
            finally:
                self._threads.block = None

    @contextmanager
    def _nested(self, block: _Block) -> Iterator[None]:
        before = set(block.locked)
        try:
            with postgres_errors("write"), block.connection.transaction():
                yield
        except BaseException:
            # A lock ends with the savepoint that it was taken after.
            block.locked = before
            raise

    def lock(self, whose: UUID | str) -> None:
        """Keep others from writing until the end of the block; outside of one, do nothing.

        Args:
            whose: Digest of a namespace, or `WHOLE`.
        """
        block, key = self._block, str(whose)
        if block is None or key in block.locked or WHOLE in block.locked:
            return
        values = {
            "whose": key,
            "patience": f"{LOCK_TIMEOUT * 1000:.0f}",
            "idle": f"{IDLE_TIMEOUT * 1000:.0f}",
        }
        with postgres_errors("wait for other writers"):
            block.connection.execute(_LOCK_WHOLE if key == WHOLE else _LOCK_ONE, values)
        block.locked.add(key)

    @contextmanager
    def connection(self, action: str) -> Iterator[psycopg.Connection[Any]]:
        """Lend the connection of the block, or one for as long as the caller needs it."""
        block = self._block
        with postgres_errors(action):
            if block is not None:
                yield block.connection
            else:
                with self.source.lend() as connection:
                    yield connection

    def read(
        self, action: str, statement: str, values: Values = (), whose: UUID | str | None = WHOLE
    ) -> list[Row]:
        """Run a query and return all of its rows.

        Args:
            action: What is being done, for the error message.
            statement: The SQL.
            values: Its parameters.
            whose: What is locked first if this is part of a block; None for nothing.
        """
        if whose is not None:
            self.lock(whose)
        with self.connection(action) as connection:
            return fetch(connection, statement, values)

    def write(
        self, action: str, statement: str, values: Values = (), whose: UUID | str = WHOLE
    ) -> int:
        """Run a statement that returns no rows; return how many it changed. See `read`."""
        self.lock(whose)
        with self.connection(action) as connection, _cursor(connection) as cursor:
            return cursor.execute(statement.encode(), values or None).rowcount

    def write_each(self, action: str, statement: str, values: Iterable[Values]) -> None:
        """Run a statement with each of `values`, without waiting in between. See `write`."""
        self.lock(WHOLE)
        with self.connection(action) as connection, _cursor(connection) as cursor:
            cursor.executemany(statement.encode(), values)


def fetch(connection: psycopg.Connection[Any], statement: str, values: Values = ()) -> list[Row]:
    """Run a query on a connection and return all of its rows."""
    with _cursor(connection) as cursor:
        return cursor.execute(statement.encode(), values or None).fetchall()


def _cursor(connection: psycopg.Connection[Any]) -> psycopg.Cursor[Row]:
    from psycopg.rows import dict_row

    cursor = connection.cursor(row_factory=dict_row)
    cursor.adapters.register_dumper(np.ndarray, vector_dumper())
    return cursor
