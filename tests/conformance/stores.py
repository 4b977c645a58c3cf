"""How the conformance suite opens each backend at a place."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from driftguard_langgraph.memory.stores.langgraph import LangGraphMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.testing.places import Factory
from tests.postgres_server import postgres_dsn

_stores: dict[Path, InMemoryStore] = {}


def ephemeral(_: Path) -> EphemeralMemoryStore:
    return EphemeralMemoryStore()


def sqlite_file(place: Path) -> SqliteMemoryStore:
    return SqliteMemoryStore.open(place / "memory.sqlite3")


@contextmanager
def sqlite_connection(place: Path) -> Iterator[SqliteMemoryStore]:
    path = place / "memory.sqlite3"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        store = SqliteMemoryStore(connection)
        store.setup()
        yield store


def json_file(place: Path) -> JsonMemoryStore:
    return JsonMemoryStore.open(place / "memory.json")


@contextmanager
def langgraph_in_memory(place: Path) -> Iterator[LangGraphMemoryStore]:
    """Handles at the same place are handles on one `InMemoryStore` of this process."""
    with LangGraphMemoryStore(_stores.setdefault(place, InMemoryStore())) as store:
        store.setup()
        yield store


@contextmanager
def langgraph_sqlite(place: Path) -> Iterator[LangGraphMemoryStore]:
    with SqliteStore.from_conn_string(str(place / "store.sqlite3")) as kept:
        kept.setup()
        with LangGraphMemoryStore(kept, namespace=("acme", "memory")) as store:
            yield store


BACKENDS: dict[str, Factory] = {
    "ephemeral": ephemeral,
    "sqlite": sqlite_file,
    "json": json_file,
    "langgraph": langgraph_in_memory,
    "postgres": postgres_dsn,
}
"""One way to open each backend, by its name."""
