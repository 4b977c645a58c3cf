"""Verdicts about whole runs in the Postgres store; counted from the episodes when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from driftguard_langgraph.memory.stores import postgres_queries as sql
from driftguard_langgraph.memory.stores import sqlite_rows as rows
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.postgres_keys import key_of, owner_of, shelf_of
from driftguard_langgraph.memory.stores.postgres_session import PostgresSession
from driftguard_langgraph.memory.stores.records import (
    WEIGHED_EPISODES,
    RunKept,
    RunScope,
    RunShare,
    RunVerdict,
)
from driftguard_langgraph.types import SEVERITIES, Kind, Namespace


class PostgresRuns(BaseMemoryStore):
    """The part of the Postgres store that keeps verdicts about runs."""

    _session: PostgresSession

    def set_run(self, namespace: Namespace, verdict: RunVerdict) -> RunKept:
        """Keep a verdict about a run; see `BaseMemoryStore.set_run`."""
        owner, run = owner_of(namespace), key_of(verdict.run)
        key = (owner, verdict.scope, run)
        said = (
            verdict.run,
            verdict.success,
            verdict.outcome,
            SEVERITIES.index(verdict.severity),
            rows.encode_time(verdict.decided_at),
        )
        count = sql.COUNT_ACTIONS.format(scope=verdict.scope)
        with self.exclusive():
            replaced = self._session.read("record a run", sql.RUN_EXISTS, key, owner)[0]["known"]
            self._session.write("record a run", sql.SET_RUN, (*key, *said), owner)
            [found] = self._session.read("record a run", count, (owner, run), owner)
        return RunKept(bool(replaced), int(found["actions"]))

    def get_run(self, namespace: Namespace, scope: RunScope, run: str) -> RunVerdict | None:
        """Return the verdict about a run, if there is one."""
        owner = owner_of(namespace)
        found = self._session.read("read a run", sql.GET_RUN, (owner, scope, key_of(run)), owner)
        return rows.decode_run(found[0]) if found else None

    def list_runs(self, namespace: Namespace) -> Sequence[RunVerdict]:
        """Return every verdict of a namespace; see `BaseMemoryStore.list_runs`."""
        owner = owner_of(namespace)
        found = self._session.read("list runs", sql.LIST_RUNS, (owner,), owner)
        return [rows.decode_run(row) for row in found]

    def run_shares(
        self, namespace: Namespace, actions: Mapping[Kind, Sequence[str]]
    ) -> Sequence[RunShare]:
        """Return the shares of actions in verdicts; see `BaseMemoryStore.run_shares`."""
        owner = owner_of(namespace)
        wanted = [(kind, node) for kind, nodes in actions.items() for node in nodes]
        values = {
            "owner": owner,
            "shelves": [shelf_of(namespace, kind, "action") for kind, _ in wanted],
            "nodes": [key_of(node) for _, node in wanted],
            "most": WEIGHED_EPISODES,
        }
        found = self._session.read("weigh runs", sql.RUN_SHARES, values, owner)
        return [RunShare(bool(row["success"]), row["matched"] / row["actions"]) for row in found]

    def drop_idle_runs(self, namespace: Namespace) -> int:
        """Erase verdicts about runs without episodes; return how many."""
        owner = owner_of(namespace)
        with self.exclusive():
            return self._session.write("prune", sql.DROP_IDLE, (owner,), owner)
