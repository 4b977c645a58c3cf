"""Verdicts about whole runs in the SQLite store.

What a verdict says about an action is counted when it is asked for, from the episodes that
are there then; nothing of it is stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    WEIGHED_EPISODES,
    RunKept,
    RunScope,
    RunShare,
    RunVerdict,
)
from driftguard_langgraph.memory.stores.sqlite_session import SqliteSession
from driftguard_langgraph.types import SEVERITIES, Kind, Namespace

_RUN_EXISTS = "SELECT EXISTS(SELECT 1 FROM runs WHERE namespace=? AND scope=? AND run=?)"

_SET_RUN = """
    INSERT INTO runs(namespace, scope, run, success, outcome, severity, decided_at)
    VALUES(?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(namespace, scope, run) DO UPDATE SET
        success = excluded.success, outcome = excluded.outcome,
        severity = excluded.severity, decided_at = excluded.decided_at
"""

_GET_RUN = """
    SELECT scope, run, success, outcome, severity, decided_at FROM runs
    WHERE namespace=? AND scope=? AND run=?
"""

_LIST_RUNS = """
    SELECT scope, run, success, outcome, severity, decided_at FROM runs
    WHERE namespace=? ORDER BY decided_at, scope, run
"""

# A scope is also the name of the column, and of the index over it, that hold the ids.
_COUNT_ACTIONS = """
    SELECT count(DISTINCT a.node)
    FROM episodes e INDEXED BY episodes_{scope}
    CROSS JOIN wordings a ON a.id = e.action
    WHERE e.namespace = ? AND e.{scope} = ?
"""

_ENDED = """
    SELECT DISTINCT r.scope, r.run, r.success
    FROM newest n CROSS JOIN episodes e ON e.seq = n.seq
    CROSS JOIN runs r ON r.namespace = :namespace AND r.scope = '{scope}' AND r.run = e.{scope}
"""
_ACTED = """
    SELECT r.scope, r.run, r.success, e.action
    FROM ({ended}) r CROSS JOIN episodes e INDEXED BY episodes_{scope}
    ON e.namespace = :namespace AND e.{scope} = r.run
"""
_SCOPES: tuple[RunScope, ...] = ("thread", "run")
_IN_BOTH_SCOPES = " UNION ALL ".join(
    _ACTED.format(scope=scope, ended=_ENDED.format(scope=scope)) for scope in _SCOPES
)

# Nodes are counted by name alone: an action that failed and then worked in the same run has a
# node in both graphs, and is one action. Up to `newest` only indexes are read, which is what
# keeps a step with thousands of episodes cheap.
_RUN_SHARES = f"""
    WITH wanted AS MATERIALIZED (
        SELECT a.id
        FROM json_each(:actions) j CROSS JOIN wordings a INDEXED BY wordings_node
        ON a.namespace = :namespace AND a.kind = json_extract(j.value, '$[0]')
           AND a.role = 'action' AND a.node = json_extract(j.value, '$[1]')
        WHERE EXISTS(SELECT 1 FROM runs WHERE namespace = :namespace)),
    newest AS MATERIALIZED (
        SELECT e.seq
        FROM wanted w CROSS JOIN episodes e INDEXED BY episodes_path ON e.action = w.id
        ORDER BY e.seq DESC LIMIT :most),
    acted AS ({_IN_BOTH_SCOPES})
    SELECT d.success, count(DISTINCT a.node) AS actions,
           count(DISTINCT CASE WHEN a.id IN (SELECT id FROM wanted) THEN a.node END) AS matched
    FROM acted d CROSS JOIN wordings a ON a.id = d.action
    GROUP BY d.scope, d.run
"""

_IDLE = """
    (scope = '{scope}' AND NOT EXISTS(
        SELECT 1 FROM episodes e
        WHERE e.namespace = runs.namespace AND e.{scope} = runs.run))
"""
_DROP_IDLE = "DELETE FROM runs WHERE namespace=? AND (" + (
    " OR ".join(_IDLE.format(scope=scope) for scope in _SCOPES) + ")"
)


_ALL_RUNS = "SELECT * FROM runs ORDER BY namespace, scope, run"


def write_run(session: SqliteSession, namespace: Namespace, verdict: RunVerdict) -> None:
    """Write a verdict in place of an earlier one, in the caller's transaction."""
    key = (rows.encode_namespace(namespace), verdict.scope, verdict.run)
    said = (
        int(verdict.success),
        verdict.outcome,
        SEVERITIES.index(verdict.severity),
        rows.encode_time(verdict.decided_at),
    )
    session.write("record a run", _SET_RUN, (*key, *said))


def all_runs(session: SqliteSession) -> dict[Namespace, list[RunVerdict]]:
    """Return every verdict by namespace."""
    found: dict[Namespace, list[RunVerdict]] = {}
    for row in session.read("read runs", _ALL_RUNS):
        found.setdefault(rows.decode_namespace(row["namespace"]), []).append(rows.decode_run(row))
    return found


class SqliteRuns(BaseMemoryStore):
    """The part of the SQLite store that keeps verdicts about runs."""

    _session: SqliteSession

    def set_run(self, namespace: Namespace, verdict: RunVerdict) -> RunKept:
        """Keep a verdict about a run; see `BaseMemoryStore.set_run`."""
        whose = rows.encode_namespace(namespace)
        key = (whose, verdict.scope, verdict.run)
        count = _COUNT_ACTIONS.format(scope=verdict.scope)
        with self.exclusive():
            replaced = bool(self._session.read("record a run", _RUN_EXISTS, key)[0][0])
            write_run(self._session, namespace, verdict)
            actions = self._session.read("record a run", count, (whose, verdict.run))[0][0]
        return RunKept(replaced, int(actions))

    def get_run(self, namespace: Namespace, scope: RunScope, run: str) -> RunVerdict | None:
        """Return the verdict about a run, if there is one."""
        key = (rows.encode_namespace(namespace), scope, run)
        found = self._session.read("read a run", _GET_RUN, key)
        return rows.decode_run(found[0]) if found else None

    def list_runs(self, namespace: Namespace) -> Sequence[RunVerdict]:
        """Return every verdict of a namespace; see `BaseMemoryStore.list_runs`."""
        key = (rows.encode_namespace(namespace),)
        return [rows.decode_run(row) for row in self._session.read("list runs", _LIST_RUNS, key)]

    def run_shares(
        self, namespace: Namespace, actions: Mapping[Kind, Sequence[str]]
    ) -> Sequence[RunShare]:
        """Return the shares of actions in verdicts; see `BaseMemoryStore.run_shares`."""
        if not self._session.has("runs"):
            return ()
        wanted = [(kind, node) for kind, nodes in actions.items() for node in nodes]
        values = {
            "namespace": rows.encode_namespace(namespace),
            "actions": json.dumps(wanted),
            "most": WEIGHED_EPISODES,
        }
        found = self._session.read("weigh runs", _RUN_SHARES, values)
        return [RunShare(bool(row["success"]), row["matched"] / row["actions"]) for row in found]

    def drop_idle_runs(self, namespace: Namespace) -> int:
        """Erase verdicts about runs without episodes; return how many."""
        with self.exclusive():
            gone = self._session.write(
                "prune", _DROP_IDLE, (rows.encode_namespace(namespace),)
            ).rowcount
            if gone:
                self._session.note_erasure()
        return gone
