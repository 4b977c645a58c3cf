"""Reading driftguard-ai's files: JSON of its three layouts, and SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from driftguard_langgraph.errors import CorruptStore, SchemaMismatch
from driftguard_langgraph.importers.peer_graph import PeerGraph, build_graph

FORMAT = "driftguard_graph"
VERSIONS = (1, 2)
SCHEMA = ("driftguard_sqlite", "1")

_NODES = "SELECT text, type, frequency, first_seen, last_seen FROM nodes ORDER BY rowid"
_EDGES = "SELECT src, dst, frequency, created_at FROM edges ORDER BY rowid"


def is_json_graph(document: object) -> bool:
    """Whether a JSON document is a graph of driftguard-ai, of whatever version."""
    if not isinstance(document, Mapping):
        return False
    if "format" in document or "format_version" in document:
        return document.get("format") == FORMAT
    return _is_node_link(document)


def graph_of_json(document: Mapping[str, Any]) -> PeerGraph:
    """Return the graph of a JSON document.

    Args:
        document: One that `is_json_graph`.

    Raises:
        SchemaMismatch: It is of a version that is not known.
        CorruptStore: It is damaged.
    """
    version = document.get("format_version")
    graph: object
    if "format" not in document:
        graph, layout = document, "json without a version"
    elif version in VERSIONS and not isinstance(version, bool):
        graph, layout = document.get("graph"), f"json {version}"
    else:
        raise SchemaMismatch(
            f"it is a graph of driftguard-ai in version {ascii(version)[:40]}; versions 1 and 2 "
            "are read."
        )
    if not isinstance(graph, Mapping) or not _is_node_link(graph):
        raise CorruptStore("it holds no nodes and links.")
    # networkx renamed the key of the links with 3.6.
    links = graph["edges"] if "edges" in graph else graph["links"]
    nodes = graph["nodes"]
    if not all(isinstance(each, list) for each in (nodes, links)) or not all(
        isinstance(item, dict) for item in [*nodes, *links]
    ):
        raise CorruptStore("its nodes or links are no objects.")
    return build_graph(
        layout,
        ((node.get("id"), node) for node in nodes),
        ((link.get("source"), link.get("target"), link) for link in links),
    )


def _is_node_link(document: Mapping[str, Any]) -> bool:
    return "nodes" in document and ("links" in document or "edges" in document)


def is_sqlite_graph(path: Path) -> bool:
    """Whether a SQLite database holds driftguard-ai's tables.

    Raises:
        CorruptStore: It cannot be read as a database.
    """
    with closing(_opened(path)) as connection:
        try:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return {"meta", "nodes", "edges"} <= {str(name) for (name,) in found}
        except sqlite3.Error as error:
            raise _unreadable(error) from None


def graph_of_sqlite(path: Path) -> PeerGraph:
    """Return the graph of a SQLite database; it is opened for reading only.

    Raises:
        SchemaMismatch: Its tables are of a version that is not known.
        CorruptStore: It is damaged.
    """
    with closing(_opened(path)) as connection:
        try:
            # One transaction, so that a program that writes meanwhile changes nothing.
            connection.execute("BEGIN")
            told = dict(connection.execute("SELECT key, value FROM meta").fetchall())
            nodes = connection.execute(_NODES).fetchall()
            edges = connection.execute(_EDGES).fetchall()
        except (sqlite3.Error, ValueError) as error:
            raise _unreadable(error) from None
    return graph_of_rows("sqlite", SCHEMA, told, nodes, edges)


def graph_of_rows(
    layout: str,
    schema: tuple[str, str],
    told: Mapping[str, Any],
    nodes: list[tuple[Any, ...]],
    edges: list[tuple[Any, ...]],
) -> PeerGraph:
    """Return the graph of the rows of tables.

    Args:
        layout: What was read.
        schema: Name and version that the tables must have.
        told: What they say about themselves.
        nodes: Text, type, frequency, first and last seen.
        edges: Source, target, frequency, creation.

    Raises:
        SchemaMismatch: They are of a version that is not known.
        CorruptStore: A row is damaged.
    """
    name, version = told.get("schema_name"), told.get("schema_version")
    if (name, version) != schema:
        raise SchemaMismatch(
            f"its tables are {ascii(name)[:40]} version {ascii(version)[:40]}, and "
            f"{schema[0]} version {schema[1]} is read."
        )
    keys = ("type", "frequency", "first_seen", "last_seen")
    return build_graph(
        f"{layout} {version}",
        ((text, dict(zip(keys, rest, strict=True))) for text, *rest in nodes),
        (
            (source, target, {"frequency": frequency, "created_at": created})
            for source, target, frequency, created in edges
        ),
    )


def load_json(data: bytes) -> Any:
    """Return the JSON document of a file.

    Raises:
        CorruptStore: It is none.
    """
    try:
        return json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise CorruptStore(f"it is no JSON ({error}).") from None


def _opened(path: Path) -> sqlite3.Connection:
    place = f"{path.resolve().as_uri()}?mode=ro"
    try:
        return sqlite3.connect(place, uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise _unreadable(error) from None


def _unreadable(error: Exception) -> CorruptStore:
    return CorruptStore(f"it cannot be read as a database ({error}).")
