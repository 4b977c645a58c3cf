"""SQL text and row codecs of the SQLite store: pure, no I/O."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from datetime import UTC, datetime, timedelta

from driftguard_langgraph.memory.stores.records import EPISODE_SAMPLE, ChainPath, Wording
from driftguard_langgraph.types import SEVERITIES, Action, Episode, Namespace

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

INSERT_WORDING = """
    INSERT INTO wordings(namespace, kind, role, digest, node, text, tool_name, tool_args, vector)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

INSERT_EPISODE = """
    INSERT INTO episodes(namespace, episode_id, kind, action, feedback, outcome,
                         severity, created_at, thread, provenance, metadata)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_EDGE_EXISTS = """
    SELECT EXISTS(
        SELECT 1 FROM episodes e
        JOIN wordings s ON s.id = e.{source} JOIN wordings t ON t.id = e.{target}
        WHERE s.namespace = :namespace AND s.kind = :kind AND s.role = '{source}'
          AND s.node = :{source} AND t.node = :{target})
"""
EDGES_EXIST = tuple(
    _EDGE_EXISTS.format(source=source, target=target)
    for source, target in (("action", "feedback"), ("feedback", "outcome"))
)

_SELECT_WORDING = "SELECT id, node, text, tool_name, tool_args FROM wordings "
FIND_WORDING = _SELECT_WORDING + "WHERE namespace=? AND kind=? AND role=? AND digest=?"
WORDINGS_BY_ID = _SELECT_WORDING + "WHERE id IN (SELECT value FROM json_each(?))"
WORDINGS_BY_NODE = (
    _SELECT_WORDING + "WHERE namespace=? AND kind=? AND role=? "
    "AND node IN (SELECT value FROM json_each(?)) ORDER BY id"
)

_SELECT_EPISODE = """
    SELECT e.episode_id, e.namespace, e.kind, a.text AS action, a.tool_name, a.tool_args,
           f.text AS feedback, o.text AS outcome, e.severity, e.created_at,
           e.provenance, e.metadata
    FROM episodes e
    JOIN wordings a ON a.id = e.action
    JOIN wordings f ON f.id = e.feedback
    JOIN wordings o ON o.id = e.outcome
"""
EPISODE_BY_ID = _SELECT_EPISODE + "WHERE e.namespace=? AND e.episode_id=?"
EPISODES_IN_ORDER = (
    _SELECT_EPISODE + "WHERE e.namespace=? AND (? IS NULL OR e.kind=?) "
    "ORDER BY e.seq LIMIT ? OFFSET ?"
)

# CROSS JOIN is SQLite's way to fix the join order: from the few action wordings outwards.
_SELECT_PATHS = """
    WITH placed AS (
        SELECT e.*, a.node AS a, f.node AS f, o.node AS o,
               row_number() OVER (PARTITION BY a.node, f.node, o.node ORDER BY e.seq DESC) AS age
        FROM wordings a
        CROSS JOIN episodes e ON e.action = a.id
        CROSS JOIN wordings f ON f.id = e.feedback
        CROSS JOIN wordings o ON o.id = e.outcome
        WHERE a.namespace = :namespace AND a.kind = :kind AND a.role = 'action' {only}),
    counted AS (
        SELECT a, f, o, count(*) AS frequency, min(seq) AS first,
               min(created_at) AS first_seen, max(created_at) AS last_seen,
               max(last_used) AS last_used, max(severity) AS severity,
               max(CASE WHEN age = 1 THEN feedback END) AS feedback_id,
               max(CASE WHEN age = 1 THEN outcome END) AS outcome_id,
               json_group_array(episode_id) FILTER (WHERE age <= :sample) AS episode_ids
        FROM placed GROUP BY a, f, o)
    SELECT c.*, f.text AS feedback_text, o.text AS outcome_text
    FROM counted c
    JOIN wordings f ON f.id = c.feedback_id
    JOIN wordings o ON o.id = c.outcome_id
    ORDER BY c.first
"""
ALL_PATHS = _SELECT_PATHS.format(only="")
PATHS_OF_ACTIONS = _SELECT_PATHS.format(
    only="AND a.node IN (SELECT value FROM json_each(:actions))"
)

COUNT_SINCE = """
    SELECT count(*) FROM wordings a CROSS JOIN episodes e ON e.action = a.id
    WHERE a.namespace=? AND a.kind=? AND a.role='action'
      AND a.node IN (SELECT value FROM json_each(?)) AND e.created_at > ?
