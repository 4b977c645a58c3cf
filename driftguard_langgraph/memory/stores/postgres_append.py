"""Writing one episode into the Postgres tables, inside the caller's transaction."""

from __future__ import annotations

import json
from dataclasses import asdict
from uuid import UUID

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores import postgres_queries as sql
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.postgres_keys import (
    key_of,
    optional_key,
    owner_of,
    shelf_of,
)
from driftguard_langgraph.memory.stores.postgres_session import WHOLE, PostgresSession
from driftguard_langgraph.memory.stores.postgres_vectors import VectorColumn, drop_index
from driftguard_langgraph.memory.stores.records import (
    Appended,
    EmbeddingSpace,
    Placement,
)
from driftguard_langgraph.types import SEVERITIES, Action, Episode, NodeType


def append_episode(
    session: PostgresSession,
    column: VectorColumn,
    episode: Episode,
    placement: Placement,
    space: EmbeddingSpace,
) -> Appended:
    """Insert an episode with the wordings that are new, unless its id is known.

    Args:
        session: In a transaction of this thread.
        column: How vectors are kept.
        episode: What was observed.
        placement: Nodes and vectors of its three texts.
        space: The embedding space of those vectors.

    Raises:
        SchemaMismatch: The stored vectors are of another space, or a vector is not of this one.
    """
    owner, digest = owner_of(episode.namespace), key_of(episode.episode_id)
    [known] = session.read("record", sql.KNOWN, (owner, digest), owner)
    if known["stored"]:
        return Appended(stored=False)
    if known["space"] != _written(space):
        _begin_space(session, column, known["space"], space, owner)
    edges = _count_new_edges(session, owner, episode, placement)
    wordings = _wording_ids(session, owner, episode, placement, space)
    values = (
        owner,
        rows.encode_namespace(episode.namespace),
        digest,
        episode.episode_id,
        episode.kind,
        *(wordings[role] for role, _ in placement.items()),
        SEVERITIES.index(episode.severity),
        rows.encode_time(episode.created_at),
        optional_key(episode.provenance.get("thread_id")),
        optional_key(episode.provenance.get("run_id")),
        json.dumps(dict(episode.provenance)),
        json.dumps(dict(episode.metadata)),
    )
    session.write("record", sql.INSERT_EPISODE, values, owner)
    return Appended(stored=True, edges_created=edges)


def read_space(value: str) -> EmbeddingSpace:
    """Read an embedding space back."""
    return EmbeddingSpace(**json.loads(value))


def _written(space: EmbeddingSpace) -> str:
    return json.dumps(asdict(space))


def _begin_space(
    session: PostgresSession,
    column: VectorColumn,
    stored: str | None,
    space: EmbeddingSpace,
    owner: UUID,
) -> None:
    """Note the space of the first vectors; refuse another one than that of those kept."""
    if stored is None:
        # Where several record for the first time at once, this waits for who came first.
        if session.write("record", sql.FIRST_SPACE, (_written(space),), owner):
            _create_index(session, column, space, owner)
            return
        stored = session.read("record", sql.KNOWN, (owner, owner), owner)[0]["space"]
        if stored == _written(space):
            return
    # An emptied memory may begin anew in another space, if nobody is recording in the old one.
    session.lock(WHOLE)
    if session.read("record", sql.ANY_WORDING)[0]["found"]:
        known = read_space(str(stored))
        raise SchemaMismatch(
            f"the memory holds vectors of {known.model_id} ({known.dimension}), not of "
            f"{space.model_id} ({space.dimension}). Use that model, or call reembed()."
        )
    set_space(session, column, space)


def set_space(session: PostgresSession, column: VectorColumn, space: EmbeddingSpace) -> None:
    """Note another space of all vectors, and index those of its dimension.

    Args:
        session: In a transaction that holds the lock of the whole memory.
        column: How vectors are kept.
        space: The new space.
    """
    known = session.read("re-embed", "SELECT value FROM driftguard_meta WHERE key = 'embedding'")
    session.write("re-embed", sql.SET_SPACE, (_written(space),))
    session.write("re-embed", sql.FORGET_VECTORS)
    _create_index(session, column, space, WHOLE)
    for row in known:
        before = read_space(row["value"]).dimension
        if before != space.dimension:
            session.write("re-embed", drop_index(before))


def _create_index(
    session: PostgresSession, column: VectorColumn, space: EmbeddingSpace, whose: UUID | str
) -> None:
    statement = column.create_index(space.dimension)
    if statement is not None:
        session.write("index the vectors", statement, whose=whose)


def _count_new_edges(
    session: PostgresSession, owner: UUID, episode: Episode, placement: Placement
) -> int:
    action, feedback, outcome = (placed for _, placed in placement.items())
    cause_is_new = action.created or feedback.created
    effect_is_new = feedback.created or outcome.created
    if cause_is_new and effect_is_new:
        return 2
    values: dict[str, UUID] = {}
    for role, placed in placement.items():
        values[f"{role}_shelf"] = shelf_of(episode.namespace, episode.kind, role)
        values[f"{role}_node"] = key_of(placed.node)
    [found] = session.read("record", sql.EDGES, values, owner)
    return (cause_is_new or not found["cause"]) + (effect_is_new or not found["effect"])


def _wording_ids(
    session: PostgresSession,
    owner: UUID,
    episode: Episode,
    placement: Placement,
    space: EmbeddingSpace,
) -> dict[NodeType, int]:
    """Return the ids of the three wordings; those that are new are inserted."""
    shelves = {
        role: shelf_of(episode.namespace, episode.kind, role) for role, _ in placement.items()
    }
    actions = {
        role: episode.action if role == "action" else Action(placed.text)
        for role, placed in placement.items()
    }
    asked = (
        list(shelves.values()),
        [key_of(action.text) for action in actions.values()],
        [key_of(action.tool_name or "") for action in actions.values()],
    )
    found = session.read("record", sql.FIND_SAME_WORDINGS, asked, owner)
    known = {row["shelf"]: int(row["id"]) for row in found}
    ids: dict[NodeType, int] = {}
    for role, placed in placement.items():
        if shelves[role] in known:
            ids[role] = known[shelves[role]]
            continue
        action = actions[role]
        args = None if action.tool_args is None else json.dumps(dict(action.tool_args))
        values = {
            "shelf": shelves[role],
            "digest": key_of(action.text),
            "form": key_of(action.tool_name or ""),
            "node_digest": key_of(placed.node),
            "node": placed.node,
            "text": action.text,
            "tool_name": action.tool_name,
            "tool_args": args,
            "vector": rows.checked_vector(placed.vector, space),
        }
        ids[role] = int(session.read("record", sql.INSERT_WORDING, values, owner)[0]["id"])
    return ids
