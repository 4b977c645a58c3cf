"""The Postgres store beyond what every store must do: connections, schemas, the index."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from driftguard_langgraph import DriftGuard, DriftGuardSettings
from driftguard_langgraph.cli import checkup
from driftguard_langgraph.cli.settings_table import setting_rows
from driftguard_langgraph.errors import (
    ConfigurationError,
    InvalidEpisode,
    MissingExtra,
    SchemaMismatch,
    StoreUnavailable,
)
from driftguard_langgraph.memory.stores import postgres_session
from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
from driftguard_langgraph.memory.stores.postgres_schema import MIGRATIONS, TABLES
from driftguard_langgraph.memory.stores.records import EmbeddingSpace
from tests.memory_samples import HOME, SeededEmbedder, append, episode, vector
from tests.postgres_server import PLAIN, schema_dsn

ROOT = Path(__file__).parents[2]
WAIT = 30
OTHER = ("somebody else",)


@pytest.fixture
def dsn(tmp_path: Path) -> str:
    return schema_dsn(tmp_path)


@pytest.fixture
def store(dsn: str) -> Iterator[PostgresMemoryStore]:
    with PostgresMemoryStore.from_conn_string(dsn) as opened:
        yield opened


@pytest.fixture
def beside(dsn: str) -> Iterator[psycopg.Connection]:
    """A connection to the same schema that is not the store's."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def hang_up(beside: psycopg.Connection) -> None:
    """End every other connection to the same schema."""
    beside.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND application_name = 'driftguard'"
    )


def test_a_connection_that_was_lost_is_made_anew_by_the_next_call(
    store: PostgresMemoryStore, beside: psycopg.Connection
) -> None:
    append(store, episode("1"))
    hang_up(beside)
    assert append(store, episode("2")).stored
    assert len(store.list(HOME)) == 2


def test_a_connection_that_is_lost_in_a_block_keeps_nothing_of_it(
    store: PostgresMemoryStore, beside: psycopg.Connection
) -> None:
    def lose_it() -> None:
        with store.exclusive():
            append(store, episode("1"))
            hang_up(beside)
            append(store, episode("2"))

    with pytest.raises(StoreUnavailable, match="the next call connects anew"):
        lose_it()
    assert list(store.list(HOME)) == []
    assert append(store, episode("1")).stored


def test_a_server_that_cannot_be_reached_is_reported_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="Check that the server runs") as caught:
        PostgresMemoryStore.open(f"postgresql://ada:secret@/agents?host={tmp_path}")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("wrong", ["secret words", "postgresql://ada:secret@[host/x", "secret=1"])
def test_what_is_no_connection_string_is_refused_without_quoting_it(wrong: str) -> None:
    with pytest.raises(ConfigurationError, match="postgresql://user@host") as caught:
        PostgresMemoryStore.open(wrong)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_statement_that_failed_in_a_block_is_not_taken_for_a_success(
    store: PostgresMemoryStore,
) -> None:
    append(store, episode("0"))

    def swallow() -> None:
        with store.exclusive():
            append(store, episode("1", "another"))
            with pytest.raises(SchemaMismatch):
                store.search(HOME, "mistake", "action", vector("x", 8), 3)

    with pytest.raises(StoreUnavailable, match="rolled back"):
        swallow()
    assert [kept.episode_id for kept in store.list(HOME)] == ["0"]


def test_a_given_connection_with_a_transaction_under_way_is_refused(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(ConfigurationError, match="commit it first"):
            PostgresMemoryStore(connection)


def test_what_is_neither_a_connection_nor_a_pool_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"not str"):
        PostgresMemoryStore("postgresql://host/agents")  # type: ignore[arg-type]


def test_a_pools_connections_go_back_as_they_were(dsn: str) -> None:
    with ConnectionPool(dsn, min_size=1, max_size=1, open=True) as pool:
        store = PostgresMemoryStore(pool)
        store.setup()
        append(store, episode())
        store.close()
        with pool.connection() as connection:
            assert connection.autocommit is False
            assert connection.isolation_level is None
            assert connection.execute("SELECT count(*) FROM driftguard_episodes").fetchone() == (1,)


