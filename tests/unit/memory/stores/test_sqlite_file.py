"""Memory files: private, read where they cannot be written, refused; never overwritten."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from driftguard_langgraph.errors import CorruptStore, SchemaMismatch, StoreUnavailable
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores import open_store
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.schema import APPLICATION_ID, MIGRATIONS
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.memory.stores.sqlite_file import damage, sqlite_errors
from driftguard_langgraph.settings import DriftGuardSettings
from tests.memory_samples import HOME, SeededEmbedder, append, episode, vector

GARBAGE = b"\x00\xff this is no database \n" * 400


def filled(database: Path, episodes: int = 40) -> bytes:
    with SqliteMemoryStore.open(database) as store, store.exclusive():
        for number in range(episodes):
            append(store, episode(f"e{number}", f"step {number}"))
    return database.read_bytes()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@contextmanager
def umask(value: int) -> Iterator[None]:
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_files_and_folder_are_for_their_owner_only(tmp_path: Path, mask: int) -> None:
    database = tmp_path / "new folder" / "memory.sqlite3"
    with umask(mask), SqliteMemoryStore.open(database) as store:
        append(store, episode())
        modes = {path.name: mode(path) for path in database.parent.iterdir()}
    assert mode(database.parent) == 0o700
    assert set(modes.values()) == {0o600}
    assert {"memory.sqlite3", "memory.sqlite3-wal"} <= set(modes)


@pytest.mark.parametrize("name", ["with space", "ünïcödé 名前 🔥", "a%20b?mode=ro#c", "it's"])
def test_any_path_will_do(tmp_path: Path, name: str) -> None:
    database = tmp_path / name / f"{name}.db"
    with SqliteMemoryStore.open(database) as store:
        append(store, episode())
        assert store.location() == str(database.resolve())
    with SqliteMemoryStore.from_conn_string(str(database)) as again:
        assert again.get(HOME, "e1") == episode()


def test_a_relative_path_is_where_it_was_when_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteMemoryStore.open("memory.db") as store:
        assert store.location() == str((tmp_path / "memory.db").resolve())


def test_a_symbolic_link_leads_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link, real = tmp_path / "link.db", tmp_path / "real" / "memory.db"
    link.symlink_to(real)
    with SqliteMemoryStore.open(link) as store:
        append(store, episode())
    assert link.is_symlink()
    assert mode(real) == 0o600


def test_a_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with SqliteMemoryStore.open("~/memory.db"):
        assert (tmp_path / "memory.db").exists()


def test_in_memory_there_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteMemoryStore.open(":memory:") as store:
        append(store, episode())
        assert store.location() == "this process only (nothing is kept)"
    assert list(tmp_path.iterdir()) == []


def test_settings_choose_the_store(tmp_path: Path) -> None:
    with open_store(DriftGuardSettings(storage_backend="memory")) as store:
        assert isinstance(store, EphemeralMemoryStore)
    with open_store(DriftGuardSettings(sqlite_filepath=tmp_path / "m.db")) as store:
        assert store.location() == str(tmp_path / "m.db")


def test_a_folder_in_place_of_the_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"Is a directory.*sqlite_filepath"):
        SqliteMemoryStore.open(tmp_path)


def test_a_file_in_place_of_the_folder_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(StoreUnavailable, match="sqlite_filepath"):
        SqliteMemoryStore.open(tmp_path / "file" / "memory.db")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine can reach."""
    folder = Path(tempfile.mkdtemp(prefix="driftguard-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Root may write everywhere; what follows is done by somebody who may not."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


needs_posix_users = pytest.mark.skipif(os.name != "posix", reason="file permissions of POSIX")


@needs_posix_users
def test_a_read_only_folder_is_unavailable(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    with ordinary_user(), pytest.raises(StoreUnavailable, match=r"Permission denied.*folder"):
        SqliteMemoryStore.open(open_folder / "memory.db")
    with ordinary_user(), pytest.raises(StoreUnavailable, match="Permission denied"):
        SqliteMemoryStore.open(open_folder / "below" / "memory.db")
    assert list(open_folder.iterdir()) == []


def closed(database: Path) -> bytes:
    """Fill a memory of which nobody has anything open."""
    content = filled(database)
    for left in database.parent.glob(f"{database.name}?*"):
        left.unlink()
    return content


@needs_posix_users
@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o777), (0o444, 0o555), (0o666, 0o555)])
def test_what_cannot_be_written_can_be_read(
    open_folder: Path, file: int, folder: int, caplog: pytest.LogCaptureFixture
) -> None:
    database = open_folder / "memory.db"
    before = closed(database)
    database.chmod(file)
    open_folder.chmod(folder)
    with ordinary_user(), SqliteMemoryStore.open(database) as store:
        assert "nothing can be recorded" in caplog.text
        assert len(store.list(HOME)) == 40
        [hit] = store.search(HOME, "mistake", "action", vector("step 7"), 1)
        assert hit.action.text == "step 7"
        with pytest.raises(StoreUnavailable, match="must be writable"):
            append(store, episode("new"))
        store.setup()
        assert damage(database, thorough=True) is None
        guard = DriftGuard(store=store, embeddings=SeededEmbedder(), namespace=HOME)
        assert guard.review("step 7").warnings
        assert "must be writable" in str(guard.record("x", "y", "z")["error"])
    open_folder.chmod(0o777)
    assert database.read_bytes() == before
    assert {left.name for left in open_folder.iterdir()} == {"memory.db"}


