"""Episodes, wordings and run verdicts in SQLite tables, whatever the connection."""

from __future__ import annotations

import json
import sqlite3
import weakref
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any

from driftguard_langgraph.errors import ConfigurationError, SchemaMismatch
from driftguard_langgraph.memory.stores import sqlite_queries as sql
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.records import (
    EPISODE_SAMPLE,
    Appended,
    ChainPath,
    EmbeddingSpace,
    Placement,
    Vector,
    Wording,
)
from driftguard_langgraph.memory.stores.sqlite_append import (
    erase_episodes,
    find_wordings,
    insert_episode,
    set_space,
)
from driftguard_langgraph.memory.stores.sqlite_file import Durability, hasty, prepare, sqlite_errors
from driftguard_langgraph.memory.stores.sqlite_runs import SqliteRuns
from driftguard_langgraph.memory.stores.sqlite_session import SqliteSession
from driftguard_langgraph.types import Action, Episode, Kind, Namespace, NodeType

USE_RESOLUTION = timedelta(days=1)
"""A use is noted at most once a day: staleness is counted in days."""


class SqliteTables(SqliteRuns):
    """The SQLite stores but for where their connection comes from.

    Args:
        connection: A live connection, outside a transaction; the store does not close it.

    Raises:
        ConfigurationError: The connection manages transactions itself, or is in one.
    """

    _durability: Durability = "normal"

    def __init__(self, connection: sqlite3.Connection) -> None:
        if getattr(connection, "autocommit", None) is False:
            raise ConfigurationError(
                "the store needs a connection that does not open transactions by itself: "
                "connect without autocommit=False."
            )
        if connection.in_transaction:
            raise ConfigurationError(
                "the store was given a connection with a transaction under way: commit it first."
            )
        self._session = self._session_on(connection)
        self._owned = False

    def _session_on(self, connection: sqlite3.Connection) -> SqliteSession:
        return SqliteSession(connection)

    def _own(self) -> None:
        """Close the connection with the store, and when nobody holds the store any more."""
        self._owned = True
        weakref.finalize(self, self._session.close)

    def setup(self) -> None:
        """Create or migrate the schema. Calling it again does nothing."""
        with self._session.lock, sqlite_errors("set up the memory"):
            prepare(self._session.connection, self._durability)

    def close(self) -> None:
        """Close the connection if the store opened it. Calling it again does nothing."""
        if self._owned:
            self._session.close()

    def location(self) -> str:
        """Return the path of the database file, or say that there is none."""
        found = self._session.read("locate the memory", "PRAGMA database_list")
        return str(found[0]["file"]) or "this process only (nothing is kept)"

    def exclusive(self) -> AbstractContextManager[None]:
        """Hold the write lock of the database; see `BaseMemoryStore.exclusive`."""
        return self._session.exclusive()

    def space(self) -> EmbeddingSpace | None:
        """Return the embedding space of the stored vectors, None while there are none."""
        value = self._session.meta("embedding") if self._session.has("wordings") else None
        return None if value is None else rows.decode_space(value)

    def snapshot(self) -> AbstractContextManager[None]:
        """Read as of one moment; see `BaseMemoryStore.snapshot`."""
        return self._session.snapshot()

    def append(self, episode: Episode, placement: Placement, space: EmbeddingSpace) -> Appended:
        """Keep one episode; see `BaseMemoryStore.append`."""
        with self.exclusive():
            values = (rows.encode_namespace(episode.namespace), episode.episode_id)
            if self._session.read("record", sql.EPISODE_EXISTS, values)[0][0]:
                return Appended(stored=False)
            return insert_episode(self._session, self.space(), episode, placement, space)

    def search(
        self,
        namespace: Namespace,
        kind: Kind,
        role: NodeType,
        vector: Vector,
        limit: int,
        floor: float | None = None,
    ) -> Sequence[Wording]:
        """Return the wordings nearest to `vector`; see `BaseMemoryStore.search`."""
        shelf = (rows.encode_namespace(namespace), kind, role)
        found, hits = self._session.nearest(shelf, vector, limit, floor)
        found.sort(key=lambda row: (-hits[row["id"]], row["id"]))
        return [rows.decode_wording(row, hits[row["id"]]) for row in found]

    def wording(
        self, namespace: Namespace, kind: Kind, role: NodeType, text: str
    ) -> Wording | None:
        """Return the wording with exactly this text; see `BaseMemoryStore.wording`."""
        found = find_wordings(self._session, (rows.encode_namespace(namespace), kind, role), text)
        return rows.decode_wording(found[0]) if found else None

    def wordings(
        self, namespace: Namespace, kind: Kind, role: NodeType, nodes: Sequence[str]
    ) -> Sequence[Wording]:
        """Return the wordings merged into `nodes`; see `BaseMemoryStore.wordings`."""
        values = (rows.encode_namespace(namespace), kind, role, json.dumps([*nodes]))
        found = self._session.read("look up nodes", sql.WORDINGS_BY_NODE, values)
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
        query = sql.ALL_PATHS
        if actions is not None:
            query, values["actions"] = sql.PATHS_OF_ACTIONS, json.dumps([*actions])
        return rows.decode_paths(self._session.read("read chains", query, values))

    def count_since(
        self, namespace: Namespace, kind: Kind, actions: Sequence[str], since: datetime
    ) -> int:
        """Count newer episodes of these actions; see `BaseMemoryStore.count_since`."""
        encoded = rows.encode_namespace(namespace)
        values = (encoded, kind, json.dumps([*actions]), rows.encode_time(since))
        return int(self._session.read("count episodes", sql.COUNT_SINCE, values)[0][0])

    def next_success(self, namespace: Namespace, episode_ids: Sequence[str]) -> Action | None:
        """Return what succeeded next in the thread; see `BaseMemoryStore.next_success`."""
        values = {
            "namespace": rows.encode_namespace(namespace),
            "episodes": json.dumps([*episode_ids]),
        }
        found = self._session.read("look for a remedy", sql.NEXT_SUCCESS, values)
        return rows.decode_wording(found[0]).action if found else None

    def get(self, namespace: Namespace, episode_id: str) -> Episode | None:
        """Return one episode, if it is kept."""
        values = (rows.encode_namespace(namespace), episode_id)
        found = self._session.read("read an episode", sql.EPISODE_BY_ID, values)
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
        values = {
            "namespace": rows.encode_namespace(namespace),
            "kind": kind,
            "limit": limit,
            "offset": offset,
        }
        found = self._session.read("list episodes", sql.EPISODES_IN_ORDER, values)
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
        if self._session.read("note a use", sql.NEEDS_TOUCH, values)[0][0]:
            with self._session.lock, hasty(self._session.connection), self.exclusive():
                self._session.write("note a use", sql.TOUCH, values)

    def delete(self, namespace: Namespace, episode_id: str) -> bool:
        """Erase one episode; see `BaseMemoryStore.delete`."""
        values = (rows.encode_namespace(namespace), episode_id)
        with self.exclusive():
            found = self._session.read("delete", sql.PARTS_OF_EPISODE, values)
            return erase_episodes(self._session, found) > 0

    def delete_paths(
        self, namespace: Namespace, kind: Kind, paths: Sequence[tuple[str, str, str]]
    ) -> int:
        """Erase all episodes on these paths; see `BaseMemoryStore.delete_paths`."""
        values = {
            "namespace": rows.encode_namespace(namespace),
            "kind": kind,
            "paths": json.dumps([*paths]),
        }
        with self.exclusive():
            found = self._session.read("prune", sql.PARTS_ON_PATHS, values)
            return erase_episodes(self._session, found)

    def texts(self) -> Sequence[str]:
        """Return every distinct text that is kept, of all namespaces."""
        found = self._session.read("list texts", "SELECT DISTINCT text FROM wordings")
        return [row["text"] for row in found]

    def replace_vectors(self, space: EmbeddingSpace, vectors: Mapping[str, Vector]) -> None:
        """Put every wording into a new space; see `BaseMemoryStore.replace_vectors`."""
        with self.exclusive():
            kept = self._session.read("re-embed", "SELECT id, text FROM wordings")
            missing = len({row["text"] for row in kept} - vectors.keys())
            if missing:
                raise SchemaMismatch(
                    f"{missing} texts were recorded meanwhile and have no new vector: "
                    "call reembed() again."
                )
            for row in kept:
                encoded = rows.encode_vector(vectors[row["text"]], space)
                self._session.write("re-embed", sql.SET_VECTOR, (encoded, row["id"]))
            set_space(self._session, space)


def in_memory() -> sqlite3.Connection:
    """Connect to a new database that lives as long as the connection."""
    return sqlite3.connect(":memory:", check_same_thread=False)
