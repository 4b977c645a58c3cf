"""Writing episodes into the SQLite tables and erasing them, in the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores import sqlite_queries as sql
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.records import (
    Appended,
    EmbeddingSpace,
    Placed,
    Placement,
)
from driftguard_langgraph.memory.stores.sqlite_session import SqliteSession
from driftguard_langgraph.memory.stores.vector_index import Shelf
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
        SchemaMismatch: `known` is another space than `space`, or a vector is not of it.
    """
    if known is None:
        set_space(session, space)
    elif known != space:
        raise SchemaMismatch(
            f"the memory holds vectors of {known.model_id} ({known.dimension}), not of "
            f"{space.model_id} ({space.dimension}). Use that model, or call reembed()."
        )
    edges = _count_new_edges(session, episode, placement)
    namespace = rows.encode_namespace(episode.namespace)
    # All are looked up before the first is written: a record has just asked for the same.
    parts = [
        (
            (namespace, episode.kind, role),
            episode.action if role == "action" else Action(placed.text),
            placed,
        )
        for role, placed in placement.items()
    ]
    found = [find_wording(session, shelf, action) for shelf, action, _ in parts]
    wordings = [
        _insert_wording(session, *part, space) if row is None else int(row["id"])
        for row, part in zip(found, parts, strict=True)
    ]
    values = (
        namespace,
        episode.episode_id,
        episode.kind,
        *wordings,
        SEVERITIES.index(episode.severity),
        rows.encode_time(episode.created_at),
        episode.provenance.get("thread_id"),
        episode.provenance.get("run_id"),
        json.dumps(dict(episode.provenance)),
        json.dumps(dict(episode.metadata)),
    )
    session.write("record", sql.INSERT_EPISODE, values)
    return Appended(stored=True, edges_created=edges)


def find_wordings(session: SqliteSession, shelf: Shelf, text: str) -> list[sqlite3.Row]:
    """Return the wordings with exactly this text, oldest first: one of each tool."""
    return session.look_up("look up a text", sql.FIND_WORDINGS, (*shelf, rows.digest(text)))


def find_wording(session: SqliteSession, shelf: Shelf, action: Action) -> sqlite3.Row | None:
    """Return the wording of an action, if there is one.

    Args:
        session: The connection.
        shelf: Whose, which graph, and which role.
        action: Its text and tool decide.
    """
    tool = action.tool_name or ""
    found = find_wordings(session, shelf, action.text)
    return next((row for row in found if (row["tool_name"] or "") == tool), None)


def set_space(session: SqliteSession, space: EmbeddingSpace) -> None:
    """Note the space of the vectors, and that those in anybody's memory are of another."""
    session.set_meta("embedding", json.dumps(asdict(space)))
    session.forget_vectors()


def erase_episodes(session: SqliteSession, episodes: Sequence[sqlite3.Row]) -> int:
    """Delete episodes, with the texts that no other one has.

    Args:
        session: The connection, in a transaction.
        episodes: Rows with `seq`, `action`, `feedback` and `outcome`.

    Returns:
        How many episodes.
    """
    if episodes:
        gone = json.dumps([row["seq"] for row in episodes])
        texts = {row[role] for row in episodes for role in ("action", "feedback", "outcome")}
        session.write("delete episodes", sql.DELETE_EPISODES, (gone,))
        session.write("delete texts", sql.DELETE_ORPHANS, (json.dumps([*texts]),))
        session.note_erasure()
    return len(episodes)


def _count_new_edges(session: SqliteSession, episode: Episode, placement: Placement) -> int:
    values: dict[str, str] = {role: placed.node for role, placed in placement.items()}
    values["namespace"] = rows.encode_namespace(episode.namespace)
    values["kind"] = episode.kind
    links: tuple[tuple[Placed, Placed, str], ...] = (
        (placement.action, placement.feedback, sql.CAUSE_EXISTS),
        (placement.feedback, placement.outcome, sql.EFFECT_EXISTS),
    )
    return sum(
        source.created or target.created or not session.read("record", query, values)[0][0]
        for source, target, query in links
    )


def _insert_wording(
    session: SqliteSession, shelf: Shelf, action: Action, placed: Placed, space: EmbeddingSpace
) -> int:
    args = None if action.tool_args is None else json.dumps(dict(action.tool_args))
    encoded = rows.encode_vector(placed.vector, space)
    said = (rows.digest(action.text), placed.node, action.text, action.tool_name, args)
    return session.write("record", sql.INSERT_WORDING, (*shelf, *said, encoded)).lastrowid or 0
