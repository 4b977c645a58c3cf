"""Writing one episode into the SQLite tables, inside the caller's transaction."""

from __future__ import annotations

import json
from dataclasses import asdict

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.records import (
    Appended,
    EmbeddingSpace,
    Placement,
    Vector,
)
from driftguard_langgraph.memory.stores.sqlite_session import Shelf, SqliteSession
from driftguard_langgraph.types import SEVERITIES, Action, Episode


def insert_episode(
    session: SqliteSession,
    known: EmbeddingSpace | None,
    episode: Episode,
    placement: Placement,
    space: EmbeddingSpace,
) -> Appended:
    """Insert an episode that is not there yet, with the wordings that are new.

    Args:
        session: The connection, in a transaction.
        known: The embedding space of the vectors that are stored.
        episode: What was observed.
        placement: Nodes and vectors of its three texts.
        space: The embedding space of those vectors.

    Raises:
        SchemaMismatch: `known` is another space than `space`.
    """
    if known is None:
        session.set_meta("embedding", json.dumps(asdict(space)))
    elif known != space:
        raise SchemaMismatch(
            f"the memory holds vectors of {known.model_id} ({known.dimension}), not of "
            f"{space.model_id} ({space.dimension}). Use that model, or call reembed()."
        )
    edges = _count_new_edges(session, episode, placement)
    namespace = rows.encode_namespace(episode.namespace)
    wordings = [
        _wording_id(
            session,
            (namespace, episode.kind, role),
            episode.action if role == "action" else Action(placed.text),
            placed.node,
            placed.vector,
        )
        for role, placed in placement.items()
    ]
    values = (
        namespace,
        episode.episode_id,
        episode.kind,
        *wordings,
        SEVERITIES.index(episode.severity),
        rows.encode_time(episode.created_at),
        episode.provenance.get("thread_id"),
        json.dumps(dict(episode.provenance)),
        json.dumps(dict(episode.metadata)),
    )
    session.write("record", rows.INSERT_EPISODE, values)
    return Appended(stored=True, edges_created=edges)


def _count_new_edges(session: SqliteSession, episode: Episode, placement: Placement) -> int:
    values: dict[str, str] = {role: placed.node for role, placed in placement.items()}
    values["namespace"] = rows.encode_namespace(episode.namespace)
    values["kind"] = episode.kind
    known = (session.read("record", sql, values)[0][0] for sql in rows.EDGES_EXIST)
    return sum(not exists for exists in known)


def _wording_id(
    session: SqliteSession, shelf: Shelf, action: Action, node: str, vector: Vector
) -> int:
    digest = rows.digest(action.text)
    known = session.read("record", rows.FIND_WORDING, (*shelf, digest))
    if known:
        return int(known[0]["id"])
    args = None if action.tool_args is None else json.dumps(dict(action.tool_args))
    values = (*shelf, digest, node, action.text, action.tool_name, args, blob(vector))
    return session.write("record", rows.INSERT_WORDING, values).lastrowid or 0


def blob(vector: Vector) -> bytes:
    """Write a vector as little-endian 32-bit floats."""
    return vector.astype("<f4", copy=False).tobytes()
