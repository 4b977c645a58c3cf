"""A memory that is kept elsewhere, mirrored in SQLite tables in memory.

The mirror answers every question, so that all queries exist once. Before each call it catches
up with where the memory is really kept, its *origin*; what an exclusive block changed is
brought there before the block ends.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import NamedTuple

from driftguard_langgraph.errors import StoreError
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.sqlite_file import prepare, sqlite_errors
from driftguard_langgraph.memory.stores.sqlite_session import SqliteSession
from driftguard_langgraph.memory.stores.sqlite_tables import SqliteTables, in_memory
from driftguard_langgraph.types import Namespace

# Triggers, so that a nested block that is rolled back takes its notes with it.
_NOTE_CHANGES = (
    "CREATE TEMP TABLE changes(what TEXT, namespace TEXT, key TEXT)",
    *(
        f"""
        CREATE TEMP TRIGGER episode_{event} AFTER {event} ON main.episodes BEGIN
            INSERT INTO changes VALUES('episodes', {row}.namespace, {row}.episode_id);
        END
        """
        for event, row in (("insert", "NEW"), ("delete", "OLD"))
    ),
    *(
        f"""
        CREATE TEMP TRIGGER run_{event} AFTER {event} ON main.runs BEGIN
            INSERT INTO changes VALUES('runs', {row}.namespace, {row}.scope || ':' || {row}.run);
        END
        """
        for event, row in (("insert", "NEW"), ("update", "NEW"), ("delete", "OLD"))
    ),
    """
    CREATE TEMP TRIGGER use_update AFTER UPDATE OF last_used ON main.wordings BEGIN
        INSERT INTO changes VALUES('uses', NEW.namespace, NEW.kind || ':' || NEW.node);
    END
    """,
    """
    CREATE TEMP TRIGGER use_delete AFTER DELETE ON main.wordings
    WHEN OLD.last_used IS NOT NULL BEGIN
        INSERT INTO changes VALUES('uses', OLD.namespace, OLD.kind || ':' || OLD.node);
    END
    """,
    """
    CREATE TEMP TRIGGER vector_update AFTER UPDATE OF vector ON main.wordings BEGIN
        INSERT INTO changes SELECT 'episodes', namespace, episode_id FROM main.episodes
        WHERE action = NEW.id OR feedback = NEW.id OR outcome = NEW.id;
    END
    """,
)


class Change(NamedTuple):
    """Something that was written, changed or erased.

    Attributes:
        what: `episodes`, `runs` or `uses`.
        namespace: Whose.
        key: Episode id; scope and id of a run; or kind and node of a use.
    """

    what: str
    namespace: Namespace
    key: str


class Origin(ABC):
    """Where a mirrored memory is really kept. Its session calls it under its lock."""

    @abstractmethod
    def alone(self) -> AbstractContextManager[None]:
        """Return a context in which nobody else writes, as far as that is possible."""

    @abstractmethod
    def catch_up(self, session: MirrorSession) -> None:
        """Bring the mirror to what is kept now; inside `session.applying()`."""

    @abstractmethod
    def keep(self, session: MirrorSession) -> None:
        """Keep what `session.changes()` says, all of it or nothing."""

    @abstractmethod
    def forget(self) -> None:
        """Read everything anew at the next call: the mirror may be ahead of what is kept."""

    @abstractmethod
    def leave_to_the_parent(self) -> None:
        """Give up what only one process can have; in a child process right after a fork."""


class MirrorSession(SqliteSession):
    """A database in memory that follows an origin.

    Args:
        connection: A new database in memory.
        origin: Where the memory is kept.
    """

    def __init__(self, connection: sqlite3.Connection, origin: Origin) -> None:
        super().__init__(connection)
        self.reopen = in_memory
        self._origin = origin
        self._prepared = False

    def _follow_the_file(self) -> None:
        if not self._prepared:
            with sqlite_errors("set up the memory"):
                prepare(self.connection)
                for statement in _NOTE_CHANGES:
                    self.connection.execute(statement)
            self._prepared = True
        self._origin.catch_up(self)

    def leave_to_the_parent(self) -> None:
        """Begin with an empty mirror; runs in a child process right after a fork."""
        self._path = None
        self._prepared = False
        super().leave_to_the_parent()
        self._origin.leave_to_the_parent()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Be the only writer; keep at the end what was changed, or roll back."""
        with self.lock:
            outermost = not self._depth
            with self._origin.alone() if outermost else nullcontext():
                try:
                    with super().exclusive():
                        yield
                        if outermost:
                            self._origin.keep(self)
                            self._run("note changes", "DELETE FROM changes")
                except BaseException:
                    if outermost:
                        self._origin.forget()
                    raise

    @contextmanager
    def applying(self) -> Iterator[None]:
        """Write what others did into the mirror, as one transaction."""
        self._run("catch up", "BEGIN")
        try:
            yield
            self._run("catch up", "DELETE FROM changes")
            self._run("catch up", "COMMIT")
        except BaseException:
            self._shelves.clear()
            self._origin.forget()
            with suppress(StoreError):
                self._run("roll back", "ROLLBACK")
            raise

    def changes(self) -> list[Change]:
        """Return what the present exclusive block wrote, changed or erased so far."""
        found = self.read("note changes", "SELECT DISTINCT what, namespace, key FROM changes")
        return [
            Change(row["what"], rows.decode_namespace(row["namespace"]), row["key"])
            for row in found
        ]

    def wipe(self) -> None:
        """Empty the mirror; call it inside `applying`."""
        for table in ("episodes", "runs", "wordings"):
            self.write("catch up", f"DELETE FROM {table}")
        self.write("catch up", "DELETE FROM meta WHERE key='embedding'")
        self.forget_vectors()


class MirroredTables(SqliteTables):
    """A store whose memory is kept by an origin.

    Args:
        origin: Where the memory is kept.
    """

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        super().__init__(in_memory())
        self._own()

    def _session_on(self, connection: sqlite3.Connection) -> SqliteSession:
        return MirrorSession(connection, self._origin)

    def setup(self) -> None:
        """Look whether the memory can be used. Calling it again does nothing."""
        self.space()
