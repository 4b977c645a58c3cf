"""driftguard-ai's files: every layout gives the same graph, damage gives one clear error."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import CorruptStore, SchemaMismatch
from driftguard_langgraph.importers.graph_files import (
    graph_of_json,
    graph_of_sqlite,
    is_json_graph,
    is_sqlite_graph,
)
from driftguard_langgraph.importers.graph_tables import is_dsn
from driftguard_langgraph.importers.peer_graph import MOST_EVENTS
from tests.peer_samples import PeerMemory, shared_feedback

DOCUMENT = shared_feedback().document()


def changed(part: str, place: int, **wrong: Any) -> dict[str, Any]:
    graph = dict(DOCUMENT["graph"])
    graph[part] = [
        {**each, **wrong} if number == place else each for number, each in enumerate(graph[part])
    ]
    return {**DOCUMENT, "graph": graph}


def test_every_layout_gives_the_same_graph(tmp_path: Path) -> None:
    memory = shared_feedback()
    path = memory.write_sqlite(tmp_path / "graph.sqlite3")
    assert is_sqlite_graph(path)
    graphs = [
        graph_of_json(memory.document(2)),
        graph_of_json(memory.document(1)),
        graph_of_json(memory.node_link("links")),
        graph_of_json(memory.node_link("edges")),
        graph_of_sqlite(path),
    ]
    layouts = ["json 2", "json 1", "json without a version", "json without a version", "sqlite 1"]
    assert [graph.layout for graph in graphs] == layouts
    for graph in graphs:
        assert (graph.nodes, graph.edges) == (graphs[0].nodes, graphs[0].edges)
    assert graphs[0].nodes["timeout error"].frequency == 8


def test_reading_a_database_changes_nothing_beside_it(tmp_path: Path) -> None:
    path = shared_feedback().write_sqlite(tmp_path / "graph.sqlite3")
    before = path.read_bytes()
    path.chmod(0o444)
    graph_of_sqlite(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_early_releases_name_one_role_as_a_text() -> None:
    memory = PeerMemory(keeps_roles=False)
    memory.record("a", "f", "o")
    graph = graph_of_json(memory.document(1))
    assert graph.nodes["a"].roles == {"action"}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ({"format": "driftguard_graph", "format_version": 2, "graph": None}, "no nodes"),
        ({"nodes": None, "edges": []}, "no objects"),
        ({"nodes": [1], "edges": []}, "no objects"),
        (changed("nodes", 0, id=7), "no text"),
        (changed("nodes", 0, id="timeout error"), "there twice"),
        (changed("nodes", 0, frequency=0), "frequency of the node 'restart pod' is 0"),
        (changed("nodes", 0, frequency="2"), "frequency"),
        (changed("nodes", 0, frequency=True), "frequency"),
        (changed("nodes", 0, frequency=MOST_EVENTS), "more than"),
        (changed("nodes", 0, type=[1]), "type of 'restart pod'"),
        (changed("nodes", 0, last_seen="yesterday"), "last_seen is 'yesterday'"),
        (changed("nodes", 0, first_seen=5), "first_seen is 5"),
        (changed("nodes", 0, last_seen="0001-01-01T00:00:00+23:00"), "no date"),
        (changed("edges", 0, target="nowhere"), "'nowhere', which is no node"),
        (changed("edges", 0, target=None), "None, which is no node"),
        (changed("edges", 0, frequency=-1), "a link of 'restart pod'"),
        (changed("edges", 1, source="restart pod", target="timeout error"), "there twice"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damage_is_named(document: dict[str, Any], why: str) -> None:
    with pytest.raises(CorruptStore, match=r"^(it|its) ") as raised:
        graph_of_json(document)
    assert why in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("version", [3, "2", None, True], ids=repr)
def test_a_version_that_is_not_known_is_refused(version: object) -> None:
    document = {**DOCUMENT, "format_version": version}
    assert is_json_graph(document)
    with pytest.raises(SchemaMismatch, match="versions 1 and 2"):
        graph_of_json(document)


@pytest.mark.parametrize(
    "document", [None, [], {}, {"format": "other", "nodes": [], "edges": []}, {"nodes": []}],
    ids=json.dumps,
)  # fmt: skip
def test_other_json_is_no_graph(document: object) -> None:
    assert not is_json_graph(document)


def test_tables_of_another_version_or_with_damaged_rows_are_refused(tmp_path: Path) -> None:
    path = shared_feedback().write_sqlite(tmp_path / "graph.sqlite3")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE nodes SET frequency = 'many' WHERE text = 'restart pod'")
    with pytest.raises(CorruptStore, match="'many'"):
        graph_of_sqlite(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value = '2' WHERE key = 'schema_version'")
    with pytest.raises(SchemaMismatch, match="version '2'"):
        graph_of_sqlite(path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(CorruptStore, match="database"):
        graph_of_sqlite(path)


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        ("postgresql://user:pass@host/db", True),
        ("postgresql+psycopg://user@host/db", True),
        ("postgres://host/db", True),
        ("postgres.json", False),
        ("https://example.org/driftguard_graph.json", False),
    ],
)
def test_a_connection_string_is_told_from_a_path(source: str, is_one: bool) -> None:
    assert is_dsn(source) is is_one
