from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg_pool import ConnectionPool

from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
from driftguard_langgraph.testing import Capability, memory_store_suite
from driftguard_langgraph.testing.checks.embedding import EmbeddingChecks
from driftguard_langgraph.testing.checks.handles import HandleChecks
from driftguard_langgraph.testing.checks.searching import SearchingChecks
from driftguard_langgraph.testing.checks.transactions import TransactionChecks
from driftguard_langgraph.testing.checks.twins import TwinChecks
from tests.postgres_server import postgres_dsn, postgres_without_extension, schema_dsn

EVERYTHING_BUT_FILES: set[Capability] = {"durable", "live", "locking", "cross_process"}


@contextmanager
def postgres_connection(place: Path) -> Iterator[PostgresMemoryStore]:
    with psycopg.connect(schema_dsn(place)) as connection:
        store = PostgresMemoryStore(connection)
        store.setup()
        yield store


@contextmanager
def postgres_pool(place: Path) -> Iterator[PostgresMemoryStore]:
    with ConnectionPool(schema_dsn(place), min_size=1, max_size=4, open=True) as pool:
        store = PostgresMemoryStore(pool)
        store.setup()
        yield store


TestPostgresDsn = memory_store_suite(postgres_dsn, EVERYTHING_BUT_FILES)


# Where it matters whose the connections are, or how vectors are kept; all else is the same.
class TestPostgresConnection(TransactionChecks, HandleChecks):
    factory = staticmethod(postgres_connection)
    capabilities = frozenset(EVERYTHING_BUT_FILES)


class TestPostgresPool(TransactionChecks, TwinChecks):
    factory = staticmethod(postgres_pool)
    capabilities = frozenset(EVERYTHING_BUT_FILES)


class TestPostgresWithoutExtension(TransactionChecks, SearchingChecks, EmbeddingChecks):
    factory = staticmethod(postgres_without_extension)
    capabilities = frozenset(EVERYTHING_BUT_FILES)
