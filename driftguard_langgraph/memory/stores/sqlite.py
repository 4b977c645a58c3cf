"""The default store: one SQLite file, one transaction per record, live across processes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

from driftguard_langgraph.errors import ConfigurationError, SchemaMismatch
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    EPISODE_SAMPLE,
    Appended,
    ChainPath,
    EmbeddingSpace,
    Placement,
    Vector,
    Wording,
)
from driftguard_langgraph.memory.stores.schema import migrate
from driftguard_langgraph.memory.stores.sqlite_append import blob, insert_episode
from driftguard_langgraph.memory.stores.sqlite_file import connect, sqlite_errors
from driftguard_langgraph.memory.stores.sqlite_session import SqliteSession
from driftguard_langgraph.types import Action, Episode, Kind, Namespace, NodeType

USE_RESOLUTION = timedelta(days=1)
"""A use is noted at most once a day: staleness is counted in days."""


class SqliteMemoryStore(BaseMemoryStore):
    """Memory in one SQLite database (WAL): safe for threads and processes.

    Every record is one transaction, nothing that is kept is ever rewritten, and what
    another process recorded is seen by the next call. Vectors are searched exactly, in a
    matrix that is filled once and then only extended.

    Args:
        connection: A live connection, made with `check_same_thread=False` if the store is
            used from several threads or by its async methods. The store takes over its
            transaction control (`isolation_level` becomes None) and its `row_factory`; it
            does not close it.

    Raises:
        ConfigurationError: The connection opens transactions by itself
            (`autocommit=False`).

    Attributes:
        quarantined: Where `open` moved a damaged file, if it had to.

    Example:
        ```python
        with SqliteMemoryStore.from_conn_string("memory.sqlite3") as store:
            guard = DriftGuard(store=store)
        ```
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        if getattr(connection, "autocommit", None) is False:
            raise ConfigurationError(
                "SqliteMemoryStore needs a connection that does not open transactions by "
                "itself: connect without autocommit=False."
            )
        connection.isolation_level = None
        connection.row_factory = sqlite3.Row
        self._session = SqliteSession(connection)
        self._owned = False
        self.quarantined: Path | None = None

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open (or create) a memory file and bring it to the newest schema.

        A damaged file is moved aside, with a warning in the log and its new name in the
        attribute `quarantined`.

        Args:
            path: The file, or `":memory:"`.

        Raises:
            SchemaMismatch: The file belongs to another application or a newer version.
            StoreUnavailable: The file cannot be created, read or written.
        """
        if str(path) == ":memory:":
            connection, moved = sqlite3.connect(":memory:", check_same_thread=False), None
        else:
            connection, moved = connect(Path(path).expanduser())
        store = cls(connection)
        store._owned = True
        store.quarantined = moved
        try:
            store.setup()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str) -> Iterator[Self]:
        """Open a memory file for the length of a `with` block; see `open`."""
        with cls.open(conn_string) as store:
            yield store

    def setup(self) -> None:
        """Create or migrate the schema. Calling it again does nothing."""
        connection = self._session.connection
        with self._session.lock, sqlite_errors("set up the memory"):
            migrate(connection)
            connection.execute("PRAGMA journal_mode=WAL")
            # NORMAL loses no committed record when a process dies; when the machine does,
            # at worst the newest ones.
            connection.execute("PRAGMA synchronous=NORMAL")
            # What is deleted is overwritten, so that forgetting leaves nothing to read.
            connection.execute("PRAGMA secure_delete=ON")

    def close(self) -> None:
        """Close the connection if the store opened it. Calling it again does nothing."""
        if self._owned:
            with self._session.lock:
                self._session.connection.close()

    def location(self) -> str:
        """Return the path of the database file, or say that there is none."""
        found = self._session.read("locate the memory", "PRAGMA database_list")
        return str(found[0]["file"]) or "this process only (nothing is kept)"

    def exclusive(self) -> AbstractContextManager[None]:
        """Hold the write lock of the database; see `BaseMemoryStore.exclusive`."""
        return self._session.exclusive()

    def space(self) -> EmbeddingSpace | None:
        """Return the embedding space of the stored vectors, None while there are none."""
        found = self._session.meta("embedding")
        return None if found is None else EmbeddingSpace(**json.loads(found))

    def append(self, episode: Episode, placement: Placement, space: EmbeddingSpace) -> Appended:
        """Keep one episode; see `BaseMemoryStore.append`."""
        with self.exclusive():
            if self.get(episode.namespace, episode.episode_id) is not None:
                return Appended(stored=False)
            return insert_episode(self._session, self.space(), episode, placement, space)

    def search(
        self, namespace: Namespace, kind: Kind, role: NodeType, vector: Vector, limit: int
    ) -> Sequence[Wording]:
        """Return the wordings nearest to `vector`; see `BaseMemoryStore.search`."""
        hits = self._session.nearest((rows.encode_namespace(namespace), kind, role), vector, limit)
        found = self._session.read("search", rows.WORDINGS_BY_ID, (json.dumps(list(hits)),))
        found.sort(key=lambda row: (-hits[row["id"]], row["id"]))
        return [rows.decode_wording(row, hits[row["id"]]) for row in found]

    def wording(
        self, namespace: Namespace, kind: Kind, role: NodeType, text: str
    ) -> Wording | None:
        """Return the wording with exactly this text; see `BaseMemoryStore.wording`."""
        values = (rows.encode_namespace(namespace), kind, role, rows.digest(text))
        found = self._session.read("look up a text", rows.FIND_WORDING, values)
        return rows.decode_wording(found[0]) if found else None

    def wordings(
        self, namespace: Namespace, kind: Kind, role: NodeType, nodes: Sequence[str]
    ) -> Sequence[Wording]:
        """Return the wordings merged into `nodes`; see `BaseMemoryStore.wordings`."""
        values = (rows.encode_namespace(namespace), kind, role, json.dumps([*nodes]))
        found = self._session.read("look up nodes", rows.WORDINGS_BY_NODE, values)
        return [rows.decode_wording(row) for row in found]

    def paths(
        self, namespace: Namespace, kind: Kind, actions: Sequence[str] | None = None
    ) -> Sequence[ChainPath]:
        """Count the episodes by their nodes; see `BaseMemoryStore.paths`."""
        values: dict[str, Any] = {
            "namespace": rows.encode_namespace(namespace),
            "kind": kind,
            "sample": EPISODE_SAMPLE,
        }
        sql = rows.ALL_PATHS
        if actions is not None:
            sql, values["actions"] = rows.PATHS_OF_ACTIONS, json.dumps([*actions])
        return [rows.decode_path(row) for row in self._session.read("read chains", sql, values)]

    def count_since(
        self, namespace: Namespace, kind: Kind, actions: Sequence[str], since: datetime
    ) -> int:
        """Count newer episodes of these actions; see `BaseMemoryStore.count_since`."""
        encoded = rows.encode_namespace(namespace)
        values = (encoded, kind, json.dumps([*actions]), rows.encode_time(since))
        return int(self._session.read("count episodes", rows.COUNT_SINCE, values)[0][0])

    def next_success(self, namespace: Namespace, episode_ids: Sequence[str]) -> Action | None:
        """Return what succeeded next in the thread; see `BaseMemoryStore.next_success`."""
        values = {
            "namespace": rows.encode_namespace(namespace),
            "episodes": json.dumps([*episode_ids]),
        }
        found = self._session.read("look for a remedy", rows.NEXT_SUCCESS, values)
        return rows.decode_wording(found[0]).action if found else None

    def get(self, namespace: Namespace, episode_id: str) -> Episode | None:
        """Return one episode, if it is kept."""
        values = (rows.encode_namespace(namespace), episode_id)
        found = self._session.read("read an episode", rows.EPISODE_BY_ID, values)
        return rows.decode_episode(found[0]) if found else None

    def list(
        self,
        namespace: Namespace,
        kind: Kind | None = None,
        *,
        limit: int = 100,
        offset: int = 0,
    ) -> Sequence[Episode]:
        """Return episodes in the order in which they were recorded."""
        values = (rows.encode_namespace(namespace), kind, kind, limit, offset)
        found = self._session.read("list episodes", rows.EPISODES_IN_ORDER, values)
        return [rows.decode_episode(row) for row in found]

    def namespaces(self) -> Sequence[Namespace]:
        """Return every namespace that holds an episode."""
        found = self._session.read("list namespaces", "SELECT DISTINCT namespace FROM episodes")
        return [rows.decode_namespace(row["namespace"]) for row in found]

    def touch(self, namespace: Namespace, kind: Kind, actions: Sequence[str], at: datetime) -> None:
        """Note a use, at most once a day; see `BaseMemoryStore.touch`."""
        values = {
            "namespace": rows.encode_namespace(namespace),
            "kind": kind,
            "actions": json.dumps([*actions]),
            "at": rows.encode_time(at),
            "stale": rows.encode_time(at - USE_RESOLUTION),
        }
        if self._session.read("note a use", rows.NEEDS_TOUCH, values)[0][0]:
            self._session.write("note a use", rows.TOUCH, values)

    def delete(self, namespace: Namespace, episode_id: str) -> bool:
        """Erase one episode; see `BaseMemoryStore.delete`."""
        values = (rows.encode_namespace(namespace), episode_id)
        with self.exclusive():
            gone = self._session.write("delete an episode", rows.DELETE_EPISODE, values).rowcount
            self._drop_orphans(namespace)
        return gone > 0

    def delete_paths(
        self, namespace: Namespace, kind: Kind, paths: Sequence[tuple[str, str, str]]
    ) -> int:
        """Erase all episodes on these paths; see `BaseMemoryStore.delete_paths`."""
        shelf = (rows.encode_namespace(namespace), kind)
        with self.exclusive():
            gone = sum(
                self._session.write("prune", rows.DELETE_PATH, (*shelf, *path)).rowcount
                for path in paths
            )
            self._drop_orphans(namespace)
        return gone

    def _drop_orphans(self, namespace: Namespace) -> None:
        encoded = rows.encode_namespace(namespace)
        if self._session.write("delete texts", rows.DELETE_ORPHANS, (encoded,)).rowcount:
            self._session.forget_vectors()

    def texts(self) -> Sequence[str]:
        """Return every distinct text that is kept, of all namespaces."""
        found = self._session.read("list texts", "SELECT DISTINCT text FROM wordings")
        return [row["text"] for row in found]

    def replace_vectors(self, space: EmbeddingSpace, vectors: Mapping[str, Vector]) -> None:
        """Put every wording into a new space; see `BaseMemoryStore.replace_vectors`."""
        with self.exclusive():
            missing = sum(text not in vectors for text in self.texts())
            if missing:
                raise SchemaMismatch(
                    f"{missing} texts were recorded meanwhile and have no new vector: "
                    "call reembed() again."
                )
            for text, vector in vectors.items():
                self._session.write("re-embed", rows.SET_VECTOR, (blob(vector), text))
            self._session.set_meta("embedding", json.dumps(asdict(space)))
            self._session.forget_vectors()
