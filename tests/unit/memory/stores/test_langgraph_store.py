"""A memory in a LangGraph store: items that are never counted, only listed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore, Op, PutOp, Result, SearchOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

from driftguard_langgraph.errors import (
    ConfigurationError,
    CorruptStore,
    SchemaMismatch,
    StoreUnavailable,
)
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores import langgraph_origin
from driftguard_langgraph.memory.stores.langgraph import LangGraphMemoryStore
from driftguard_langgraph.memory.stores.langgraph_items import decode_label, encode_label
from driftguard_langgraph.memory.stores.records import EmbeddingSpace, RunVerdict
from tests.memory_samples import (
    HOME,
    NOON,
    SPACE,
    SeededEmbedder,
    append,
    episode,
    given_up,
    vector,
)

EPISODES = ("driftguard", "episodes", "driftguard")


class Watched(InMemoryStore):
    """Notes what it is asked, and fails when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Op] = []
        self.broken = False

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        if self.broken:
            raise ConnectionError("the network is gone")
        asked = list(ops)
        self.asked += asked
        return super().batch(asked)


@pytest.fixture
def base() -> Watched:
    return Watched()


@pytest.fixture
def store(base: Watched) -> Iterator[LangGraphMemoryStore]:
    with LangGraphMemoryStore(base) as opened:
        yield opened


def ids(store: LangGraphMemoryStore) -> list[str]:
    return [kept.episode_id for kept in store.list(HOME, limit=1000)]


def dump(base: BaseStore) -> str:
    found = base.search((), limit=10_000)
    return json.dumps([[item.namespace, item.key, item.value] for item in found])


@pytest.mark.parametrize(
    "label",
    ["", "acme", "ada@example.org", "a.b", "~", "~7E", "%41", "naïve 名 🔥", "a b\0c", "_-"],
)
def test_any_label_can_be_written_for_a_store_and_read_back(label: str) -> None:
    encoded = encode_label(label)
    assert decode_label(encoded) == label
    InMemoryStore().put(("root", encoded), "key", {})


def test_every_episode_is_one_item_under_its_id(store: LangGraphMemoryStore, base: Watched) -> None:
    append(store, episode("1"))
    append(store, episode("2"))
    append(store, episode("2"))
    items = base.search(EPISODES, limit=100)
    assert sorted(item.key for item in items) == ["1", "2"]
    assert items[0].value["episode"]["action"] == "delete the temp directory"
    json.dumps([item.value for item in items])


def test_nothing_is_written_by_a_review_or_a_duplicate(
    store: LangGraphMemoryStore, base: Watched
) -> None:
    append(store, episode("1"))
    base.asked.clear()
    append(store, episode("1"))
    store.search(HOME, "mistake", "action", vector("x"), 5)
    store.paths(HOME, "mistake")
    assert [op for op in base.asked if isinstance(op, PutOp)] == []
    assert all(op.refresh_ttl is False for op in base.asked if isinstance(op, SearchOp))


def test_while_nobody_writes_a_call_reads_no_episode(
    store: LangGraphMemoryStore, base: Watched
) -> None:
    for number in range(5):
        append(store, episode(str(number)))
    base.asked.clear()
    store.search(HOME, "mistake", "action", vector("x"), 5)
    [operation] = base.asked
    assert isinstance(operation, SearchOp)
    assert operation.namespace_prefix == ("driftguard", "heads")


def test_what_another_handle_wrote_is_read_and_nothing_else(base: Watched) -> None:
    with LangGraphMemoryStore(base) as one, LangGraphMemoryStore(base) as other:
        for number in range(30):
            append(one, episode(f"e{number}"))
        assert len(ids(other)) == 30
        append(one, episode("new"))
        base.asked.clear()
        assert ids(other)[-1] == "new"
        prefixes = [op.namespace_prefix for op in base.asked if isinstance(op, SearchOp)]
        assert prefixes == [("driftguard", "heads")]
        assert len(base.asked) == 3


