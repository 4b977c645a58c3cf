"""One embedding space at a time."""

from __future__ import annotations

import pytest

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    EmbeddingSpace,
    Placed,
    Placement,
)
from driftguard_langgraph.testing.places import Places
from driftguard_langgraph.testing.samples import (
    HOME,
    SPACE,
    append,
    episode,
    vector,
)


class EmbeddingChecks(Places):
    """Spaces are never mixed, and can be changed."""

    def test_the_space_is_that_of_the_first_vector_and_none_while_there_is_none(
        self,
        store: BaseMemoryStore,
    ) -> None:
        assert store.space() is None
        append(store, episode())
        assert store.space() == SPACE
        store.delete(HOME, "e1")
        assert store.space() is None

    @pytest.mark.parametrize(
        "other", [EmbeddingSpace("another", SPACE.dimension), EmbeddingSpace(SPACE.model_id, 8)]
    )
    def test_vectors_of_another_space_are_refused_and_nothing_is_kept(
        self, store: BaseMemoryStore, other: EmbeddingSpace
    ) -> None:
        append(store, episode())
        with pytest.raises(SchemaMismatch, match=r"reembed\(\)"):
            append(store, episode("e2", "another action"), space=other)
        assert "another action" not in store.texts()
        assert len(store.list(HOME)) == 1

    def test_an_emptied_memory_takes_vectors_of_another_space(self, store: BaseMemoryStore) -> None:
        append(store, episode())
        store.search(HOME, "mistake", "action", vector("any"), 3)
        store.delete(HOME, "e1")
        other = EmbeddingSpace("another", 8)
        append(store, episode("e2"), space=other)
        assert store.space() == other
        [hit] = store.search(HOME, "mistake", "action", vector("any", 8), 3)
        assert hit.action.text == "delete the temp directory"

    def test_a_vector_that_is_not_of_its_space_is_refused_before_anything_is_kept(
        self,
        store: BaseMemoryStore,
    ) -> None:
        def placed(text: str, dimension: int) -> Placed:
            return Placed(text, text, vector(text, dimension), created=True)

        wrong = Placement(placed("a", 16), placed("f", 16), placed("o", 15))
        with pytest.raises(SchemaMismatch, match="16 numbers"):
            store.append(episode("e1", "a", "f", "o"), wrong, SPACE)
        assert list(store.texts()) == []
        assert store.space() is None

    def test_re_embedding_replaces_every_vector_at_once(self, store: BaseMemoryStore) -> None:
        append(store, episode("1", "a", "f", "o"))
        append(store, episode("2", "b", "f", "o", kind="success", namespace=("x",)))
        store.search(HOME, "mistake", "action", vector("a"), 1)
        space = EmbeddingSpace("new", 8)
        store.replace_vectors(space, {text: vector(text, 8) for text in store.texts()})
        assert store.space() == space
        [hit] = store.search(HOME, "mistake", "action", vector("a", 8), 1)
        assert hit.similarity == pytest.approx(1.0, abs=1e-6)
        assert append(store, episode("3", "c"), space=space).stored
        with pytest.raises(SchemaMismatch):
            store.search(HOME, "mistake", "action", vector("a"), 1)

    def test_re_embedding_without_a_text_changes_nothing(self, store: BaseMemoryStore) -> None:
        append(store, episode("1", "a", "f", "o"))
        with pytest.raises(SchemaMismatch, match="1 texts"):
            store.replace_vectors(EmbeddingSpace("new", 8), {t: vector(t, 8) for t in ("a", "f")})
        assert store.space() == SPACE
        [hit] = store.search(HOME, "mistake", "action", vector("a"), 1)
        assert hit.similarity == pytest.approx(1.0, abs=1e-6)

    def test_texts_are_distinct_over_all_namespaces(self, store: BaseMemoryStore) -> None:
        append(store, episode("1", "a", "same", "same"))
        append(store, episode("2", "a", "same", "o", kind="success", namespace=("x",)))
        assert sorted(store.texts()) == ["a", "o", "same"]
