"""SQL text of the Postgres store; `postgres_vectors` has that of the search by vector."""

from __future__ import annotations

INSERT_WORDING = """
    WITH fresh AS (
        INSERT INTO driftguard_wordings(shelf, digest, form, node_digest,
                                        node, text, tool_name, tool_args)
        VALUES(%(shelf)s, %(digest)s, %(form)s, %(node_digest)s,
               %(node)s, %(text)s, %(tool_name)s, %(tool_args)s)
        RETURNING id, shelf)
    INSERT INTO driftguard_vectors(id, shelf, embedding)
    SELECT id, shelf, %(vector)s FROM fresh RETURNING id
"""

INSERT_EPISODE = """
    INSERT INTO driftguard_episodes(owner, namespace, digest, episode_id, kind,
                                    action, feedback, outcome, severity, created_at,
                                    thread, run, provenance, metadata)
    VALUES(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""

KNOWN = """
    SELECT EXISTS(SELECT 1 FROM driftguard_episodes WHERE owner = %s AND digest = %s) AS stored,
           (SELECT value FROM driftguard_meta WHERE key = 'embedding') AS space
"""
SPACE = """
    SELECT value AS space FROM driftguard_meta
    WHERE key = 'embedding' AND EXISTS(SELECT 1 FROM driftguard_wordings)
"""
FIRST_SPACE = """
    INSERT INTO driftguard_meta VALUES('embedding', %s) ON CONFLICT(key) DO NOTHING
"""
SET_SPACE = """
    INSERT INTO driftguard_meta VALUES('embedding', %s)
    ON CONFLICT(key) DO UPDATE SET value = excluded.value
"""
# Not a number that is counted up: after a rollback it would be given out again.
FORGET_VECTORS = """
    INSERT INTO driftguard_meta VALUES('generation', gen_random_uuid()::text)
    ON CONFLICT(key) DO UPDATE SET value = excluded.value
"""
ANY_WORDING = "SELECT EXISTS(SELECT 1 FROM driftguard_wordings) AS found"

_EDGE_EXISTS = """
    EXISTS(
        SELECT 1 FROM driftguard_wordings s
        JOIN driftguard_episodes e ON e.{source} = s.id
        JOIN driftguard_wordings t ON t.id = e.{target}
        WHERE s.shelf = %({source}_shelf)s AND s.node_digest = %({source}_node)s
          AND t.shelf = %({target}_shelf)s AND t.node_digest = %({target}_node)s)
"""
EDGES = (
    f"SELECT {_EDGE_EXISTS.format(source='action', target='feedback')} AS cause, "
    f"{_EDGE_EXISTS.format(source='feedback', target='outcome')} AS effect"
)

_WORDING = "id, node, text, tool_name, tool_args"
FIND_WORDING = f"""
    SELECT {_WORDING} FROM driftguard_wordings WHERE shelf = %s AND digest = %s
    ORDER BY id LIMIT 1
"""
FIND_SAME_WORDINGS = """
    SELECT w.id, w.shelf
    FROM unnest(%s::uuid[], %s::uuid[], %s::uuid[]) AS asked(shelf, digest, form)
    JOIN driftguard_wordings w USING(shelf, digest, form)
"""
WORDINGS_BY_ID = f"SELECT {_WORDING} FROM driftguard_wordings WHERE id = ANY(%s)"
WORDINGS_BY_NODE = f"""
    SELECT {_WORDING} FROM driftguard_wordings
    WHERE shelf = %s AND node_digest = ANY(%s) ORDER BY id
"""

# Rows that grow at a time, with the generation that they are of, in one look at the table.
FRESH_VECTORS = """
    SELECT m.generation, v.id, array_send(v.embedding) AS vector
    FROM (SELECT coalesce((SELECT value FROM driftguard_meta WHERE key = 'generation'), '')
          AS generation) m
    LEFT JOIN (SELECT id, embedding FROM driftguard_vectors
               WHERE shelf = %s AND id > %s ORDER BY id LIMIT %s) v ON true
    ORDER BY v.id
"""
IS_LARGE = """
    WITH bound AS (
        SELECT greatest(%(least)s, %(root)s * sqrt(greatest(reltuples, 0)))::bigint AS most
        FROM pg_class WHERE oid = 'driftguard_vectors'::regclass)
    SELECT (SELECT count(*) FROM (SELECT FROM driftguard_vectors WHERE shelf = %(shelf)s
                                  LIMIT (SELECT most + 1 FROM bound)) counted)
           > (SELECT most FROM bound) AS large
"""
TUNE = """
    SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),
           set_config('hnsw.ef_search', %s, true)
