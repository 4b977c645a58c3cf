"""Connections: given ones, closed ones, inherited ones, and files that move away."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError, StoreUnavailable
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores import open_store
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.testing.samples import SeededEmbedder
from tests.memory_samples import HOME, append, episode, vector


def test_a_given_connection_stays_open(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        with SqliteMemoryStore(connection) as store:
            store.setup()
            append(store, episode())
        assert connection.execute("SELECT count(*) FROM episodes").fetchone()[0] == 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="autocommit came with Python 3.12")
def test_a_connection_that_opens_transactions_by_itself_is_refused() -> None:
    options = {"autocommit": False}
    with (
        closing(sqlite3.connect(":memory:", **options)) as connection,  # type: ignore[call-overload]
        pytest.raises(ConfigurationError, match="without autocommit=False"),
    ):
        SqliteMemoryStore(connection)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="autocommit came with Python 3.12")
def test_a_connection_in_autocommit_mode_will_do() -> None:
    options = {"autocommit": True}
    with closing(sqlite3.connect(":memory:", **options)) as connection:  # type: ignore[call-overload]
        store = SqliteMemoryStore(connection)
        store.setup()
        assert append(store, episode()).stored


def test_a_connection_with_a_transaction_under_way_is_refused_and_not_committed(
    database: Path,
) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE mine(x)")
        connection.execute("INSERT INTO mine VALUES(1)")
        with pytest.raises(ConfigurationError, match="commit it first"):
            SqliteMemoryStore(connection)
        connection.rollback()
        assert connection.execute("SELECT count(*) FROM mine").fetchone() == (0,)


def test_using_a_store_before_setup_says_what_to_do() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        store = SqliteMemoryStore(connection)
        with pytest.raises(StoreUnavailable, match=r"setup\(\)"):
            store.get(HOME, "e1")


def test_a_closed_store_is_unavailable_and_closing_again_does_nothing(database: Path) -> None:
    for store in (EphemeralMemoryStore(), SqliteMemoryStore.open(database)):
        store.close()
        store.close()
        with pytest.raises(StoreUnavailable, match="must be open"):
            store.get(HOME, "e1")
        with pytest.raises(StoreUnavailable):
            append(store, episode())
        with pytest.raises(StoreUnavailable):
            store.search(HOME, "mistake", "action", vector("x"), 1)
        with pytest.raises(StoreUnavailable):
            store.setup()


def test_a_connection_of_one_thread_says_what_to_do_in_another() -> None:
    with closing(sqlite3.connect(":memory:")) as connection, ThreadPoolExecutor(1) as threads:
        store = SqliteMemoryStore(connection)
        store.setup()
        with pytest.raises(StoreUnavailable, match="check_same_thread=False"):
            threads.submit(store.get, HOME, "e1").result()


def test_closing_waits_for_the_block_of_another_thread(database: Path) -> None:
    store = SqliteMemoryStore.open(database)
    inside, go_on = threading.Event(), threading.Event()

    def write() -> None:
        with store.exclusive():
            inside.set()
            assert go_on.wait(30)
            append(store, episode())

    with ThreadPoolExecutor(2) as threads:
        writing = threads.submit(write)
        assert inside.wait(30)
        closing_down = threads.submit(store.close)
        go_on.set()
        writing.result(30)
        closing_down.result(30)
    with SqliteMemoryStore.open(database) as again:
        assert again.get(HOME, "e1") is not None


def test_a_file_that_was_moved_away_is_followed_by_a_new_one(
    database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with SqliteMemoryStore.open(database) as store:
        append(store, episode("old"))
        assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 1
        for path in database.parent.glob("memory.sqlite3*"):
            path.rename(path.with_name("moved" + path.name.removeprefix("memory")))
        assert list(store.search(HOME, "mistake", "action", vector("x"), 5)) == []
        append(store, episode("new"))
        assert [kept.episode_id for kept in store.list(HOME)] == ["new"]
        assert "was moved, deleted or replaced" in caplog.text
    with SqliteMemoryStore.open(database) as again:
        assert [kept.episode_id for kept in again.list(HOME)] == ["new"]
    with SqliteMemoryStore.open(database.with_name("moved.sqlite3")) as moved:
        assert [kept.episode_id for kept in moved.list(HOME)] == ["old"]


def test_a_file_that_was_restored_from_a_copy_is_what_the_store_reads(database: Path) -> None:
    copy = database.with_name("backup")
    with SqliteMemoryStore.open(database) as store:
        append(store, episode("1"))
    copy.write_bytes(database.read_bytes())
    with SqliteMemoryStore.open(database) as store:
        append(store, episode("2", "not in the backup"))
        store.search(HOME, "mistake", "action", vector("x"), 5)
        for path in database.parent.glob("memory.sqlite3*"):
            path.unlink()
        copy.rename(database)
        [hit] = store.search(HOME, "mistake", "action", vector("x"), 5)
        assert hit.action.text == "delete the temp directory"
        append(store, episode("3"))
        assert [kept.episode_id for kept in store.list(HOME)] == ["1", "3"]


def test_a_given_connection_whose_file_was_moved_is_unavailable(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        store = SqliteMemoryStore(connection)
        store.setup()
        append(store, episode())
        database.rename(database.with_name("moved"))
        with pytest.raises(StoreUnavailable, match="Connect anew"):
            append(store, episode("2"))


FORK = """
import os, sqlite3, sys
from pathlib import Path
from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from tests.memory_samples import HOME, append, episode, vector

