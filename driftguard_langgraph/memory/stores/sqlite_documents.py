"""Documents into the SQLite tables of a mirror, and out of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from driftguard_langgraph.memory.stores import sqlite_queries as sql
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.documents import PlacedEpisode, texts_of
from driftguard_langgraph.memory.stores.records import (
    EmbeddingSpace,
    Placed,
    Placement,
    Vector,
)
from driftguard_langgraph.memory.stores.sqlite_append import (
    erase_episodes,
    find_wording,
    insert_episode,
    set_space,
)
from driftguard_langgraph.memory.stores.sqlite_session import SqliteSession
from driftguard_langgraph.memory.stores.sqlite_tables import SqliteTables
from driftguard_langgraph.types import Action, Kind, Namespace, NodeType

UNEMBEDDED = "no single model"
"""Model id of a memory whose vectors cannot be compared with each other. It is no model's, so
that whoever uses the memory re-embeds it first."""


_ALL_USES = """
    SELECT namespace, kind, node, max(last_used) AS last_used FROM wordings
    WHERE last_used IS NOT NULL GROUP BY namespace, kind, node ORDER BY namespace, kind, node
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """An episode as it lies in the tables.

    Attributes:
        order: Its place in the order of recording.
        placed: The episode and its nodes.
        vectors: Bytes of the embedding of each text.
    """

    order: int
    placed: PlacedEpisode
    vectors: Mapping[NodeType, bytes]


class TablesOf(SqliteTables):
    """The queries of the store on the tables of a session.

    Args:
        session: The session; it stays the caller's.
    """

    def __init__(self, session: SqliteSession) -> None:
        self._session = session
        self._owned = False


def stored_episode(session: SqliteSession, namespace: Namespace, episode_id: str) -> Stored | None:
    """Return an episode with all that was stored with it, if it is there."""
    episode = TablesOf(session).get(namespace, episode_id)
    if episode is None:
        return None
    key = (rows.encode_namespace(namespace), episode_id)
    found = session.read("read an episode", sql.WORDINGS_OF_EPISODE, key)
    nodes = {row["role"]: row["node"] for row in found}
    vectors = {row["role"]: row["vector"] for row in found}
    return Stored(found[0]["seq"], PlacedEpisode(episode, nodes), vectors)


def insert_placed(
    session: SqliteSession,
    placed: PlacedEpisode,
    space: EmbeddingSpace | None,
    vectors: Mapping[NodeType, Vector],
    order: int | None = None,
) -> None:
    """Write an episode that others recorded; it must not be there yet.

    Args:
        session: The mirror, inside `applying`.
        placed: The episode and its nodes.
        space: The embedding space of `vectors`, None if there are none.
        vectors: Embedding of each text.
        order: Its place in the order of recording; by default the last.
    """
    space = _common_space(session, space)
    nothing = np.zeros(space.dimension, np.float32)
    usable = space.model_id != UNEMBEDDED
    parts = {
        # As new nodes, because nobody wants to know which edges are new.
        role: Placed(text, placed.nodes[role], vectors[role] if usable else nothing, created=True)
        for role, text in texts_of(placed.episode).items()
    }
    placement = Placement(parts["action"], parts["feedback"], parts["outcome"])
    insert_episode(session, space, placed.episode, placement, space)
    if order is not None:
        key = (rows.encode_namespace(placed.episode.namespace), placed.episode.episode_id)
        # Two processes may have given out the same place, each not knowing of the other yet.
        while session.read("catch up", sql.ORDER_IS_TAKEN, (order, *key))[0][0]:
            order += 1
        session.write("catch up", sql.SET_ORDER, (order, *key))


def _common_space(session: SqliteSession, space: EmbeddingSpace | None) -> EmbeddingSpace:
    known = TablesOf(session).space()
    if known is not None and known in (space, EmbeddingSpace(UNEMBEDDED, known.dimension)):
        return known
    if known is None and space is not None:
        common = space
    else:
        common = EmbeddingSpace(UNEMBEDDED, known.dimension if known else 1)
    set_space(session, common)
    return common


def node_of(session: SqliteSession, placed: PlacedEpisode, role: NodeType) -> str | None:
    """Return the node in which the mirror has a text of an episode, if it has the text."""
    episode = placed.episode
    action = episode.action if role == "action" else Action(texts_of(episode)[role])
    shelf = (rows.encode_namespace(episode.namespace), episode.kind, role)
    found = find_wording(session, shelf, action)
    return None if found is None else str(found["node"])


def erase(session: SqliteSession, namespace: Namespace, episode_id: str) -> None:
    """Erase an episode that others deleted, if it is there."""
    key = (rows.encode_namespace(namespace), episode_id)
    erase_episodes(session, session.read("catch up", sql.PARTS_OF_EPISODE, key))


def last_use(
    session: SqliteSession, namespace: Namespace, kind: Kind, node: str
) -> datetime | None:
    """Return when a warning from an action node was last shown, if ever."""
    values = (rows.encode_namespace(namespace), kind, node)
    found = session.read("read a use", sql.LAST_USE, values)[0][0]
    return None if found is None else rows.decode_time(found)


def set_use(
    session: SqliteSession, namespace: Namespace, kind: Kind, node: str, at: datetime
) -> None:
    """Write when a warning from an action node was last shown."""
    values = (rows.encode_time(at), rows.encode_namespace(namespace), kind, node)
    session.write("catch up", sql.SET_USE, values)


def uses(session: SqliteSession) -> dict[Namespace, list[tuple[Kind, str, datetime]]]:
    """Return every use that was noted: kind and node of the action, and when."""
    found: dict[Namespace, list[tuple[Kind, str, datetime]]] = {}
    for row in session.read("read uses", _ALL_USES):
        at = rows.decode_time(row["last_used"])
        namespace = rows.decode_namespace(row["namespace"])
        found.setdefault(namespace, []).append((row["kind"], row["node"], at))
    return found


def is_mixed(session: SqliteSession) -> bool:
    """Whether the vectors cannot be compared with each other."""
    space = TablesOf(session).space()
    return space is not None and space.model_id == UNEMBEDDED