"""

_SELECT_EPISODE = """
    SELECT e.episode_id, e.namespace, e.kind, a.text AS action, a.tool_name, a.tool_args,
           f.text AS feedback, o.text AS outcome, e.severity, e.created_at,
           e.provenance, e.metadata
    FROM {source} e
    JOIN driftguard_wordings a ON a.id = e.action
    JOIN driftguard_wordings f ON f.id = e.feedback
    JOIN driftguard_wordings o ON o.id = e.outcome
"""
EPISODE_BY_ID = (
    _SELECT_EPISODE.format(source="driftguard_episodes") + "WHERE e.owner = %s AND e.digest = %s"
)

# One branch for each kind, so that the index yields both in order and nothing is sorted.
_OF_KIND = """
    (SELECT * FROM driftguard_episodes
     WHERE owner = %(owner)s AND kind = '{kind}' AND coalesce(%(kind)s::text, '{kind}') = '{kind}'
     ORDER BY seq)
"""
_IN_ORDER = (
    "(SELECT * FROM ("
    + " UNION ALL ".join(_OF_KIND.format(kind=kind) for kind in ("mistake", "success"))
    + ") both_kinds ORDER BY seq LIMIT %(limit)s OFFSET %(offset)s)"
)
EPISODES_IN_ORDER = _SELECT_EPISODE.format(source=_IN_ORDER) + "ORDER BY e.seq"

# Jumps from namespace to namespace in the index; DISTINCT would read every episode.
NAMESPACES = """
    WITH RECURSIVE owners AS (
        (SELECT owner, namespace FROM driftguard_episodes ORDER BY owner LIMIT 1)
        UNION ALL
        SELECT next.owner, next.namespace
        FROM owners CROSS JOIN LATERAL (
            SELECT owner, namespace FROM driftguard_episodes
            WHERE owner > owners.owner ORDER BY owner LIMIT 1) next)
    SELECT namespace FROM owners
"""

_COUNT_PATHS = """
    WITH counted AS (
        SELECT e.action, e.feedback, e.outcome,
               count(*) AS frequency, min(e.seq) AS oldest, max(e.seq) AS newest,
               min(e.created_at) AS first_seen, max(e.created_at) AS last_seen,
               max(e.severity) AS severity
        FROM driftguard_wordings a JOIN driftguard_episodes e ON e.action = a.id
        WHERE a.shelf = %(shelf)s {only}
        GROUP BY e.action, e.feedback, e.outcome)
    SELECT c.*, a.last_used, a.node AS a, f.node AS f, o.node AS o,
           f.text AS feedback_text, o.text AS outcome_text, s.sample
    FROM counted c
    JOIN driftguard_wordings a ON a.id = c.action
    JOIN driftguard_wordings f ON f.id = c.feedback
    JOIN driftguard_wordings o ON o.id = c.outcome
    CROSS JOIN LATERAL (
        SELECT json_agg(json_build_array(seq, episode_id))::text AS sample
        FROM (SELECT e.seq, e.episode_id FROM driftguard_episodes e
              WHERE e.action = c.action AND e.feedback = c.feedback AND e.outcome = c.outcome
              ORDER BY e.seq DESC LIMIT %(sample)s) newest) s
"""
ALL_PATHS = _COUNT_PATHS.format(only="")
PATHS_OF_ACTIONS = _COUNT_PATHS.format(only="AND a.node_digest = ANY(%(actions)s)")

COUNT_SINCE = """
    SELECT count(*) AS episodes
    FROM driftguard_wordings a JOIN driftguard_episodes e ON e.action = a.id
    WHERE a.shelf = %s AND a.node_digest = ANY(%s) AND e.created_at > %s
"""

NEXT_SUCCESS = """
    SELECT a.id, a.node, a.text, a.tool_name, a.tool_args
    FROM driftguard_episodes m
    CROSS JOIN LATERAL (
        SELECT s.action FROM driftguard_episodes s
        WHERE s.owner = m.owner AND s.thread = m.thread AND s.kind = 'success' AND s.seq > m.seq
        ORDER BY s.seq LIMIT 1) remedy
    JOIN driftguard_wordings a ON a.id = remedy.action
    WHERE m.owner = %s AND m.digest = ANY(%s)
    ORDER BY m.seq DESC LIMIT 1
"""

KEPT_TEXTS = "SELECT DISTINCT text FROM driftguard_wordings"
WORDING_TEXTS = "SELECT id, text FROM driftguard_wordings"
SET_VECTOR = "UPDATE driftguard_vectors SET embedding = %s WHERE id = %s"

_PARTS = "SELECT DISTINCT e.seq, e.action, e.feedback, e.outcome FROM "
PARTS_OF_EPISODE = _PARTS + "driftguard_episodes e WHERE e.owner = %s AND e.digest = %s"
PARTS_ON_PATHS = (
    _PARTS
    + """
    unnest(%(actions)s::uuid[], %(feedbacks)s::uuid[], %(outcomes)s::uuid[]) AS p(a, f, o)
    JOIN driftguard_wordings a ON a.shelf = %(shelf)s AND a.node_digest = p.a
    JOIN driftguard_episodes e ON e.action = a.id
    JOIN driftguard_wordings f ON f.id = e.feedback AND f.node_digest = p.f
    JOIN driftguard_wordings o ON o.id = e.outcome AND o.node_digest = p.o
