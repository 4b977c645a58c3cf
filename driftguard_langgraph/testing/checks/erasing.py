"""What is deleted is gone from every answer."""

from __future__ import annotations

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.testing.places import Places
from driftguard_langgraph.testing.samples import (
    HOME,
    append,
    episode,
    given_up,
    vector,
)


class ErasingChecks(Places):
    """Deletions, and the texts that go with them."""

    def test_deleting_says_whether_it_was_there(self, store: BaseMemoryStore) -> None:
        append(store, episode())
        assert store.delete(HOME, "e1") is True
        assert store.delete(HOME, "e1") is False
        assert store.get(HOME, "e1") is None

    def test_only_texts_that_no_other_episode_has_are_deleted(self, store: BaseMemoryStore) -> None:
        append(store, episode("1", "a", "shared", "o1"))
        append(store, episode("2", "b", "shared", "o2"))
        store.delete(HOME, "1")
        assert sorted(store.texts()) == ["b", "o2", "shared"]
        assert store.wording(HOME, "mistake", "action", "a") is None
        assert store.wordings(HOME, "mistake", "feedback", ["shared"])
        assert [
            hit.action.text for hit in store.search(HOME, "mistake", "action", vector("a"), 5)
        ] == ["b"]

    def test_a_text_of_the_other_kind_or_role_stays(self, store: BaseMemoryStore) -> None:
        append(store, episode("1", "same", "same", "same"))
        append(store, episode("2", "same", "f", "o", kind="success"))
        store.delete(HOME, "1")
        assert sorted(store.texts()) == ["f", "o", "same"]
        assert store.wording(HOME, "mistake", "action", "same") is None
        assert store.wording(HOME, "success", "action", "same") is not None

    def test_deleted_and_recorded_again_it_is_found_once(self, store: BaseMemoryStore) -> None:
        for _ in range(3):
            append(store, episode())
            assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 1
            store.delete(HOME, "e1")
            assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 0
        append(store, episode())
        assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 1

    def test_deleting_paths_takes_exactly_these_paths(self, store: BaseMemoryStore) -> None:
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

    def test_a_deletion_that_was_rolled_back_deleted_nothing(self, store: BaseMemoryStore) -> None:
        append(store, episode())
        with given_up(store):
            store.delete(HOME, "e1")
            assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 0
        assert store.get(HOME, "e1") == episode()
        assert len(store.search(HOME, "mistake", "action", vector("x"), 5)) == 1
