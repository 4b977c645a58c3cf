"""Search in Postgres: tenants in one table, the index, and no extension at all."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest
from psycopg import sql

from driftguard_langgraph.memory.stores import postgres, postgres_search
from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
from driftguard_langgraph.memory.stores.postgres_keys import key_of, shelf_of
from driftguard_langgraph.memory.stores.postgres_vectors import (
    VectorColumn,
    drop_index,
    encode_array,
    vector_dumper,
)
from driftguard_langgraph.memory.stores.records import EmbeddingSpace, Vector
from driftguard_langgraph.types import Namespace
from tests.memory_samples import HOME, append, episode, vector
from tests.postgres_server import (
    PLAIN,
    postgres_without_extension,
    schema_dsn,
    server_dsn,
)

TENANTS = 20
EACH = 1000
QUESTIONS = 8
DIMENSION = 64
TOPICS = 200


def tenant(number: int) -> Namespace:
    return (f"tenant {number}", "ada@example.org")


def units(rng: np.random.Generator, topics: Vector, count: int) -> Vector:
    """Vectors that lie in heaps, as those of texts do."""
    heaps = topics[rng.integers(0, len(topics), count)]
    drawn = heaps + rng.standard_normal(heaps.shape) * 0.7
    unit: Vector = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    return unit


class Crowd:
    """A memory in which many tenants of the same size share the table."""

    def __init__(self, dsn: str) -> None:
        rng = np.random.default_rng(0)
        topics = rng.standard_normal((TOPICS, DIMENSION)).astype(np.float32)
        self.dsn = dsn
        self.kept = units(rng, topics, TENANTS * EACH)
        self.questions = units(rng, topics, TENANTS * QUESTIONS)
        with PostgresMemoryStore.open(dsn) as store:
            append(store, episode(), space=EmbeddingSpace("made-up", DIMENSION))
            self.column = store._column
        with psycopg.connect(dsn, autocommit=True) as connection:
            self._fill(connection)

    def _fill(self, connection: psycopg.Connection) -> None:
        connection.execute(drop_index(DIMENSION).encode())
        wordings = (
            "COPY driftguard_wordings(shelf, digest, form, node_digest, node, text) FROM STDIN"
        )
        with connection.cursor() as cursor, cursor.copy(wordings) as copy:
            for number in range(len(self.kept)):
                text = f"step {number}"
                key = key_of(text)
                copy.write_row((self.shelf(number % TENANTS), key, key_of(""), key, text, text))
        vectors = "COPY driftguard_vectors(id, shelf, embedding) FROM STDIN"
        ids = connection.execute(
            "SELECT id, substr(text, 6)::int FROM driftguard_wordings WHERE text LIKE 'step %'"
        ).fetchall()
        with connection.cursor() as cursor, cursor.copy(vectors) as copy:
            for id_, number in ids:
                numbers = "[" + ",".join(map(str, self.kept[number].tolist())) + "]"
                copy.write_row((id_, self.shelf(number % TENANTS), numbers))
        connection.execute((self.column.create_index(DIMENSION) or "").encode())
        connection.execute("ANALYZE driftguard_vectors")

    def shelf(self, number: int) -> object:
        return shelf_of(tenant(number), "mistake", "action")

    def recalls(self, limit: int = 5) -> list[float]:
        """The share of the truly nearest that each tenant is given."""
        found = []
        with PostgresMemoryStore.open(self.dsn) as store:
            for number in range(TENANTS):
                own = np.arange(number, len(self.kept), TENANTS)
                shares = []
                for asked in self.questions[number::TENANTS]:
                    best = own[np.argsort(-(self.kept[own] @ asked))[:limit]]
                    hits = store.search(tenant(number), "mistake", "action", asked, limit)
                    assert len(hits) == limit
                    shares.append(
                        len({hit.action.text for hit in hits} & {f"step {n}" for n in best}) / limit
                    )
                found.append(float(np.mean(shares)))
        return found


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Crowd:
    return Crowd(schema_dsn(tmp_path_factory.mktemp("crowd")))


def test_each_of_twenty_tenants_gets_its_nearest(crowd: Crowd) -> None:
    assert crowd.recalls() == [1.0] * TENANTS


def test_a_small_tenant_gets_its_rows_through_the_index_as_well(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_search, "EXACT_UP_TO", 0)
    monkeypatch.setattr(postgres_search, "EXACT_PER_ROOT", 0)
    assert min(crowd.recalls()) >= 0.95


def test_the_search_of_a_large_shelf_reads_the_index_and_that_of_a_small_one_does_not(
    crowd: Crowd,
) -> None:
    column = crowd.column
    values = {
        "vector": crowd.questions[0],
        "shelf": crowd.shelf(0),
        "limit": 5,
        "reach": 10,
    }
    with psycopg.connect(crowd.dsn) as connection:
        connection.adapters.register_dumper(np.ndarray, vector_dumper())
        # What the planner would choose for more rows than a test can have.
        connection.execute("SET enable_sort = off")
        plans = [
            "\n".join(row[0] for row in connection.execute(f"EXPLAIN {query}".encode(), values))
            for query in (column.indexed(DIMENSION), column.exact())
        ]
    assert f"driftguard_vectors_hnsw_{DIMENSION}" in plans[0]
    assert "hnsw" not in plans[1]


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[PostgresMemoryStore]:
    postgres._WARNED.clear()
    with postgres_without_extension(tmp_path) as store:
        yield store


def test_a_memory_without_the_extension_is_warned_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    postgres._WARNED.clear()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            with postgres_without_extension(tmp_path) as store:
                store.setup()
    [warned] = caplog.messages
    assert "CREATE EXTENSION vector" in warned
    assert "searched exactly" in warned


def test_without_the_extension_what_another_process_replaced_is_read_anew(
    plain: PostgresMemoryStore, tmp_path: Path
) -> None:
    append(plain, episode("1", "a"))
    [hit] = plain.search(HOME, "mistake", "action", vector("a"), 3)
    assert hit.similarity == pytest.approx(1.0, abs=1e-6)
    with postgres_without_extension(tmp_path) as other:
        space = EmbeddingSpace("new", 8)
        other.replace_vectors(space, {text: vector(text, 8) for text in other.texts()})
        append(other, episode("2", "b"), space=space)
    hits = plain.search(HOME, "mistake", "action", vector("b", 8), 3)
    assert [hit.action.text for hit in hits] == ["b", "a"]


def test_an_extension_that_is_installed_later_is_used_from_the_next_setup_on() -> None:
    with psycopg.connect(server_dsn(), autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE later OWNER {}").format(sql.Identifier(PLAIN)))
    dsn = psycopg.conninfo.make_conninfo(server_dsn(), dbname="later")
    plain = psycopg.conninfo.make_conninfo(dsn, user=PLAIN)
    with PostgresMemoryStore.open(plain) as store:
        append(store, episode("1", "a"))
        append(store, episode("2", "b"))
    with psycopg.connect(dsn, autocommit=True) as server:
        server.execute("CREATE SCHEMA elsewhere; CREATE EXTENSION vector SCHEMA elsewhere")
        server.execute(f"GRANT USAGE ON SCHEMA elsewhere TO {PLAIN}")
    with PostgresMemoryStore.open(plain) as store:
        assert store._column == VectorColumn("elsewhere")
        append(store, episode("3", "c"))
        for text in "abc":
            hits = store.search(HOME, "mistake", "action", vector(text), 3)
            assert hits[0].action.text == text
            assert hits[0].similarity == pytest.approx(1.0, abs=1e-6)
            assert len(hits) == 3
    with psycopg.connect(dsn) as server:
        found = server.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE '%hnsw%'")
        assert found.fetchall() == [("driftguard_vectors_hnsw_16",)]


def test_a_vector_is_written_as_the_server_reads_it() -> None:
    given = vector("any", 384)
    with psycopg.connect(server_dsn()) as connection:
        [sent] = connection.execute(
            "SELECT array_send(%s::real[])", (given.tolist(),)
        ).fetchone() or (b"",)
    assert encode_array(given) == sent
