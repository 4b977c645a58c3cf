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
