from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite3"


@pytest.fixture(params=["ephemeral", "file", "live connection"])
def store(request: pytest.FixtureRequest, database: Path) -> Iterator[BaseMemoryStore]:
    """Every way to have a store."""
    if request.param == "ephemeral":
        with EphemeralMemoryStore() as ephemeral:
            yield ephemeral
    elif request.param == "file":
        with SqliteMemoryStore.from_conn_string(str(database)) as opened:
            yield opened
    else:
        with closing(sqlite3.connect(database, check_same_thread=False)) as connection:
            live = SqliteMemoryStore(connection)
            live.setup()
            yield live


@pytest.fixture
def file_store(database: Path) -> Iterator[SqliteMemoryStore]:
    with SqliteMemoryStore.open(database) as opened:
        yield opened
