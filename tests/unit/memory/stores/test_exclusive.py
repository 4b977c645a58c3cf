"""One transaction: all of it or nothing, and nobody sees it half-done."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from tests.memory_samples import HOME, NOON, append, episode, given_up, vector

WAIT = 30


def texts_found(store: BaseMemoryStore, query: str = "x") -> list[str]:
    return sorted(h.action.text for h in store.search(HOME, "mistake", "action", vector(query), 99))


def test_a_block_is_kept_as_a_whole(store: BaseMemoryStore) -> None:
    with store.exclusive():
        append(store, episode("1", "a"))
        append(store, episode("2", "b"))
    assert texts_found(store) == ["a", "b"]


def test_a_block_that_raises_leaves_nothing(store: BaseMemoryStore) -> None:
    append(store, episode("0", "kept"))
    with given_up(store):
        append(store, episode("1", "dropped"))
        store.touch(HOME, "mistake", ["kept"], NOON)
        store.delete(HOME, "0")
    assert [kept.episode_id for kept in store.list(HOME)] == ["0"]
    assert "dropped" not in store.texts()
    assert store.paths(HOME, "mistake")[0].last_used is None


def test_whatever_was_raised_comes_out_of_the_block(store: BaseMemoryStore) -> None:
    def interrupted() -> None:
        with store.exclusive():
            append(store, episode())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert store.get(HOME, "e1") is None


def test_the_index_forgets_what_was_rolled_back_when_its_ids_are_given_out_again(
    store: BaseMemoryStore,
) -> None:
    append(store, episode("0", "first"))
    with given_up(store):
        append(store, episode("1", "rolled back"))
        assert texts_found(store) == ["first", "rolled back"]
    append(store, episode("2", "in its place"))
    [nearest] = store.search(HOME, "mistake", "action", vector("in its place"), 1)
    assert nearest.action.text == "in its place"
    assert nearest.similarity == pytest.approx(1.0, abs=1e-6)
    assert texts_found(store) == ["first", "in its place"]


def test_blocks_nest_and_are_kept_by_the_outermost(store: BaseMemoryStore) -> None:
    with store.exclusive():
        append(store, episode("1", "a"))
        with store.exclusive(), store.exclusive():
            append(store, episode("2", "b"))
    assert texts_found(store) == ["a", "b"]
    with given_up(store), store.exclusive():
        append(store, episode("3", "c"))
    assert texts_found(store) == ["a", "b"]


def test_an_inner_block_that_raises_takes_back_only_what_was_its_own(
    store: BaseMemoryStore,
) -> None:
    with store.exclusive():
        append(store, episode("1", "before"))
        with given_up(store):
            append(store, episode("2", "inner"))
            with given_up(store):
                append(store, episode("3", "innermost"))
            assert texts_found(store) == ["before", "inner"]
        append(store, episode("4", "after"))
        assert texts_found(store) == ["after", "before"]
    assert texts_found(store) == ["after", "before"]
    assert [kept.episode_id for kept in store.list(HOME)] == ["1", "4"]


def test_the_store_works_on_after_a_block_that_raised(store: BaseMemoryStore) -> None:
    for number in range(3):
        with given_up(store):
            pass
        append(store, episode(str(number)))
    assert len(store.list(HOME)) == 3


def test_threads_wait_for_each_other(store: BaseMemoryStore) -> None:
    """Each reads a count and writes the next: without the lock, counts would repeat."""

    def count_up(_: int) -> None:
        for _ in range(10):
            with store.exclusive():
                seen = len(store.list(HOME, limit=1000))
                append(store, episode(f"e{seen}", f"step {seen}"))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count_up, range(4)))
    assert [kept.episode_id for kept in store.list(HOME, limit=1000)] == [
        f"e{number}" for number in range(40)
    ]


def test_two_connections_wait_for_each_other(database: Path) -> None:
    def count_up(store: SqliteMemoryStore) -> None:
        for _ in range(15):
            with store.exclusive():
                seen = len(store.list(HOME, limit=1000))
                append(store, episode(f"e{seen}", f"step {seen}"))

    with (
        SqliteMemoryStore.open(database) as one,
        SqliteMemoryStore.open(database) as two,
        ThreadPoolExecutor(2) as threads,
    ):
        list(threads.map(count_up, (one, two)))
        assert len(one.list(HOME, limit=1000)) == 30
        assert texts_found(one) == texts_found(two)


def test_readers_in_other_threads_never_see_what_is_not_committed(
    store: BaseMemoryStore,
) -> None:
    append(store, episode("0", "before"))
    started, seen = threading.Event(), []

    def read() -> None:
        started.set()
        seen.append(
            (
                texts_found(store),
                store.get(HOME, "1"),
                sum(path.frequency for path in store.paths(HOME, "mistake")),
            )
        )

    with ThreadPoolExecutor(1) as threads:
        with given_up(store):
            append(store, episode("1", "not yet"))
            reading = threads.submit(read)
            assert started.wait(WAIT)
            append(store, episode("2", "nor this"))
        reading.result(WAIT)
    assert seen == [(["before"], None, 1)]


def test_readers_of_another_connection_go_on_and_see_the_state_before(database: Path) -> None:
    with SqliteMemoryStore.open(database) as writer, SqliteMemoryStore.open(database) as reader:
        append(writer, episode("0", "before"))
        with writer.exclusive():
            append(writer, episode("1", "after"))
            assert texts_found(reader) == ["before"]
        assert texts_found(reader) == ["after", "before"]


def test_a_use_noted_by_another_thread_is_not_part_of_a_block_that_is_rolled_back(
    store: BaseMemoryStore,
) -> None:
    append(store, episode("1", "a"))
    with ThreadPoolExecutor(1) as threads:
        with given_up(store):
            append(store, episode("2", "b"))
            noting = threads.submit(store.touch, HOME, "mistake", ["a"], NOON)
        noting.result(WAIT)
    assert store.paths(HOME, "mistake")[0].last_used == NOON


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