@needs_posix_users
def test_who_only_reads_sees_what_others_write(open_folder: Path) -> None:
    database = open_folder / "memory.db"
    closed(database)
    database.chmod(0o644)
    with ordinary_user():
        store = SqliteMemoryStore.open(database)
    with ordinary_user():
        assert len(store.list(HOME)) == 40
    with SqliteMemoryStore.open(database) as writer:
        append(writer, episode("new", "another step"))
        with ordinary_user():
            assert len(store.list(HOME)) == 41
    with ordinary_user():
        assert len(store.list(HOME)) == 41
        store.close()


@needs_posix_users
def test_an_older_schema_that_cannot_be_written_says_so(open_folder: Path) -> None:
    database = open_folder / "memory.db"
    closed(database)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version=0")
    database.chmod(0o444)
    open_folder.chmod(0o555)
    with ordinary_user(), pytest.raises(SchemaMismatch, match="Open it once where it may"):
        SqliteMemoryStore.open(database)


@needs_posix_users
def test_a_file_that_cannot_be_read_is_unavailable(open_folder: Path) -> None:
    database = open_folder / "memory.db"
    before = closed(database)
    database.chmod(0o600)
    open_folder.chmod(0o777)
    with ordinary_user(), pytest.raises(StoreUnavailable, match="Permission denied"):
        SqliteMemoryStore.open(database)
    assert database.read_bytes() == before


def truncated(sound: bytes) -> bytes:
    return sound[: len(sound) * 2 // 3]


def overwritten_in_the_middle(sound: bytes) -> bytes:
    middle = len(sound) // 2
    return sound[:middle] + b"\xa5" * 9000 + sound[middle + 9000 :]


def without_its_first_page(sound: bytes) -> bytes:
    return b"\0" * 4096 + sound[4096:]


DAMAGE = {
    "garbage": lambda sound: GARBAGE,
    "one byte": lambda sound: b"x",
    "a short text": lambda sound: b"hello\n",
    "half a header": lambda sound: sound[:50],
    "truncated": truncated,
    "overwritten": overwritten_in_the_middle,
    "no first page": without_its_first_page,
}


@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.parametrize("file", ["memory.sqlite3", "memory.db"])
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path: Path, name: str, file: str) -> None:
    database = tmp_path / file
    damaged = DAMAGE[name](filled(database))
    database.write_bytes(damaged)
    log = database.with_name(f"{file}-wal")
    log.write_bytes(GARBAGE)
    assert damage(database)
    for _ in range(2):
        with pytest.raises(CorruptStore, match=r"left as it is.*move it away"):
            SqliteMemoryStore.open(database)
        assert (database.read_bytes(), log.read_bytes()) == (damaged, GARBAGE)
    names = {path.name for path in tmp_path.iterdir()} - {f"{file}-shm"}
    assert names == {file, log.name}
    for path in tmp_path.iterdir():
        path.rename(path.with_name(f"old {path.name}"))
    with SqliteMemoryStore.open(database) as store:
        assert append(store, episode()).stored


def test_an_empty_file_is_a_new_memory(database: Path) -> None:
    database.touch()
    with SqliteMemoryStore.open(database) as store:
        assert append(store, episode()).stored


def foreign_database(path: Path, *, application_id: int = 0, wal: bool = False) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        if wal:
            connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE customers(name)")
        connection.execute("INSERT INTO customers VALUES('Ada')")
        connection.execute(f"PRAGMA application_id={application_id}")


@pytest.mark.parametrize("application_id", [0, 0x47504B47])
@pytest.mark.parametrize("wal", [False, True])
def test_another_applications_database_is_refused_and_left_as_it_is(
    database: Path, application_id: int, *, wal: bool
) -> None:
    foreign_database(database, application_id=application_id, wal=wal)
    before = database.read_bytes()
    with pytest.raises(SchemaMismatch, match="another application"):
        SqliteMemoryStore.open(database)
    assert database.read_bytes() == before
    with (
        closing(sqlite3.connect(database)) as connection,
        pytest.raises(SchemaMismatch, match="another application"),
    ):
        SqliteMemoryStore(connection).setup()
    assert database.read_bytes() == before


