"""The memory core: one transaction per record, one embedding space, opened once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from driftguard_langgraph.errors import EmbeddingError, SchemaMismatch
from driftguard_langgraph.memory import engine as engine_module
from driftguard_langgraph.memory.engine import MemoryEngine, Remembered
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.records import EmbeddingSpace, Vector
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.types import Action
from tests.memory_samples import HOME, NOON, SPACE, SeededEmbedder, append, episode

Make = Callable[..., MemoryEngine]


class Lowercase:
    def label(self, text: str) -> str:
        return text.lower()


class Failing(SeededEmbedder):
    def embed(self, texts: Any) -> Vector:
        raise EmbeddingError("the model is gone")


@pytest.fixture
def memory() -> Iterator[EphemeralMemoryStore]:
    with EphemeralMemoryStore() as store:
        yield store


@pytest.fixture
def make(memory: EphemeralMemoryStore) -> Make:
    def make_engine(embedder: Any = None, **settings: Any) -> MemoryEngine:
        return MemoryEngine(
            lambda: memory,
            embedder or SeededEmbedder(),
            Lowercase(),
            DriftGuardSettings(**settings),
        )

    return make_engine


def test_remembering_says_what_changed_in_the_graph(make: Make) -> None:
    engine = make()
    assert engine.remember(episode("1", "a", "f", "o")) == Remembered(
        stored=True, nodes_created=3, nodes_merged=0, edges_created=2, edges_reused=0
    )
    assert engine.remember(episode("2", "a", "f", "p")) == Remembered(
        stored=True, nodes_created=1, nodes_merged=2, edges_created=1, edges_reused=1
    )
    assert engine.remember(episode("2", "x", "y", "z")) == Remembered(stored=False)


def test_a_duplicate_leaves_none_of_its_texts_behind(
    make: Make, memory: EphemeralMemoryStore
) -> None:
    engine = make()
    engine.remember(episode("1", "a", "f", "o"))
    engine.remember(episode("1", "other a", "other f", "other o"))
    assert sorted(memory.texts()) == ["a", "f", "o"]


def test_what_was_remembered_is_recalled(make: Make) -> None:
    engine = make()
    engine.remember(episode("1", "Delete it", "Failed", "Lost", created_at=NOON))
    found = engine.recall(HOME, Action("Delete it"), NOON + timedelta(hours=1))
    [warning] = found.warnings
    assert (warning.trigger, warning.risk, warning.outcome) == ("delete it", "failed", "lost")
    assert (warning.action_text, warning.feedback_text) == ("Delete it", "Failed")
    assert found.chains == (("delete it", "failed", "lost"),)
    assert engine.recall(("other",), Action("Delete it"), NOON).warnings == ()


def test_an_embedder_that_fails_leaves_nothing_half_written(
    make: Make, memory: EphemeralMemoryStore
) -> None:
    with pytest.raises(EmbeddingError):
        make(Failing()).remember(episode())
    assert list(memory.texts()) == []


def test_a_normaliser_that_fails_leaves_nothing_half_written(
    memory: EphemeralMemoryStore,
) -> None:
    class Broken:
        def label(self, text: str) -> str:
            if text == "lost":
                raise RuntimeError("no table")
            return text

    engine = MemoryEngine(lambda: memory, SeededEmbedder(), Broken(), DriftGuardSettings())
    with pytest.raises(RuntimeError):
        engine.remember(episode("1", "a", "f", "lost"))
    assert list(memory.texts()) == []
    assert engine.remember(episode("2", "a", "f", "o")).stored


def test_a_small_memory_follows_a_change_of_model(make: Make, memory: EphemeralMemoryStore) -> None:
    make().remember(episode("1", "a", "f", "o", created_at=NOON))
    other = make(SeededEmbedder("another", 8))
    assert other.recall(HOME, Action("a"), NOON).warnings
    assert memory.space() == EmbeddingSpace("another", 8)
    assert other.remember(episode("2", "a", "f", "o")).nodes_merged == 3


def test_a_large_memory_is_re_embedded_only_when_told_to(
    make: Make, memory: EphemeralMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    make().remember(episode("1", "a", "f", "o"))
    other = make(SeededEmbedder("another", 8), reembed_limit=2)
    for use in (
        lambda: other.recall(HOME, Action("a"), NOON),
        lambda: other.remember(episode("2", "b", "f", "o")),
    ):
        with pytest.raises(SchemaMismatch, match=r"made-up.*another.*3 texts.*reembed\(\)"):
            use()
    assert memory.space() == SPACE
    monkeypatch.setattr(engine_module, "REEMBED_BATCH", 2)
    assert other.reembed() == 3
    assert other.remember(episode("2", "a", "f", "o")).nodes_merged == 3


def test_a_text_recorded_while_re_embedding_is_not_lost(
    make: Make, memory: EphemeralMemoryStore
) -> None:
    make().remember(episode("1", "a", "f", "o"))

    class Slow(SeededEmbedder):
        def embed(self, texts: Any) -> Vector:
            append(memory, episode("meanwhile", "recorded meanwhile", "f", "o"))
            return super().embed(texts)

    other = make(Slow("another", 8))
    assert other.reembed() == 4
    assert memory.space() == EmbeddingSpace("another", 8)
    assert other.remember(episode("3", "recorded meanwhile", "f", "o")).nodes_merged == 3


def test_re_embedding_gives_up_on_a_memory_that_is_never_still(
    make: Make, memory: EphemeralMemoryStore
) -> None:
    make().remember(episode("1", "a", "f", "o"))

    class Flooded(SeededEmbedder):
        rounds = 0

        def embed(self, texts: Any) -> Vector:
            self.rounds += 1
            append(memory, episode(f"m{self.rounds}", f"meanwhile {self.rounds}", "f", "o"))
            return super().embed(texts)

    with pytest.raises(SchemaMismatch, match="recorded meanwhile"):
        make(Flooded("another", 8)).reembed()
    assert memory.space() == SPACE


def test_the_store_is_opened_once_by_whoever_comes_first() -> None:
    opened: list[EphemeralMemoryStore] = []

    def open_store() -> EphemeralMemoryStore:
        opened.append(EphemeralMemoryStore())
        return opened[-1]

    engine = MemoryEngine(open_store, SeededEmbedder(), Lowercase(), DriftGuardSettings())
    engine.close()
    assert opened == []
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _: engine.store, range(32)))
    assert len(opened) == 1
    assert set(stores) == set(opened)
    engine.close()


def test_threads_that_meet_the_same_new_text_make_one_node(
    make: Make, memory: EphemeralMemoryStore
) -> None:
    engine = make()
    with ThreadPoolExecutor(8) as threads:
        created = threads.map(
            lambda n: engine.remember(episode(str(n), "a", "f", "o")).nodes_created, range(40)
        )
    assert sum(created) == 3
    assert [path.frequency for path in memory.paths(HOME, "mistake")] == [40]


def test_a_shown_warning_is_noted_as_a_use_and_no_warning_is_not(
    make: Make, memory: EphemeralMemoryStore
) -> None:
    engine = make()
    engine.remember(episode("1", "a", "f", "o", created_at=NOON))
    found = engine.recall(HOME, Action("a"), NOON)
    engine.note_use(HOME, (), NOON)
    assert memory.paths(HOME, "mistake")[0].last_used is None
    engine.note_use(HOME, found.warnings, NOON + timedelta(days=1))
    assert memory.paths(HOME, "mistake")[0].last_used == NOON + timedelta(days=1)