"""
)
DELETE_EPISODES = "DELETE FROM driftguard_episodes WHERE seq = ANY(%s)"
DELETE_ORPHANS = """
    DELETE FROM driftguard_wordings w WHERE id = ANY(%s)
        AND NOT EXISTS(SELECT 1 FROM driftguard_episodes WHERE action = w.id)
        AND NOT EXISTS(SELECT 1 FROM driftguard_episodes WHERE feedback = w.id)
        AND NOT EXISTS(SELECT 1 FROM driftguard_episodes WHERE outcome = w.id)
"""

_UNUSED_LATELY = """
    shelf = %(shelf)s AND node_digest = ANY(%(actions)s)
    AND (last_used IS NULL OR last_used < %(stale)s)
"""
NEEDS_TOUCH = f"SELECT EXISTS(SELECT 1 FROM driftguard_wordings WHERE {_UNUSED_LATELY}) AS stale"
TOUCH = f"UPDATE driftguard_wordings SET last_used = %(at)s WHERE {_UNUSED_LATELY}"

RUN_EXISTS = (
    "SELECT EXISTS(SELECT 1 FROM driftguard_runs WHERE owner = %s AND scope = %s AND key = %s) "
    "AS known"
)
SET_RUN = """
    INSERT INTO driftguard_runs(owner, scope, key, run, success, outcome, severity, decided_at)
    VALUES(%s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT(owner, scope, key) DO UPDATE SET
        success = excluded.success, outcome = excluded.outcome,
        severity = excluded.severity, decided_at = excluded.decided_at
"""
_SELECT_RUN = """
    SELECT scope, run, success, outcome, severity, decided_at FROM driftguard_runs
"""
GET_RUN = _SELECT_RUN + "WHERE owner = %s AND scope = %s AND key = %s"
LIST_RUNS = _SELECT_RUN + 'WHERE owner = %s ORDER BY decided_at, scope, run COLLATE "C"'

# A scope is also the name of the column of episodes that holds the digests of the ids.
COUNT_ACTIONS = """
    SELECT count(DISTINCT a.node) AS actions
    FROM driftguard_episodes e JOIN driftguard_wordings a ON a.id = e.action
    WHERE e.owner = %s AND e.{scope} = %s
"""
_SCOPES = ("thread", "run")
_ACTED = """
    SELECT r.scope, r.key, r.success, e.action
    FROM (SELECT DISTINCT r.scope, r.key, r.success
          FROM newest n JOIN driftguard_episodes e ON e.seq = n.seq
          JOIN driftguard_runs r
          ON r.owner = %(owner)s AND r.scope = '{scope}' AND r.key = e.{scope}) r
    JOIN driftguard_episodes e ON e.owner = %(owner)s AND e.{scope} = r.key
"""

# Nodes are counted by name alone: an action that failed and then worked in the same run has a
# node in both graphs, and is one action.
RUN_SHARES = f"""
    WITH wanted AS MATERIALIZED (
        SELECT a.id
        FROM unnest(%(shelves)s::uuid[], %(nodes)s::uuid[]) AS asked(shelf, node_digest)
        JOIN driftguard_wordings a USING(shelf, node_digest)
        WHERE EXISTS(SELECT 1 FROM driftguard_runs WHERE owner = %(owner)s)),
    newest AS MATERIALIZED (
        SELECT e.seq FROM wanted w JOIN driftguard_episodes e ON e.action = w.id
        ORDER BY e.seq DESC LIMIT %(most)s),
    acted AS ({" UNION ALL ".join(_ACTED.format(scope=scope) for scope in _SCOPES)})
    SELECT d.success, count(DISTINCT a.node) AS actions,
           count(DISTINCT a.node) FILTER (WHERE a.id IN (SELECT id FROM wanted)) AS matched
    FROM acted d JOIN driftguard_wordings a ON a.id = d.action
    GROUP BY d.scope, d.key, d.success
"""

_IDLE = """
    (scope = '{scope}' AND NOT EXISTS(
        SELECT 1 FROM driftguard_episodes e WHERE e.owner = r.owner AND e.{scope} = r.key))
"""
DROP_IDLE = "DELETE FROM driftguard_runs r WHERE owner = %s AND (" + (
    " OR ".join(_IDLE.format(scope=scope) for scope in _SCOPES) + ")"
)