CRASH = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("CREATE TABLE customers(name)")
connection.execute("INSERT INTO customers VALUES('Ada')")
os._exit(9)
"""


def test_another_applications_log_after_a_crash_is_left_to_that_application(
    database: Path,
) -> None:
    subprocess.run([sys.executable, "-c", CRASH, str(database)], check=False)
    log = database.with_name("memory.sqlite3-wal")
    before = database.read_bytes(), log.read_bytes()
    with pytest.raises(SchemaMismatch, match="another application"):
        SqliteMemoryStore.open(database)
    assert (database.read_bytes(), log.read_bytes()) == before


def test_a_newer_schema_is_refused_and_left_as_it_is(database: Path) -> None:
    filled(database)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    before = database.read_bytes()
    with pytest.raises(SchemaMismatch, match="Upgrade the package"):
        SqliteMemoryStore.open(database)
    assert database.read_bytes() == before


def test_our_databases_are_marked_as_ours(database: Path) -> None:
    filled(database, episodes=1)
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_damage_found_in_the_middle_of_use_is_a_corrupt_store(database: Path) -> None:
    filled(database, episodes=200)
    with SqliteMemoryStore.open(database) as store:
        size = database.stat().st_size
        with database.open("r+b") as file:
            file.seek(8192)
            file.write(b"\xa5" * (size - 8192))
        with pytest.raises(CorruptStore, match="driftguard doctor"):
            store.list(HOME)
        with pytest.raises(CorruptStore):
            append(store, episode("new", "new step"))


def test_a_full_disk_is_unavailable_and_nothing_is_half_written(database: Path) -> None:
    with SqliteMemoryStore.open(database) as store:
        append(store, episode("0", "kept"))
        pages = store._session.connection.execute("PRAGMA page_count").fetchone()[0]
        store._session.connection.execute(f"PRAGMA max_page_count={pages + 4}")
        acknowledged = ["kept"]

        def fill_up() -> None:
            for number in range(1000):
                text = f"step {number} " + "long " * 500
                append(store, episode(f"e{number}", text))
                acknowledged.append(text)

        with pytest.raises(StoreUnavailable, match="Make room on the disk"):
            fill_up()
        assert len(acknowledged) > 1
        found = store.search(HOME, "mistake", "action", vector("x"), 1000)
        assert sorted(hit.action.text for hit in found) == sorted(acknowledged)
        assert [kept.action.text for kept in store.list(HOME, limit=1000)] == acknowledged
        assert set(acknowledged) < set(store.texts())
        assert len(store.texts()) == len(acknowledged) + 2
        store._session.connection.execute("PRAGMA max_page_count=100000")
        assert append(store, episode("later", "there is room again")).stored
    assert damage(database, thorough=True) is None


def test_a_full_disk_in_the_middle_of_a_block_leaves_nothing_of_it(database: Path) -> None:
    with SqliteMemoryStore.open(database) as store:
        append(store, episode("0", "kept"))
        store._session.connection.execute("PRAGMA cache_size=10")
        pages = store._session.connection.execute("PRAGMA page_count").fetchone()[0]
        store._session.connection.execute(f"PRAGMA max_page_count={pages + 40}")

        def fill_up() -> None:
            with store.exclusive():
                for number in range(1000):
                    append(store, episode(f"e{number}", f"step {number} " + "long " * 500))

        with pytest.raises(StoreUnavailable):
            fill_up()
        assert [kept.episode_id for kept in store.list(HOME)] == ["0"]


def test_what_follows_a_transaction_that_sqlite_ended_by_itself_is_not_kept(
    database: Path,
) -> None:
    with SqliteMemoryStore.open(database) as store:

        def go_on() -> None:
            with store.exclusive():
                append(store, episode("1", "before"))
                store._session.connection.execute("ROLLBACK")
                append(store, episode("2", "after"))

        with pytest.raises(StoreUnavailable, match="rolled back"):
            go_on()
        assert list(store.list(HOME)) == []


@pytest.mark.parametrize(
    ("statement", "advice"),
    [("SELECT * FROM nowhere", r"setup\(\)"), ("SELECT * FROM t WHERE a = ?", "open")],
)
def test_every_error_of_sqlite_is_one_of_the_package_with_advice(
    statement: str, advice: str
) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t(a)")
        with pytest.raises(StoreUnavailable, match=advice), sqlite_errors("look"):
            connection.execute(statement)


def test_only_small_files_are_read_whole_unless_asked_to_be_thorough(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = overwritten_in_the_middle(filled(database, episodes=200))
    database.write_bytes(damaged)
    monkeypatch.setattr("driftguard_langgraph.memory.stores.sqlite_file.CHECKED_SIZE", 4096)
    assert damage(database) is None
    assert damage(database, thorough=True) is not None


def test_an_error_of_the_system_is_told_in_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StoreUnavailable, match="Read-only file system"):
        SqliteMemoryStore.open(tmp_path / "memory.db")


def test_a_document_is_refused_and_not_moved(tmp_path: Path) -> None:
    notes = tmp_path / "NOTES.md"
    notes.write_text("# Notes\n" * 200, encoding="utf-8")

    with pytest.raises(SchemaMismatch, match="no database"):
        SqliteMemoryStore.open(notes)

    assert notes.read_text(encoding="utf-8").startswith("# Notes")
    assert [path.name for path in tmp_path.iterdir()] == ["NOTES.md"]
