"""SQL text of the SQLite store.

Indexes are named where the planner, which has no statistics, would read a whole namespace
instead; `CROSS JOIN` is SQLite's way to fix the order of a join.
"""

from __future__ import annotations

INSERT_WORDING = """
    INSERT INTO wordings(namespace, kind, role, digest, node, text, tool_name, tool_args, vector)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

INSERT_EPISODE = """
    INSERT INTO episodes(namespace, episode_id, kind, action, feedback, outcome,
                         severity, created_at, thread, run, provenance, metadata)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

EPISODE_EXISTS = "SELECT EXISTS(SELECT 1 FROM episodes WHERE namespace=? AND episode_id=?)"

# All that every review and record asks first, in one query.
META = """
    SELECT key, value, EXISTS(SELECT 1 FROM wordings) AS wordings,
           EXISTS(SELECT 1 FROM runs) AS runs
    FROM meta
"""

_EDGE_EXISTS = """
    SELECT EXISTS(
        SELECT 1 FROM wordings s INDEXED BY wordings_node
        CROSS JOIN wordings t INDEXED BY wordings_node
        CROSS JOIN episodes e INDEXED BY {index} ON e.{source} = s.id AND e.{target} = t.id
        WHERE s.namespace = :namespace AND s.kind = :kind AND s.role = '{source}'
          AND s.node = :{source}
          AND t.namespace = :namespace AND t.kind = :kind AND t.role = '{target}'
          AND t.node = :{target})
"""
CAUSE_EXISTS = _EDGE_EXISTS.format(source="action", target="feedback", index="episodes_path")
EFFECT_EXISTS = _EDGE_EXISTS.format(source="feedback", target="outcome", index="episodes_effect")

FRESH_VECTORS = """
    SELECT id, vector FROM wordings INDEXED BY wordings_role
    WHERE namespace=? AND kind=? AND role=? AND id>? ORDER BY id LIMIT ?
"""

