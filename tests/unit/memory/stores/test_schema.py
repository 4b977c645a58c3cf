"""Migrations: numbered, each as a whole, never over somebody else's data."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores import schema
from driftguard_langgraph.memory.stores.schema import APPLICATION_ID, MIGRATIONS, migrate


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        yield opened


def version(connection: sqlite3.Connection) -> tuple[int, int]:
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    return owner, connection.execute("PRAGMA user_version").fetchone()[0]


def tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def test_a_migration_is_applied_once(connection: sqlite3.Connection) -> None:
    migrate(connection)
    before = tables(connection)
    migrate(connection)
    assert tables(connection) == before
    assert version(connection) == (APPLICATION_ID, len(MIGRATIONS))
    assert not connection.in_transaction


def test_later_migrations_are_applied_to_an_older_memory(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(connection)
    added = (("CREATE TABLE second(x)",), ("CREATE TABLE third(x)", "CREATE INDEX i ON third(x)"))
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, *added))
    migrate(connection)
    assert {"second", "third", "i"} <= tables(connection)
    assert version(connection) == (APPLICATION_ID, len(MIGRATIONS) + 2)


def test_a_migration_that_fails_leaves_the_memory_at_the_one_before(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(connection)
    added = (("CREATE TABLE second(x)",), ("CREATE TABLE third(x)", "CREATE TABLE third(x)"))
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, *added))
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection)
    assert "second" in tables(connection)
    assert "third" not in tables(connection)
    assert version(connection) == (APPLICATION_ID, len(MIGRATIONS) + 1)
    assert not connection.in_transaction


@pytest.mark.parametrize(
    "prepared",
    [
        ["CREATE TABLE theirs(x)"],
        [f"PRAGMA application_id={APPLICATION_ID + 1}"],
        [f"PRAGMA application_id={APPLICATION_ID}", "PRAGMA user_version=99"],
    ],
)
def test_what_is_not_ours_is_refused_without_a_write(
    connection: sqlite3.Connection, prepared: list[str]
) -> None:
    for statement in prepared:
        connection.execute(statement)
    before = tables(connection), version(connection), connection.total_changes
    with pytest.raises(SchemaMismatch):
        migrate(connection)
    assert (tables(connection), version(connection), connection.total_changes) == before
    assert not connection.in_transaction