def test_a_handle_that_missed_more_than_the_log_holds_reads_everything(
    base: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(langgraph_origin, "LOGGED_WRITES", 4)
    with LangGraphMemoryStore(base) as one, LangGraphMemoryStore(base) as other:
        append(one, episode("first"))
        assert ids(other) == ["first"]
        for number in range(11):
            append(one, episode(f"e{number}"))
        assert ids(other) == ["first", *(f"e{number}" for number in range(11))]


def test_a_large_block_is_seen_by_others(base: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(langgraph_origin, "LOGGED_ITEMS", 5)
    with LangGraphMemoryStore(base) as one, LangGraphMemoryStore(base) as other:
        assert ids(other) == []
        with one.exclusive():
            for number in range(9):
                append(one, episode(f"e{number}"))
        assert ids(other) == [f"e{number}" for number in range(9)]


def test_an_item_that_somebody_else_deleted_is_gone_after_a_while(
    base: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LangGraphMemoryStore(base) as store:
        append(store, episode("1"))
        append(store, episode("2"))
        base.delete(EPISODES, "1")
        assert ids(store) == ["1", "2"]
        monkeypatch.setattr(langgraph_origin, "FULL_READ_AFTER", -1.0)
        assert ids(store) == ["2"]


def test_what_is_erased_is_in_no_item(base: Watched) -> None:
    with LangGraphMemoryStore(base) as one, LangGraphMemoryStore(base) as other:
        append(other, episode("secret-id", "secret-action", "secret-f", "secret-o"))
        other.touch(HOME, "mistake", ["secret-action"], NOON)
        append(one, episode("1"))
        append(one, episode("2", namespace=("secret@example.org",)))
        one.set_run(("secret@example.org",), RunVerdict("run", "r", True, "secret", "low", NOON))
        one.delete(HOME, "secret-id")
        one.delete(("secret@example.org",), "2")
        one.drop_idle_runs(("secret@example.org",))
        assert "secret" not in dump(base)
        assert ids(other) == ["1"]
        append(other, episode("3"))
        assert ids(one) == ["1", "3"]


def test_two_processes_that_placed_a_new_text_differently_agree_afterwards(base: Watched) -> None:
    """Each records without having seen the other, as at the same moment."""
    apart = InMemoryStore()
    with LangGraphMemoryStore(base) as one, LangGraphMemoryStore(apart) as two:
        append(one, episode("b", "step"), {"step": "node of one"})
        append(two, episode("a", "step"), {"step": "node of two"})
        assert one.wording(HOME, "mistake", "action", "step") is not None
        for item in apart.search((), limit=100):
            base.put(item.namespace, item.key, item.value)
        with LangGraphMemoryStore(base) as three:
            for each in (one, three):
                assert [path.action for path in each.paths(HOME, "mistake")] == ["node of two"]
                assert each.paths(HOME, "mistake")[0].frequency == 2
                assert ids(each) == ["a", "b"]


def test_vectors_of_two_models_recorded_at_once_are_re_embedded(base: Watched) -> None:
    apart = InMemoryStore()
    with LangGraphMemoryStore(base) as one, LangGraphMemoryStore(apart) as two:
        append(one, episode("1", "a"))
        append(two, episode("2", "b"), space=EmbeddingSpace("another", 8))
        for item in apart.search((), limit=100):
            base.put(item.namespace, item.key, item.value)
        mixed = one.space()
        assert mixed not in (SPACE, EmbeddingSpace("another", 8), None)
        with pytest.raises(SchemaMismatch):
            append(one, episode("3"))
        guard = DriftGuard(store=one, embeddings=SeededEmbedder())
        assert guard.review("b").warnings
        assert one.space() == SPACE
        with LangGraphMemoryStore(base) as again:
            assert again.space() == SPACE


def test_threads_and_handles_of_one_process_count_exactly(base: Watched) -> None:
    def record(me: int) -> int:
        with LangGraphMemoryStore(base) as store:
            names = [f"shared {n}" if n % 2 else f"{me} {n}" for n in range(20)]
            return sum(append(store, episode(name)).stored for name in names)

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(record, range(4))) == 50
    with LangGraphMemoryStore(base) as store:
        assert store.paths(HOME, "mistake")[0].frequency == 50


def test_a_store_that_fails_is_unavailable_and_nothing_is_half_kept(
    store: LangGraphMemoryStore, base: Watched
) -> None:
    append(store, episode("1"))

    def fail_inside() -> None:
        with store.exclusive():
            append(store, episode("2"))
            base.broken = True

    with pytest.raises(StoreUnavailable, match=r"ConnectionError: the network is gone\. The store"):
        fail_inside()
    with pytest.raises(StoreUnavailable):
        store.list(HOME)
    base.broken = False
    assert ids(store) == ["1"]


def test_a_block_that_is_given_up_writes_nothing(
    store: LangGraphMemoryStore, base: Watched
) -> None:
    append(store, episode("1"))
    before = dump(base)
    with given_up(store):
        append(store, episode("2"))
        store.delete(HOME, "1")
    assert dump(base) == before


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"version": 2}, SchemaMismatch),
        ({"episode": {}}, CorruptStore),
        ({"vectors": {"action": "AAAA"}}, CorruptStore),
        ({"order": "first"}, CorruptStore),
    ],
)
def test_an_item_that_cannot_be_read_is_an_error_that_names_it(
    base: Watched, change: dict[str, Any], error: type[Exception]
) -> None:
    with LangGraphMemoryStore(base) as store:
        append(store, episode("the one"))
    item = base.get(EPISODES, "the one")
    assert item is not None
    base.put(EPISODES, "the one", {**item.value, **change})
    with LangGraphMemoryStore(base) as store, pytest.raises(error):
        store.list(HOME)


