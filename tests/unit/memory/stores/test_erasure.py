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
from tests.memory_samples import HOME, append, episode, given_up


def bytes_of(database: Path) -> bytes:
    """All bytes of the database and what lies beside it. Nobody may have it open here."""
    return b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))


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
