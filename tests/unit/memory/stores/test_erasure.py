"""What is deleted is gone: from every answer, and from the bytes of the file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from driftguard_langgraph.memory.stores import sqlite_session
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.types import Action
from tests.memory_samples import HOME, append, episode, given_up, vector


def bytes_of(database: Path) -> bytes:
    """All bytes of the database and what lies beside it. Nobody may have it open here."""
    return b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))


def test_deleting_says_whether_it_was_there(store: BaseMemoryStore) -> None:
    append(store, episode())
    assert store.delete(HOME, "e1") is True
    assert store.delete(HOME, "e1") is False
    assert store.get(HOME, "e1") is None


def test_only_texts_that_no_other_episode_has_are_deleted(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a", "shared", "o1"))
    append(store, episode("2", "b", "shared", "o2"))
    store.delete(HOME, "1")
    assert sorted(store.texts()) == ["b", "o2", "shared"]
    assert store.wording(HOME, "mistake", "action", "a") is None
    assert store.wordings(HOME, "mistake", "feedback", ["shared"])
    assert [hit.action.text for hit in store.search(HOME, "mistake", "action", vector("a"), 5)] == [
        "b"
    ]


def test_a_text_of_the_other_kind_or_role_stays(store: BaseMemoryStore) -> None:
    append(store, episode("1", "same", "same", "same"))
    append(store, episode("2", "same", "f", "o", kind="success"))
    store.delete(HOME, "1")
    assert sorted(store.texts()) == ["f", "o", "same"]
    assert store.wording(HOME, "mistake", "action", "same") is None
    assert store.wording(HOME, "success", "action", "same") is not None


def test_deleted_and_recorded_again_it_is_found_once(store: BaseMemoryStore) -> None:
    for _ in range(3):
        append(store, episode())
        assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 1
        store.delete(HOME, "e1")
        assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 0
    append(store, episode())
    assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 1


def test_deleting_paths_takes_exactly_these_paths(store: BaseMemoryStore) -> None:
    nodes = {"a1": "A", "a2": "A", 'f "1"': 'F "ü"'}
    append(store, episode("1", "a1", 'f "1"', "o1"), nodes)
    append(store, episode("2", "a2", 'f "1"', "o1"), nodes)
    append(store, episode("3", "a1", 'f "1"', "o2"), nodes)
    append(store, episode("4", "b", 'f "1"', "o1"), nodes)
    append(store, episode("5", "a1", 'f "1"', "o1", kind="success"), nodes)
    append(store, episode("6", "a1", 'f "1"', "o1", namespace=("x",)), nodes)
    gone = store.delete_paths(
        HOME, "mistake", [("A", 'F "ü"', "o1"), ("b", 'F "ü"', "o2"), ("A", "o1", "o1")]
    )
    assert gone == 2
    assert [kept.episode_id for kept in store.list(HOME)] == ["3", "4", "5"]
    assert len(store.list(("x",))) == 1
    assert store.wording(HOME, "mistake", "action", "a2") is None
    assert store.delete_paths(HOME, "mistake", []) == 0


SECRETS = [f"secret-{number:03}-" + "Zq" * (3 + 60 * (number % 9)) for number in range(120)]


def fill_with_secrets(store: BaseMemoryStore) -> None:
    for number, secret in enumerate(SECRETS):
        call = Action(f"login(key={secret}a)", "login", {"key": f"{secret}a"})
        append(
            store,
            episode(
                f"e{number}",
                call,
                f"{secret}f",
                f"{secret}o",
                thread=f"{secret}t",
                metadata={"note": f"{secret}m"},
            ),
        )


@pytest.mark.parametrize("order", ["forwards", "backwards", "shuffled"])
def test_erased_text_is_not_in_the_bytes_of_the_closed_file(database: Path, order: str) -> None:
    numbers = list(range(0, len(SECRETS), 2))
    if order == "backwards":
        numbers.reverse()
    elif order == "shuffled":
        np.random.default_rng(5).shuffle(numbers)
    with SqliteMemoryStore.open(database) as store:
        fill_with_secrets(store)
        for number in numbers[:-5]:
            with given_up(store):
                store.delete(HOME, f"e{number}")
        with store.exclusive():
            for number in numbers[:-5]:
                assert store.delete(HOME, f"e{number}")
        for number in numbers[-5:]:
            assert store.delete(HOME, f"e{number}")
    written = bytes_of(database)
    left = [number for number in range(len(SECRETS)) if SECRETS[number].encode() in written]
    assert left == [number for number in range(len(SECRETS)) if number % 2]


def test_erased_text_is_in_neither_file_nor_log_of_an_open_memory(database: Path) -> None:
    with SqliteMemoryStore.open(database) as store:
        fill_with_secrets(store)
        paths = [path.key for path in store.paths(HOME, "mistake")]
        with store.exclusive():
            store.delete_paths(HOME, "mistake", paths[:30])
            store.delete_paths(HOME, "mistake", paths[30:60])
        # Read by another process: closing a file drops the locks this process has on it.
        reading = "import glob, sys; [sys.stdout.buffer.write(open(path, 'rb').read()) "
        reading += "for path in glob.glob(sys.argv[1] + '*')]"
        written = subprocess.run(
            [sys.executable, "-c", reading, str(database)], check=True, capture_output=True
        ).stdout
    assert [secret for secret in SECRETS[:60] if secret.encode() in written] == []
    assert all(secret.encode() in written for secret in SECRETS[60:])


def test_a_deletion_that_was_rolled_back_deleted_nothing(store: BaseMemoryStore) -> None:
    append(store, episode())
    with given_up(store):
        store.delete(HOME, "e1")
        assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 0
    assert store.get(HOME, "e1") == episode()
    assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 1


def test_another_connection_no_longer_finds_what_was_deleted(database: Path) -> None:
    with SqliteMemoryStore.open(database) as one, SqliteMemoryStore.open(database) as other:
        for number in range(20):
            append(one, episode(f"e{number}", f"step {number}"))
        query = vector("step 3")
        assert other.search(HOME, "mistake", "action", query, 1)[0].action.text == "step 3"
        one.delete(HOME, "e3")
        hits = other.search(HOME, "mistake", "action", query, 19)
        assert len(hits) == 19
        assert "step 3" not in [hit.action.text for hit in hits]


def test_a_database_in_rollback_mode_is_erased_as_well(tmp_path: Path) -> None:
    database = tmp_path / "no-wal.sqlite3"
    connection = sqlite3.connect(database)
    store = SqliteMemoryStore(connection)
    store.setup()
    connection.execute("PRAGMA journal_mode=DELETE")
    with store.exclusive():
        fill_with_secrets(store)
    with store.exclusive():
        for number in range(len(SECRETS)):
            store.delete(HOME, f"e{number}")
    connection.close()
    assert b"secret" not in bytes_of(database)


def test_a_large_file_is_not_rewritten_and_the_log_says_so(
    database: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sqlite_session, "SCRUBBED_SIZE", 1000)
    with SqliteMemoryStore.open(database) as store:
        append(store, episode())
        assert store.delete(HOME, "e1")
        assert "Run VACUUM" in caplog.text
        assert append(store, episode()).stored