_SELECT_WORDING = "SELECT id, node, text, tool_name, tool_args FROM wordings "
_BY_TEXT = (
    _SELECT_WORDING + "INDEXED BY wordings_text WHERE namespace=? AND kind=? AND role=? "
    "AND digest=? "
)
FIND_WORDINGS = _BY_TEXT + "ORDER BY id"
WORDINGS_BY_ID = _SELECT_WORDING + "WHERE id IN (SELECT value FROM json_each(?))"
WORDINGS_BY_NODE = (
    _SELECT_WORDING + "INDEXED BY wordings_node WHERE namespace=? AND kind=? AND role=? "
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

# One branch for each kind, so that the index yields both in order and nothing is sorted.
_OF_KIND = """
    SELECT seq FROM episodes INDEXED BY episodes_kind
    WHERE namespace = :namespace AND kind = '{kind}' AND ifnull(:kind, '{kind}') = '{kind}'
"""
EPISODES_IN_ORDER = (
    _SELECT_EPISODE
    + "WHERE e.seq IN (SELECT seq FROM ("
    + " UNION ALL ".join(_OF_KIND.format(kind=kind) for kind in ("mistake", "success"))
    + " ORDER BY seq LIMIT :limit OFFSET :offset)) ORDER BY e.seq"
)

# Grouped in the order of the index, so that nothing is sorted however many episodes there are.
_COUNT_PATHS = """
    WITH counted AS (
        SELECT e.action, e.feedback, e.outcome,
               count(*) AS frequency, min(e.seq) AS oldest, max(e.seq) AS newest,
               min(e.created_at) AS first_seen, max(e.created_at) AS last_seen,
               max(e.severity) AS severity
        FROM episodes e INDEXED BY episodes_path
        WHERE e.action IN (
            SELECT id FROM wordings INDEXED BY wordings_node
            WHERE namespace = :namespace AND kind = :kind AND role = 'action' {only})
        GROUP BY e.action, e.feedback, e.outcome)
    SELECT c.*, a.last_used, a.node AS a, f.node AS f, o.node AS o,
           f.text AS feedback_text, o.text AS outcome_text,
           (SELECT json_group_array(json_array(seq, episode_id))
            FROM (SELECT e.seq, e.episode_id FROM episodes e INDEXED BY episodes_path
                  WHERE e.action = c.action AND e.feedback = c.feedback AND e.outcome = c.outcome
                  ORDER BY e.seq DESC LIMIT :sample)) AS sample
    FROM counted c
    CROSS JOIN wordings a ON a.id = c.action
    CROSS JOIN wordings f ON f.id = c.feedback
    CROSS JOIN wordings o ON o.id = c.outcome
"""
ALL_PATHS = _COUNT_PATHS.format(only="")
PATHS_OF_ACTIONS = _COUNT_PATHS.format(only="AND node IN (SELECT value FROM json_each(:actions))")

COUNT_SINCE = """
    SELECT count(*) FROM wordings a INDEXED BY wordings_node
    CROSS JOIN episodes e INDEXED BY episodes_path ON e.action = a.id
    WHERE a.namespace=? AND a.kind=? AND a.role='action'
      AND a.node IN (SELECT value FROM json_each(?)) AND e.created_at > ?
"""

NEXT_SUCCESS = """
    WITH remedies AS (
        SELECT m.seq,
               (SELECT s.seq FROM episodes s INDEXED BY episodes_thread
                WHERE s.namespace = m.namespace AND s.thread = m.thread
                  AND s.kind = 'success' AND s.seq > m.seq
                ORDER BY s.seq LIMIT 1) AS remedy
        FROM episodes m
        WHERE m.namespace = :namespace
          AND m.episode_id IN (SELECT value FROM json_each(:episodes)))
    SELECT a.id, a.node, a.text, a.tool_name, a.tool_args
    FROM remedies r CROSS JOIN episodes s ON s.seq = r.remedy
    CROSS JOIN wordings a ON a.id = s.action
    ORDER BY r.seq DESC LIMIT 1
"""

SET_VECTOR = "UPDATE wordings SET vector=? WHERE id=?"

_PARTS = "SELECT e.seq, e.action, e.feedback, e.outcome FROM "
PARTS_OF_EPISODE = _PARTS + "episodes e WHERE e.namespace=? AND e.episode_id=?"
PARTS_ON_PATHS = (
    _PARTS
    + """
    wordings a INDEXED BY wordings_node
    CROSS JOIN episodes e INDEXED BY episodes_path ON e.action = a.id
    CROSS JOIN wordings f ON f.id = e.feedback
    CROSS JOIN wordings o ON o.id = e.outcome
    WHERE a.namespace = :namespace AND a.kind = :kind AND a.role = 'action'
      AND a.node IN (SELECT json_extract(value, '$[0]') FROM json_each(:paths))
      AND (a.node, f.node, o.node) IN (
          SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'),
                 json_extract(value, '$[2]') FROM json_each(:paths))
"""
)
WORDINGS_OF_EPISODE = """
    SELECT e.seq, w.role, w.node, w.vector FROM episodes e
    CROSS JOIN wordings w ON w.id IN (e.action, e.feedback, e.outcome)
    WHERE e.namespace=? AND e.episode_id=?
"""
DELETE_EPISODES = "DELETE FROM episodes WHERE seq IN (SELECT value FROM json_each(?))"
DELETE_ORPHANS = """
    DELETE FROM wordings WHERE id IN (SELECT value FROM json_each(?))
        AND NOT EXISTS (SELECT 1 FROM episodes WHERE action = wordings.id)
        AND NOT EXISTS (SELECT 1 FROM episodes WHERE feedback = wordings.id)
        AND NOT EXISTS (SELECT 1 FROM episodes WHERE outcome = wordings.id)
"""

_UNUSED_LATELY = """
    namespace = :namespace AND kind = :kind AND role = 'action'
    AND node IN (SELECT value FROM json_each(:actions))
    AND (last_used IS NULL OR last_used < :stale)
"""
NEEDS_TOUCH = (
    f"SELECT EXISTS(SELECT 1 FROM wordings INDEXED BY wordings_node WHERE {_UNUSED_LATELY})"
)
TOUCH = f"UPDATE wordings INDEXED BY wordings_node SET last_used = :at WHERE {_UNUSED_LATELY}"

_ACTION_NODE = "wordings INDEXED BY wordings_node"
_OF_ACTION_NODE = "WHERE namespace=? AND kind=? AND role='action' AND node=?"
LAST_USE = f"SELECT max(last_used) FROM {_ACTION_NODE} {_OF_ACTION_NODE}"
SET_USE = f"UPDATE {_ACTION_NODE} SET last_used=? {_OF_ACTION_NODE}"

SET_ORDER = "UPDATE episodes SET seq=? WHERE namespace=? AND episode_id=?"
ORDER_IS_TAKEN = """
    SELECT EXISTS(
        SELECT 1 FROM episodes WHERE seq=? AND NOT (namespace=? AND episode_id=?))
"""