def test_items_of_others_below_the_same_namespace_are_left_alone(base: Watched) -> None:
    base.put(("driftguard",), "mine", {"a": 1})
    base.put(("driftguard", "notes", "x"), "mine", {"a": 1})
    base.put(("driftguard2", "episodes", "driftguard"), "mine", {"a": 1})
    with LangGraphMemoryStore(base) as store:
        append(store, episode("1"))
        store.delete(HOME, "1")
        assert ids(store) == []
    assert base.get(("driftguard", "notes", "x"), "mine") is not None


def test_memories_with_different_namespaces_in_one_store_are_apart(base: Watched) -> None:
    with (
        LangGraphMemoryStore(base, namespace=("acme", "memory.v1")) as one,
        LangGraphMemoryStore(base, namespace=("acme", "memory.v2")) as two,
    ):
        append(one, episode("1"))
        assert ids(two) == []
        assert ids(one) == ["1"]


def test_the_heads_of_writers_that_are_long_gone_are_erased(base: Watched) -> None:
    for number in range(3):
        with LangGraphMemoryStore(base) as store:
            append(store, episode(f"e{number}"))
    heads = base.search(("driftguard", "heads"), limit=100)
    assert len(heads) == 3
    for head in heads[:2]:
        head_item = base._data[head.namespace][head.key]
        head_item.updated_at = datetime.now(UTC) - timedelta(days=2)
    with LangGraphMemoryStore(base) as store:
        append(store, episode("new"))
        assert ids(store) == ["e0", "e1", "e2", "new"]
    assert len(base.search(("driftguard", "heads"), limit=100)) == 2
    assert len(base.search(("driftguard", "log"), limit=100)) == 2


@pytest.mark.parametrize("wrong", [None, "store", {}])
def test_what_is_no_store_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match="BaseStore"):
        LangGraphMemoryStore(wrong)


@pytest.mark.parametrize("namespace", [("langgraph", "x"), (), "acme"])
def test_a_namespace_that_the_host_would_refuse_is_refused(namespace: Any) -> None:
    with pytest.raises(ConfigurationError):
        LangGraphMemoryStore(InMemoryStore(), namespace=namespace)


async def test_an_async_store_is_used_from_its_own_event_loop(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite3")
    async with AsyncSqliteStore.from_conn_string(path) as base:
        await base.setup()
        with LangGraphMemoryStore(base) as store:
            guard = DriftGuard(store=store, embeddings=SeededEmbedder())
            reports = [guard.arecord("step", "failed", "lost", episode_id=str(n)) for n in range(9)]
            assert {report["status"] for report in await asyncio.gather(*reports)} == {"stored"}
            review = await guard.areview("step")
            assert review.warnings[0].frequency == 9
            with pytest.raises(StoreUnavailable, match="async methods"):
                store._origin.catch_up(store._session)  # type: ignore[arg-type]
    with SqliteStore.from_conn_string(path) as kept, LangGraphMemoryStore(kept) as store:
        assert (await store.apaths(("driftguard",), "mistake"))[0].frequency == 9
