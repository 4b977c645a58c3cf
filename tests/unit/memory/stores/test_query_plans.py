"""Queries on the way of every review and record use an index, however SQLite was analysed."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

import pytest

from driftguard_langgraph.memory.stores import sqlite_queries
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from tests.memory_samples import append, episode

QUERIES = {
    name: query
    for name, query in vars(sqlite_queries).items()
    if name.isupper() and not name.startswith("_")
}
WHOLE_SHELF_BY_INTENT = {"ALL_PATHS": {"wordings"}}
UNORDERED_BY_INTENT = {"WORDINGS_BY_NODE", "NEXT_SUCCESS", "FIND_WORDINGS"}


@pytest.fixture(scope="module", params=["never analysed", "analysed"])
def connection(request: pytest.FixtureRequest) -> Iterator[sqlite3.Connection]:
    with EphemeralMemoryStore() as store:
        for number in range(600):
            kind = "success" if number % 9 == 0 else "mistake"
            append(store, episode(f"e{number}", f"a{number % 300}", kind=kind, thread="t"))  # type: ignore[arg-type]
        if request.param == "analysed":
            store._session.connection.execute("ANALYZE")
        yield store._session.connection


def plan(connection: sqlite3.Connection, query: str) -> list[str]:
    names = set(re.findall(r":(\w+)", query))
    values = dict.fromkeys(names, "[]") if names else ("[]",) * query.count("?")
    return [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]


@pytest.mark.parametrize("name", QUERIES)
def test_no_query_reads_a_whole_table(connection: sqlite3.Connection, name: str) -> None:
    details = plan(connection, QUERIES[name])
    tables = ("episodes", "wordings", "e", "s", "t", "a", "f", "o", "m")
    scanned = [d for d in details for table in tables if re.match(rf"SCAN {table}\b", d)]
    if name == "META":
        # Whether there is any row at all: the scan ends with the first.
        scanned = []
    assert scanned == []


@pytest.mark.parametrize("name", QUERIES)
def test_no_query_reads_a_whole_namespace(connection: sqlite3.Connection, name: str) -> None:
    broad = re.compile(r"SEARCH (\w+) USING .*\(namespace=\?( AND kind=\?)?( AND role=\?)?\)$")
    found = {hit[1] for detail in plan(connection, QUERIES[name]) if (hit := broad.match(detail))}
    if name == "EPISODES_IN_ORDER":
        # It walks the index in order and stops at the limit.
        found -= {"episodes"}
    assert found == WHOLE_SHELF_BY_INTENT.get(name, set())


@pytest.mark.parametrize("name", sorted(QUERIES.keys() - UNORDERED_BY_INTENT))
def test_no_query_sorts_more_than_the_few_rows_it_found(
    connection: sqlite3.Connection, name: str
) -> None:
    assert [d for d in plan(connection, QUERIES[name]) if "TEMP B-TREE" in d] == []


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("FRESH_VECTORS", r"wordings_role \(namespace=\? AND kind=\? AND role=\? AND rowid>\?\)"),
        ("WORDINGS_BY_NODE", r"wordings_node \(.*node=\?\)"),
        ("PATHS_OF_ACTIONS", r"COVERING INDEX episodes_path \(action=\?\)"),
        ("COUNT_SINCE", r"COVERING INDEX episodes_path \(action=\?\)"),
        ("NEXT_SUCCESS", r"episodes_thread \(namespace=\? AND thread=\? AND kind=\? AND rowid>\?"),
        ("CAUSE_EXISTS", r"COVERING INDEX episodes_path \(action=\? AND feedback=\?\)"),
        ("EFFECT_EXISTS", r"COVERING INDEX episodes_effect \(feedback=\? AND outcome=\?\)"),
        ("FIND_WORDINGS", r"wordings_text \(.*digest=\?\)"),
        ("NEEDS_TOUCH", r"wordings_node \(.*node=\?\)"),
        ("TOUCH", r"wordings_node \(.*node=\?\)"),
        ("EPISODE_EXISTS", r"COVERING INDEX .*\(namespace=\? AND episode_id=\?\)"),
    ],
)
def test_a_hot_query_uses_the_index_that_was_made_for_it(
    connection: sqlite3.Connection, name: str, index: str
) -> None:
    assert any(re.search(index, detail) for detail in plan(connection, QUERIES[name]))
