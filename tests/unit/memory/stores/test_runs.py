"""Verdicts about runs: kept once per run, counted from the episodes that are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from driftguard_langgraph.memory.stores import sqlite_runs
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.testing.checks.runs import act, verdict
from tests.memory_samples import HOME


def test_a_dropped_outcome_is_gone_from_the_bytes_of_the_file(database: Path) -> None:
    secret = "card 4711 belongs to Ann"
    with SqliteMemoryStore.open(database) as opened:
        act(opened, "a", thread_id="t1")
        opened.set_run(HOME, verdict(outcome=secret))
        opened.set_run(HOME, verdict("t2"))
        written = b"".join(path.read_bytes() for path in database.parent.iterdir())
        assert secret.encode() in written
        opened.delete(HOME, "e0")
        assert opened.drop_idle_runs(HOME) == 2
    assert secret.encode() not in database.read_bytes()


def test_no_run_query_reads_a_whole_table_or_namespace() -> None:
    with EphemeralMemoryStore() as store:
        for number in range(200):
            act(store, f"a{number % 50}", thread_id=f"t{number}", run_id=f"r{number}")
            store.set_run(HOME, verdict(f"t{number}"))
        connection = store._session.connection
        for analysed in (False, True):
            if analysed:
                connection.execute("ANALYZE")
            for query in (
                sqlite_runs._RUN_SHARES,
                sqlite_runs._COUNT_ACTIONS.format(scope="thread"),
                sqlite_runs._COUNT_ACTIONS.format(scope="run"),
            ):
                names = set(re.findall(r":(\w+)", query))
                values: Any = dict.fromkeys(names, "[]") if names else ("[]", "[]")
                plan = connection.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall()
                details = "\n".join(row["detail"] for row in plan)
                assert not re.search(r"SCAN (a|e|runs|episodes|wordings)\b", details)
                assert not re.search(r"SEARCH (a|e|r) .*\(namespace=\?\)$", details, re.MULTILINE)
