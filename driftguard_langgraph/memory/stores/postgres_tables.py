"""Episodes, wordings and run verdicts in Postgres tables, whatever the connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores import postgres_queries as sql
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.postgres_append import (
    append_episode,
    read_space,
    set_space,
)
from driftguard_langgraph.memory.stores.postgres_keys import key_of, owner_of, shelf_of
from driftguard_langgraph.memory.stores.postgres_runs import PostgresRuns
from driftguard_langgraph.memory.stores.postgres_schema import vector_column
from driftguard_langgraph.memory.stores.postgres_search import PostgresSearch
from driftguard_langgraph.memory.stores.postgres_session import WHOLE, PostgresSession, Row
from driftguard_langgraph.memory.stores.postgres_vectors import VectorColumn
from driftguard_langgraph.memory.stores.records import (
    EPISODE_SAMPLE,
    Appended,
    ChainPath,
    EmbeddingSpace,
    Placement,
    Vector,
    Wording,
)
from driftguard_langgraph.memory.stores.sqlite_tables import USE_RESOLUTION
from driftguard_langgraph.types import Action, Episode, Kind, Namespace, NodeType


class PostgresTables(PostgresRuns):
    """The Postgres store but for where its connections come from.

    Args:
        session: Runs the statements.
    """

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._search = PostgresSearch(session)

    @cached_property
    def _column(self) -> VectorColumn:
        return vector_column(self._session)

    def exclusive(self) -> AbstractContextManager[None]:
        """Run a transaction that locks what it touches; see `BaseMemoryStore.exclusive`.

        Writers of other namespaces go on. Two blocks that touch the same two namespaces in
        opposite order may get in each other's way: the server then ends one of them.
        """
        return self._session.exclusive()

    def space(self) -> EmbeddingSpace | None:
        """Return the embedding space of the stored vectors, None while there are none."""
        found = self._session.read("read the memory", sql.SPACE, whose=None)
        return read_space(found[0]["space"]) if found else None

    def append(self, episode: Episode, placement: Placement, space: EmbeddingSpace) -> Appended:
        """Keep one episode; see `BaseMemoryStore.append`."""
        column = self._column
        with self.exclusive():
            return append_episode(self._session, column, episode, placement, space)

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
        found = self._search.nearest(self._column, (namespace, kind, role), vector, limit)
        return [hit for hit in found if floor is None or hit.similarity >= floor]

    def wording(
        self, namespace: Namespace, kind: Kind, role: NodeType, text: str
    ) -> Wording | None:
        """Return the wording with exactly this text; see `BaseMemoryStore.wording`."""
        values = (shelf_of(namespace, kind, role), key_of(text))
        found = self._session.read("look up a text", sql.FIND_WORDING, values, owner_of(namespace))
        return rows.decode_wording(found[0]) if found else None

    def wordings(
        self, namespace: Namespace, kind: Kind, role: NodeType, nodes: Sequence[str]
    ) -> Sequence[Wording]:
        """Return the wordings merged into `nodes`; see `BaseMemoryStore.wordings`."""
        values = (shelf_of(namespace, kind, role), _keys(nodes))
        found = self._session.read(
            "look up nodes", sql.WORDINGS_BY_NODE, values, owner_of(namespace)
        )
        return [rows.decode_wording(row) for row in found]

    def paths(
        self, namespace: Namespace, kind: Kind, actions: Sequence[str] | None = None
    ) -> Sequence[ChainPath]:
        """Count the episodes by their nodes; see `BaseMemoryStore.paths`."""
        values: dict[str, Any] = {
            "shelf": shelf_of(namespace, kind, "action"),
            "sample": EPISODE_SAMPLE,
        }
        query = sql.ALL_PATHS
        if actions is not None:
            query, values["actions"] = sql.PATHS_OF_ACTIONS, _keys(actions)
        return rows.decode_paths(
            self._session.read("read chains", query, values, owner_of(namespace))
        )

    def count_since(
        self, namespace: Namespace, kind: Kind, actions: Sequence[str], since: datetime
    ) -> int:
        """Count newer episodes of these actions; see `BaseMemoryStore.count_since`."""
        shelf = shelf_of(namespace, kind, "action")
        values = (shelf, _keys(actions), rows.encode_time(since))
        [found] = self._session.read("count episodes", sql.COUNT_SINCE, values, owner_of(namespace))
        return int(found["episodes"])

    def next_success(self, namespace: Namespace, episode_ids: Sequence[str]) -> Action | None:
        """Return what succeeded next in the thread; see `BaseMemoryStore.next_success`."""
        owner = owner_of(namespace)
        values = (owner, _keys(episode_ids))
        found = self._session.read("look for a remedy", sql.NEXT_SUCCESS, values, owner)
        return rows.decode_wording(found[0]).action if found else None

    def get(self, namespace: Namespace, episode_id: str) -> Episode | None:
        """Return one episode, if it is kept."""
        owner = owner_of(namespace)
        values = (owner, key_of(episode_id))
        found = self._session.read("read an episode", sql.EPISODE_BY_ID, values, owner)
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
        owner = owner_of(namespace)
        # A negative limit is none, as it is in the other stores; to PostgreSQL it is an error.
        values = {
            "owner": owner,
            "kind": kind,
            "limit": limit if limit >= 0 else None,
            "offset": offset,
        }
        found = self._session.read("list episodes", sql.EPISODES_IN_ORDER, values, owner)
        return [rows.decode_episode(row) for row in found]

    def namespaces(self) -> Sequence[Namespace]:
        """Return every namespace that holds an episode."""
        found = self._session.read("list namespaces", sql.NAMESPACES)
        return [rows.decode_namespace(row["namespace"]) for row in found]

    def touch(self, namespace: Namespace, kind: Kind, actions: Sequence[str], at: datetime) -> None:
        """Note a use, at most once a day; see `BaseMemoryStore.touch`."""
        owner = owner_of(namespace)
        values = {
            "shelf": shelf_of(namespace, kind, "action"),
            "actions": _keys(actions),
            "at": rows.encode_time(at),
            "stale": rows.encode_time(at - USE_RESOLUTION),
        }
        if self._session.read("note a use", sql.NEEDS_TOUCH, values, owner)[0]["stale"]:
            with self.exclusive():
                self._session.write("note a use", sql.TOUCH, values, owner)

    def delete(self, namespace: Namespace, episode_id: str) -> bool:
        """Erase one episode; see `BaseMemoryStore.delete`."""
        owner = owner_of(namespace)
        values = (owner, key_of(episode_id))
        with self.exclusive():
            found = self._session.read("delete", sql.PARTS_OF_EPISODE, values, owner)
            return self._erase(found, owner) > 0

    def delete_paths(
        self, namespace: Namespace, kind: Kind, paths: Sequence[tuple[str, str, str]]
    ) -> int:
        """Erase all episodes on these paths; see `BaseMemoryStore.delete_paths`."""
        owner = owner_of(namespace)
        values = {
            "shelf": shelf_of(namespace, kind, "action"),
            "actions": _keys([path[0] for path in paths]),
            "feedbacks": _keys([path[1] for path in paths]),
            "outcomes": _keys([path[2] for path in paths]),
        }
        with self.exclusive():
            found = self._session.read("prune", sql.PARTS_ON_PATHS, values, owner)
            return self._erase(found, owner)

    def _erase(self, episodes: Sequence[Row], owner: UUID) -> int:
        """Delete episodes, with the texts that no other one has; return how many."""
        if episodes:
            gone = [row["seq"] for row in episodes]
            texts = {row[role] for row in episodes for role in ("action", "feedback", "outcome")}
            self._session.write("delete episodes", sql.DELETE_EPISODES, (gone,), owner)
            self._session.write("delete texts", sql.DELETE_ORPHANS, ([*texts],), owner)
        return len(episodes)

    def texts(self) -> Sequence[str]:
        """Return every distinct text that is kept, of all namespaces."""
        return [row["text"] for row in self._session.read("list texts", sql.KEPT_TEXTS)]

    def replace_vectors(self, space: EmbeddingSpace, vectors: Mapping[str, Vector]) -> None:
        """Put every wording into a new space; see `BaseMemoryStore.replace_vectors`."""
        column = self._column
        with self.exclusive():
            self._session.lock(WHOLE)
            kept = self._session.read("re-embed", sql.WORDING_TEXTS)
            missing = len({row["text"] for row in kept} - vectors.keys())
            if missing:
                raise SchemaMismatch(
                    f"{missing} texts were recorded meanwhile and have no new vector: "
                    "call reembed() again."
                )
            changed = (
                (rows.checked_vector(vectors[row["text"]], space), row["id"]) for row in kept
            )
            self._session.write_each("re-embed", sql.SET_VECTOR, changed)
            set_space(self._session, column, space)


def _keys(texts: Sequence[str]) -> list[UUID]:
    return [key_of(text) for text in texts]
