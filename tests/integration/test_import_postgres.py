"""driftguard-ai's tables in a real PostgreSQL server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from driftguard_langgraph.errors import ConfigurationError, SchemaMismatch
from driftguard_langgraph.importers.driftguard_ai import read_database, read_file
from driftguard_langgraph.text.validation import TextLimits
from tests.peer_samples import PeerMemory, shared_feedback
from tests.postgres_server import schema_dsn

TABLES: tuple[tuple[str, LiteralString], ...] = (
    ("meta", "CREATE TABLE {} (key TEXT PRIMARY KEY, value TEXT NOT NULL)"),
    ("nodes", ("CREATE TABLE {} (text TEXT PRIMARY KEY, type TEXT NOT NULL, embedding JSONB, "
              "frequency INTEGER NOT NULL, first_seen TEXT, last_seen TEXT)")),
    ("edges", ("CREATE TABLE {} (src TEXT, dst TEXT, frequency INTEGER NOT NULL, "
              "weight FLOAT NOT NULL, created_at TEXT, PRIMARY KEY (src, dst))")),
)  # fmt: skip


def write(dsn: str, memory: PeerMemory, prefix: str = "", version: str = "1") -> None:
    """Write a memory into tables as driftguard-ai lays them out."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        named = {table: Identifier(f"{prefix}driftguard_{table}") for table, _ in TABLES}
        for table, statement in TABLES:
            connection.execute(SQL(statement).format(named[table]))
        rows: list[tuple[LiteralString, str, list[tuple[object, ...]]]] = [
            (
                "INSERT INTO {} VALUES (%s, %s)",
                "meta",
                [("schema_name", "driftguard_postgres"), ("schema_version", version)],
            ),
            ("INSERT INTO {} VALUES (%s, %s, NULL, %s, %s, %s)", "nodes", memory.node_rows()),
            ("INSERT INTO {} VALUES (%s, %s, %s, %s, %s)", "edges", memory.edge_rows()),
        ]
        for statement, table, values in rows:
            with connection.cursor() as cursor:
                cursor.executemany(SQL(statement).format(named[table]), values)


def test_both_graphs_are_read_at_once_and_give_what_a_file_gives(tmp_path: Path) -> None:
    dsn = schema_dsn(tmp_path)
    worked = PeerMemory()
    worked.record("archive old logs", "backup written", "disk had room")
    write(dsn, shared_feedback())
    write(dsn, worked, "success_")
    found = read_database(dsn, None, ("n",), TextLimits())
    assert [(haul.kind, len(haul.episodes)) for haul in found] == [("mistake", 9), ("success", 1)]
    path = shared_feedback().write_json(tmp_path / "driftguard_graph.json")
    document = json.loads(path.read_text())
    from_file = read_file(path, document, None, ("n",), TextLimits())
    ids = {episode.episode_id for episode in from_file.episodes}
    assert {episode.episode_id for episode in found[0].episodes} == ids
    [only] = read_database(dsn, "success", ("n",), TextLimits())
    assert only.kind == "success"


def test_a_database_without_such_tables_or_of_another_version_is_refused(tmp_path: Path) -> None:
    dsn = schema_dsn(tmp_path)
    with pytest.raises(ConfigurationError, match="no tables of driftguard-ai"):
        read_database(dsn, None, ("n",), TextLimits())
    write(dsn, shared_feedback(), version="9")
    with pytest.raises(SchemaMismatch, match="version '9'"):
        read_database(dsn, None, ("n",), TextLimits())