def test_the_servers_isolation_level_does_not_make_a_block_read_what_was(dsn: str) -> None:
    with (
        psycopg.connect(dsn) as connection,
        PostgresMemoryStore.open(dsn) as other,
        ThreadPoolExecutor(1) as threads,
    ):
        connection.execute("SET default_transaction_isolation = 'serializable'")
        connection.commit()
        store = PostgresMemoryStore(connection)
        with other.exclusive():
            append(other, episode("1"))
            waiting = threads.submit(append, store, episode("2"))
        assert waiting.result(WAIT).edges_created == 0


def test_using_a_store_before_setup_says_what_to_do(dsn: str) -> None:
    with PostgresMemoryStore.connect(dsn) as store:
        assert store.schema_version() == 0
        with pytest.raises(StoreUnavailable, match=r"Was setup\(\) called"):
            store.get(HOME, "e1")


def test_a_closed_store_is_unavailable(store: PostgresMemoryStore) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.get(HOME, "e1")


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"driftguard-langgraph\[postgres\]"):
        PostgresMemoryStore.open("")


def test_tables_of_another_application_are_left_as_they_are(
    dsn: str, beside: psycopg.Connection
) -> None:
    beside.execute("CREATE TABLE driftguard_runs(mine text)")
    with pytest.raises(SchemaMismatch, match="driftguard_runs belong to another application"):
        PostgresMemoryStore.open(dsn)
    beside.execute("INSERT INTO driftguard_runs VALUES('still here')")
    found = beside.execute(
        "SELECT relname FROM pg_class WHERE relname = ANY(%s) AND pg_table_is_visible(oid)",
        ([*TABLES],),
    ).fetchall()
    assert found == [("driftguard_runs",)]


def test_a_memory_of_a_newer_version_is_refused(
    store: PostgresMemoryStore, beside: psycopg.Connection
) -> None:
    newer = str(len(MIGRATIONS) + 1)
    beside.execute("UPDATE driftguard_meta SET value = %s WHERE key = 'schema'", (newer,))
    with pytest.raises(SchemaMismatch, match=f"schema version {newer}.*Upgrade"):
        store.setup()


def test_a_user_without_the_right_to_create_uses_a_memory_that_is_set_up(
    store: PostgresMemoryStore, dsn: str, beside: psycopg.Connection
) -> None:
    append(store, episode("1"))
    [schema] = beside.execute("SELECT current_schema()").fetchone() or ("",)
    beside.execute(f"GRANT USAGE ON SCHEMA {schema} TO {PLAIN}")
    beside.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO {PLAIN}")
    with PostgresMemoryStore.open(make_conninfo(dsn, user=PLAIN)) as limited:
        assert append(limited, episode("2")).stored
    beside.execute(f"REVOKE INSERT ON ALL TABLES IN SCHEMA {schema} FROM {PLAIN}")
    with (
        PostgresMemoryStore.open(make_conninfo(dsn, user=PLAIN)) as reader,
        pytest.raises(StoreUnavailable, match="grant it"),
    ):
        append(reader, episode("3", "not seen before"))


def test_writers_of_other_namespaces_do_not_wait(dsn: str, store: PostgresMemoryStore) -> None:
    append(store, episode())
    with PostgresMemoryStore.open(dsn) as other, store.exclusive():
        append(store, episode("mine"))
        assert append(other, episode(namespace=OTHER)).stored
        assert other.get(HOME, "mine") is None


def test_first_records_of_two_namespaces_at_once_both_succeed(dsn: str) -> None:
    PostgresMemoryStore.open(dsn).close()
    together = threading.Barrier(4)

    def begin(number: int) -> bool:
        with PostgresMemoryStore.open(dsn) as store:
            together.wait(WAIT)
            return append(store, episode(namespace=(f"tenant {number}",))).stored

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(begin, range(4))) == [True] * 4


def test_a_stuck_writer_is_reported_as_unavailable(
    dsn: str, store: PostgresMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_session, "LOCK_TIMEOUT", 0.05)
    with PostgresMemoryStore.open(dsn) as other, store.exclusive():
        append(store, episode("0"))
        with pytest.raises(StoreUnavailable, match="Another process holds the memory: try again"):
            append(other, episode("1"))