path = Path(sys.argv[1])
owned = SqliteMemoryStore.open(path)
given = SqliteMemoryStore(sqlite3.connect(path, check_same_thread=False))
ephemeral = EphemeralMemoryStore()
for store in (owned, ephemeral):
    append(store, episode("parent", "of the parent"))
    store.search(HOME, "mistake", "action", vector("x"), 5)

def in_child():
    for store in (owned, ephemeral):
        append(store, episode("child", "of the child"))
        assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 2
    try:
        given.get(HOME, "parent")
    except StoreUnavailable as error:
        assert "forked" in str(error)
    else:
        raise AssertionError("the inherited connection was used")
    owned.close()

def forked(work):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        work()
    except BaseException as error:
        print(repr(error), flush=True)
        os._exit(1)
    os._exit(0)

assert forked(in_child) == 0
append(owned, episode("parent again", "of the parent again"))
assert [kept.episode_id for kept in owned.list(HOME)] == ["parent", "child", "parent again"]
assert [kept.episode_id for kept in ephemeral.list(HOME)] == ["parent"]
assert given.get(HOME, "child") is not None
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
def test_a_forked_child_opens_the_file_anew(database: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(database)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parents[4],
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_second_store_on_the_file_takes_no_lock_from_the_first(database: Path) -> None:
    """Another process that closes last moves the log into the file and deletes it."""
    leaving = (
        "import sys; from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore; "
        "SqliteMemoryStore.open(sys.argv[1]).close()"
    )
    with SqliteMemoryStore.open(database) as first:
        append(first, episode("1"))
        SqliteMemoryStore.open(database).close()
        subprocess.run([sys.executable, "-c", leaving, str(database)], check=True, timeout=120)
        assert database.with_name("memory.sqlite3-wal").exists()
        append(first, episode("2"))
        with SqliteMemoryStore.open(database) as other:
            assert [kept.episode_id for kept in other.list(HOME)] == ["1", "2"]


@pytest.mark.parametrize(("durability", "synchronous"), [("normal", 1), ("full", 2)])
def test_the_durability_that_was_asked_for_holds_for_every_connection(
    database: Path, durability: Any, synchronous: int
) -> None:
    def of(store: SqliteMemoryStore) -> int:
        return int(store._session.connection.execute("PRAGMA synchronous").fetchone()[0])

    with SqliteMemoryStore.open(database, durability=durability) as store:
        assert of(store) == synchronous
        database.rename(database.with_name("moved.sqlite3"))
        append(store, episode())
        assert of(store) == synchronous
    with closing(sqlite3.connect(database, check_same_thread=False)) as connection:
        live = SqliteMemoryStore(connection, durability=durability)
        live.setup()
        assert of(live) == synchronous
    settings = DriftGuardSettings(sqlite_filepath=database, sqlite_durability=durability)
    with open_store(settings) as opened:
        assert isinstance(opened, SqliteMemoryStore)
        assert of(opened) == synchronous


def test_a_review_does_not_stand_behind_a_writer_that_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    settings = DriftGuardSettings(sqlite_filepath=path)
    with DriftGuard(settings=settings, embeddings=SeededEmbedder()) as guard:
        guard.record("wash the car", "it rained", "dirty again")
    connection = sqlite3.connect(path, check_same_thread=False)
    with SqliteMemoryStore(connection) as store:
        store.setup()
        guard = DriftGuard(store=store, embeddings=SeededEmbedder())
        patience = connection.execute("PRAGMA busy_timeout").fetchone()
        done: list[str] = []
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            connection.set_trace_callback(done.append)
            review = guard.before_step("wash the car")
            connection.set_trace_callback(None)
            other.execute("ROLLBACK")
        assert review.warnings
        waits = [each for each in done if each.startswith("PRAGMA busy_timeout=")]
        assert waits[0] == "PRAGMA busy_timeout=200"
        assert done.index(waits[0]) < done.index("BEGIN IMMEDIATE")
        assert connection.execute("PRAGMA busy_timeout").fetchone() == patience
