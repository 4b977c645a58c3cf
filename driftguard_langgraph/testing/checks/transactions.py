"""One transaction: all of it or nothing, and nobody sees it half-done."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.testing.places import Places
from driftguard_langgraph.testing.samples import (
    HOME,
    NOON,
    append,
    episode,
    given_up,
    vector,
)

WAIT = 30


def texts_found(store: BaseMemoryStore, query: str = "x") -> list[str]:
    """Return the texts of all failed actions, as a search finds them."""
    return sorted(h.action.text for h in store.search(HOME, "mistake", "action", vector(query), 99))


class TransactionChecks(Places):
    """What `exclusive` promises."""

    def test_a_block_is_kept_as_a_whole(self, store: BaseMemoryStore) -> None:
        with store.exclusive():
            append(store, episode("1", "a"))
            append(store, episode("2", "b"))
        assert texts_found(store) == ["a", "b"]

    def test_a_block_that_raises_leaves_nothing(self, store: BaseMemoryStore) -> None:
        append(store, episode("0", "kept"))
        with given_up(store):
            append(store, episode("1", "dropped"))
            store.touch(HOME, "mistake", ["kept"], NOON)
            store.delete(HOME, "0")
        assert [kept.episode_id for kept in store.list(HOME)] == ["0"]
        assert "dropped" not in store.texts()
        assert store.paths(HOME, "mistake")[0].last_used is None

    def test_whatever_was_raised_comes_out_of_the_block(self, store: BaseMemoryStore) -> None:
        def interrupted() -> None:
            with store.exclusive():
                append(store, episode())
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert store.get(HOME, "e1") is None

    def test_the_index_forgets_what_was_rolled_back_when_its_ids_are_given_out_again(
        self,
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

    def test_blocks_nest_and_are_kept_by_the_outermost(self, store: BaseMemoryStore) -> None:
        with store.exclusive():
            append(store, episode("1", "a"))
            with store.exclusive(), store.exclusive():
                append(store, episode("2", "b"))
        assert texts_found(store) == ["a", "b"]
        with given_up(store), store.exclusive():
            append(store, episode("3", "c"))
        assert texts_found(store) == ["a", "b"]

    def test_an_inner_block_that_raises_takes_back_only_what_was_its_own(
        self,
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

    def test_the_store_works_on_after_a_block_that_raised(self, store: BaseMemoryStore) -> None:
        for number in range(3):
            with given_up(store):
                pass
            append(store, episode(str(number)))
        assert len(store.list(HOME)) == 3

    def test_threads_wait_for_each_other(self, store: BaseMemoryStore) -> None:
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

    def test_readers_in_other_threads_never_see_what_is_not_committed(
        self,
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

    def test_a_use_noted_by_another_thread_is_not_part_of_a_block_that_is_rolled_back(
        self,
        store: BaseMemoryStore,
    ) -> None:
        append(store, episode("1", "a"))
        with ThreadPoolExecutor(1) as threads:
            with given_up(store):
                append(store, episode("2", "b"))
                noting = threads.submit(store.touch, HOME, "mistake", ["a"], NOON)
            noting.result(WAIT)
        assert store.paths(HOME, "mistake")[0].last_used == NOON