def test_names_and_texts_of_any_length_are_kept_apart(store: PostgresMemoryStore) -> None:
    long = "a name that no index entry holds " * 1000
    for end in ("x", "y"):
        whose = (long + end, "ada@example.org")
        append(store, episode(long + end, long + end, thread=long + end, namespace=whose))
    assert set(store.namespaces()) == {(long + end, "ada@example.org") for end in ("x", "y")}
    for end in ("x", "y"):
        whose = (long + end, "ada@example.org")
        assert [path.action for path in store.paths(whose, "mistake")] == [long + end]
        assert store.get(whose, long + end) is not None


def test_a_nul_byte_is_refused_where_it_cannot_be_kept_and_kept_where_it_can(
    store: PostgresMemoryStore,
) -> None:
    with pytest.raises(InvalidEpisode, match="NUL"):
        append(store, episode("1", "a\0b"))
    assert list(store.texts()) == []
    odd = episode("2", namespace=("a\0b",), metadata={"raw": "\0"})
    append(store, odd)
    assert store.get(("a\0b",), "2") == odd


def test_another_dimension_has_another_index(
    store: PostgresMemoryStore, beside: psycopg.Connection
) -> None:
    def indexes() -> list[tuple[str]]:
        return beside.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() "
            "AND indexname LIKE '%hnsw%'"
        ).fetchall()

    append(store, episode())
    assert indexes() == [("driftguard_vectors_hnsw_16",)]
    for dimension in (8, 2500, 5000):
        space = EmbeddingSpace("new", dimension)
        texts = {text: vector(text, dimension) for text in store.texts()}
        store.replace_vectors(space, texts)
        expected = [(f"driftguard_vectors_hnsw_{dimension}",)] if dimension <= 4000 else []
        assert indexes() == expected
        [hit] = store.search(HOME, "mistake", "action", vector("x", dimension), 3)
        assert hit.action.text == "delete the temp directory"


FORK = """
import os, sys
import psycopg
from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
from tests.memory_samples import HOME, append, episode

owned = PostgresMemoryStore.open(sys.argv[1])
given = PostgresMemoryStore(psycopg.connect(sys.argv[1]))
append(owned, episode("parent"))
child = os.fork()
if not child:
    append(owned, episode("child"))
    try:
        given.get(HOME, "parent")
    except StoreUnavailable as error:
        assert "forked" in str(error)
        owned.close()
        os._exit(0)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
append(owned, episode("parent again"))
assert [kept.episode_id for kept in given.list(HOME)] == ["parent", "child", "parent again"]
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
def test_a_forked_child_connects_anew(dsn: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK, dsn],
        capture_output=True, text=True, timeout=120, cwd=ROOT, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_guard_remembers_in_postgres_by_its_settings(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRIFTGUARD_STORAGE_BACKEND", "postgres")
    monkeypatch.setenv("DRIFTGUARD_POSTGRES_DSN", dsn)
    settings = DriftGuardSettings()
    assert dsn not in repr(settings)
    with DriftGuard(settings=settings, embeddings=SeededEmbedder()) as guard:
        guard.record("delete the temp directory", "the cache was wiped", "a slow build")
    with DriftGuard(settings=settings, embeddings=SeededEmbedder()) as guard:
        review = guard.before_step("delete the temp directory")
        assert [warning.frequency for warning in review.warnings] == [1]
        assert guard.store.location().startswith("PostgreSQL database postgres on")


def test_doctor_tells_where_the_memory_is_and_creates_nothing(dsn: str) -> None:
    settings = DriftGuardSettings(storage_backend="postgres", postgres_dsn=dsn)
    for _ in range(2):
        [memory] = checkup._memory(settings, checkup._Probe(settings))
        assert memory.ok
        assert "not there yet" in memory.detail
    PostgresMemoryStore.open(dsn).close()
    [memory, content] = checkup._memory(settings, checkup._Probe(settings))
    assert "not there yet" not in memory.detail
    assert content.detail == "namespaces: none"


def test_the_list_of_settings_hides_the_connection_string(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTGUARD_POSTGRES_DSN", "postgresql://ada:secret@host/agents")
    [row] = [row for row in setting_rows() if row.name == "postgres_dsn"]
    assert row.origin == "DRIFTGUARD_POSTGRES_DSN"
    assert "secret" not in row.value