"""

NEXT_SUCCESS = """
    SELECT a.id, a.node, a.text, a.tool_name, a.tool_args
    FROM episodes m
    JOIN episodes s ON s.namespace = m.namespace AND s.thread = m.thread AND s.seq > m.seq
    JOIN wordings a ON a.id = s.action
    WHERE m.namespace = :namespace AND s.kind = 'success'
      AND m.episode_id IN (SELECT value FROM json_each(:episodes))
    ORDER BY m.seq DESC, s.seq LIMIT 1
"""

SET_VECTOR = "UPDATE wordings SET vector=? WHERE text=?"
DELETE_EPISODE = "DELETE FROM episodes WHERE namespace=? AND episode_id=?"

DELETE_PATH = """
    DELETE FROM episodes WHERE seq IN (
        SELECT e.seq FROM wordings a
        CROSS JOIN episodes e ON e.action = a.id
        CROSS JOIN wordings f ON f.id = e.feedback
        CROSS JOIN wordings o ON o.id = e.outcome
        WHERE a.namespace = ? AND a.kind = ? AND a.role = 'action' AND a.node = ?
          AND f.node = ? AND o.node = ?)
"""

DELETE_ORPHANS = """
    DELETE FROM wordings WHERE namespace = ?
        AND NOT EXISTS (SELECT 1 FROM episodes WHERE action = wordings.id)
        AND NOT EXISTS (SELECT 1 FROM episodes WHERE feedback = wordings.id)
        AND NOT EXISTS (SELECT 1 FROM episodes WHERE outcome = wordings.id)
"""

_USED_BY = """
    namespace = :namespace AND kind = :kind AND (last_used IS NULL OR last_used < :stale)
    AND action IN (SELECT id FROM wordings WHERE namespace = :namespace AND kind = :kind
                   AND role = 'action' AND node IN (SELECT value FROM json_each(:actions)))
"""
NEEDS_TOUCH = f"SELECT EXISTS(SELECT 1 FROM episodes WHERE {_USED_BY})"
TOUCH = f"UPDATE episodes SET last_used = :at WHERE {_USED_BY}"


def encode_namespace(namespace: Namespace) -> str:
    """Write a namespace so that any strings in it stay apart."""
    return json.dumps(list(namespace), ensure_ascii=False)


def decode_namespace(value: str) -> Namespace:
    """Read a namespace back."""
    return tuple(json.loads(value))


def digest(text: str) -> bytes:
    """Return the 16 bytes by which a text is told apart from every other."""
    return hashlib.sha256(text.encode()).digest()[:16]


def encode_time(moment: datetime) -> int:
    """Write a time as microseconds since 1970, UTC."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def decode_time(value: int) -> datetime:
    """Read a time back."""
    return _EPOCH + timedelta(microseconds=value)


def decode_action(text: str, tool_name: str | None, tool_args: str | None) -> Action:
    """Read an action back."""
    return Action(text, tool_name, None if tool_args is None else json.loads(tool_args))


def decode_wording(row: sqlite3.Row, similarity: float = 1.0) -> Wording:
    """Read a row of a wording query."""
    action = decode_action(row["text"], row["tool_name"], row["tool_args"])
    return Wording(row["node"], action, similarity)


def decode_episode(row: sqlite3.Row) -> Episode:
    """Read a row of an episode query."""
    return Episode(
        episode_id=row["episode_id"],
        namespace=decode_namespace(row["namespace"]),
        kind=row["kind"],
        action=decode_action(row["action"], row["tool_name"], row["tool_args"]),
        feedback=row["feedback"],
        outcome=row["outcome"],
        severity=SEVERITIES[row["severity"]],
        created_at=decode_time(row["created_at"]),
        provenance=json.loads(row["provenance"]),
        metadata=json.loads(row["metadata"]),
    )


def decode_path(row: sqlite3.Row) -> ChainPath:
    """Read a row of a path query."""
    used = row["last_used"]
    return ChainPath(
        action=row["a"],
        feedback=row["f"],
        outcome=row["o"],
        frequency=row["frequency"],
        first_seen=decode_time(row["first_seen"]),
        last_seen=decode_time(row["last_seen"]),
        last_used=None if used is None else decode_time(used),
        severity=SEVERITIES[row["severity"]],
        feedback_text=row["feedback_text"],
        outcome_text=row["outcome_text"],
        episode_ids=tuple(json.loads(row["episode_ids"]))[:EPISODE_SAMPLE],
    )
