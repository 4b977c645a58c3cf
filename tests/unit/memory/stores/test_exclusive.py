"""One transaction: all of it or nothing, and nobody sees it half-done."""

from __future__ import annotations

from pathlib import Path

import pytest

from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.testing.checks.transactions import texts_found
from tests.memory_samples import HOME, append, episode


def test_closing_in_the_middle_of_a_block_is_reported_and_keeps_nothing(database: Path) -> None:
    store = SqliteMemoryStore.open(database)

    def close_inside() -> None:
        with store.exclusive():
            append(store, episode())
            store.close()

    with pytest.raises(StoreUnavailable, match="closed"):
        close_inside()
    with SqliteMemoryStore.open(database) as again:
        assert list(again.list(HOME)) == []


def test_a_stuck_writer_is_reported_as_unavailable(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftguard_langgraph.memory.stores.sqlite_file.BUSY_TIMEOUT", 0.05)
    with SqliteMemoryStore.open(database) as one, SqliteMemoryStore.open(database) as two:
        append(one, episode("0", "before"))
        with one.exclusive():
            with pytest.raises(StoreUnavailable, match="Another process holds the file: try again"):
                append(two, episode("1", "blocked"))
            assert texts_found(two) == ["before"]
        append(two, episode("1", "free again"))


def test_a_snapshot_is_of_one_moment_whatever_others_write(database: Path) -> None:
    with SqliteMemoryStore.open(database) as one, SqliteMemoryStore.open(database) as two:
        append(one, episode("0", "before"))
        with one.snapshot():
            assert one.wording(HOME, "mistake", "action", "during") is None
            append(two, episode("1", "during"))
            assert one.wording(HOME, "mistake", "action", "during") is None
            with one.snapshot():
                assert texts_found(one) == ["before"]
        assert one.wording(HOME, "mistake", "action", "during") is not None
        append(one, episode("2", "after"))
        assert sorted(texts_found(two)) == ["after", "before", "during"]


def test_what_a_transaction_looked_up_is_looked_up_anew_after_a_write(database: Path) -> None:
    with SqliteMemoryStore.open(database) as store:
        with store.exclusive():
            assert store.space() is None
            assert store.wording(HOME, "mistake", "action", "new") is None
            append(store, episode("0", "new"))
            assert store.space() is not None
            assert store.wording(HOME, "mistake", "action", "new") is not None
            assert store.delete(HOME, "0")
            assert store.wording(HOME, "mistake", "action", "new") is None
        assert store.space() is None


def test_what_a_nested_block_looked_up_is_forgotten_when_it_is_rolled_back(database: Path) -> None:
    def fail_inside() -> None:
        with store.exclusive():
            append(store, episode("0", "new"))
            assert store.wording(HOME, "mistake", "action", "new") is not None
            raise ValueError

    with SqliteMemoryStore.open(database) as store, store.exclusive():
        with pytest.raises(ValueError, match=r"^$"):
            fail_inside()
        assert store.wording(HOME, "mistake", "action", "new") is None


def test_a_transaction_asks_the_database_once_for_what_it_looks_up_twice(
    database: Path,
) -> None:
    with SqliteMemoryStore.open(database) as store:
        asked: list[str] = []
        append(store, episode("0", "new"))
        store._session.connection.set_trace_callback(asked.append)
        with store.snapshot():
            for _ in range(3):
                store.wording(HOME, "mistake", "action", "new")
                store.space()
        assert len(asked) == len(["BEGIN", "the text", "the space", "COMMIT"])
