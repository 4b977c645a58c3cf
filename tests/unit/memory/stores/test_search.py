"""Search is exact: what numpy finds by sorting everything, ties by age."""

from __future__ import annotations

import numpy as np
import pytest

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores import sqlite_session
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import Vector
from driftguard_langgraph.memory.stores.vector_index import (
    MOST_SKETCHED,
    SKETCHED_FROM,
    Shelves,
    VectorIndex,
)
from driftguard_langgraph.testing.checks.searching import brute_force, coarse_vectors
from driftguard_langgraph.types import NodeType
from tests.memory_samples import HOME, append, episode, vector


@pytest.mark.parametrize("limit", [1, 2, 7, 40, 199, 200, 201, 10_000])
@pytest.mark.parametrize("ties", [False, True])
def test_an_index_finds_what_sorting_everything_finds(limit: int, *, ties: bool) -> None:
    rng = np.random.default_rng(limit)
    rows = coarse_vectors(rng, 200, 16) if ties else rng.standard_normal((200, 16))
    rows = rows.astype(np.float32)
    index = VectorIndex()
    for start in range(0, 200, 33):
        part = rows[start : start + 33]
        index.extend(range(10 * start + 10, 10 * (start + len(part)) + 10, 10), part)
    assert index.newest == 2000
    for query in coarse_vectors(rng, 20, 16):
        expected = brute_force(rows, query, limit)
        found = index.search(query, limit)
        assert list(found) == [10 * position + 10 for position in expected]
        scores = [float(rows[i] @ query) for i in expected]
        assert list(found.values()) == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("count", [50, SKETCHED_FROM - 1, 2 * SKETCHED_FROM])
@pytest.mark.parametrize("floor", [-1.1, 0.0, 0.47, 0.9])
def test_a_floor_leaves_out_what_is_below_it_and_nothing_else(floor: float, count: int) -> None:
    rng = np.random.default_rng(count)
    rows = sentences(rng, count)
    index = VectorIndex()
    index.extend(range(1, count + 1), rows)
    for query in nearby(rng, rows[rng.integers(count, size=20)]):
        everything = index.search(query, 16)
        kept = {place: score for place, score in everything.items() if score >= floor}
        assert list(index.search(query, 16, floor).items()) == list(kept.items())


def test_an_index_grows_one_by_one_without_losing_a_row() -> None:
    rows = np.eye(16, dtype=np.float32)
    index = VectorIndex()
    for number in range(500):
        index.extend([number + 1], rows[number % 16][None])
        assert index.newest == number + 1
    assert (
        list(index.search(rows[3], 40))
        == [n + 1 for n in range(500) if n % 16 == 3]
        + [n + 1 for n in range(500) if n % 16 != 3][: 40 - len(range(3, 500, 16))]
    )


def test_an_empty_index_finds_nothing_whatever_the_vector() -> None:
    assert VectorIndex().search(vector("x"), 5) == {}
    assert VectorIndex().newest == 0


@pytest.mark.parametrize("limit", [0, -1])
def test_nothing_is_wanted_and_nothing_found(limit: int) -> None:
    index = VectorIndex()
    index.extend([1], vector("x")[None])
    assert index.search(vector("x"), limit) == {}


def test_a_query_of_another_dimension_is_a_schema_mismatch() -> None:
    index = VectorIndex()
    index.extend([1], vector("x")[None])
    with pytest.raises(SchemaMismatch, match="16 numbers, the query has 8"):
        index.search(vector("x", 8), 1)


def test_the_shelves_of_many_namespaces_take_bounded_room() -> None:
    rows = np.stack([vector(str(n)) for n in range(100)])
    one = VectorIndex()
    one.extend(range(1, 101), rows)
    shelves = Shelves(kept_bytes=10 * one.nbytes)
    for number in range(50):
        shelves.open((f"n{number}", "mistake", "action"))
        shelves.extend((f"n{number}", "mistake", "action"), range(1, 101), rows)
        assert len(shelves) <= 10
    assert shelves.open(("n49", "mistake", "action")).newest == 100
    assert shelves.open(("n45", "mistake", "action")).newest == 100
    assert shelves.open(("n0", "mistake", "action")).newest == 0


def test_the_shelves_in_use_stay_however_large() -> None:
    rows = np.stack([vector(str(n)) for n in range(100)])
    shelves = Shelves(kept_bytes=1)
    roles: tuple[NodeType, ...] = ("action", "feedback")
    for role in roles:
        shelves.open(("here", "mistake", role))
        shelves.extend(("here", "mistake", role), range(1, 101), rows)
    assert shelves.open(("here", "mistake", "action")).newest == 100
    shelves.open(("there", "mistake", "action"))
    shelves.extend(("there", "mistake", "action"), [1], rows[:1])
    assert len(shelves) == 1


def test_the_shelf_asked_last_is_given_up_last() -> None:
    rows = vector("x")[None]
    one = VectorIndex()
    one.extend([1], rows)
    shelves = Shelves(kept_bytes=2 * one.nbytes)
    for name in ("a", "b", "a", "c"):
        index = shelves.open((name, "mistake", "action"))
        if not index.newest:
            shelves.extend((name, "mistake", "action"), [1], rows)
    assert shelves.open(("a", "mistake", "action")).newest == 1
    assert shelves.open(("b", "mistake", "action")).newest == 0


def test_many_vectors_are_read_in_several_portions(
    store: BaseMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_session, "READ_AT_ONCE", 4)
    for number in range(9):
        append(store, episode(f"e{number}", f"a{number}"))
    assert len(store.search(HOME, "mistake", "action", vector("x"), 100)) == 9
    append(store, episode("more", "more"))
    assert len(store.search(HOME, "mistake", "action", vector("x"), 100)) == 10


def sentences(rng: np.random.Generator, count: int) -> Vector:
    """Vectors as those of sentences are: some themes, and few directions that matter."""
    themes = rng.standard_normal((count // 40, 48)) @ rng.standard_normal((48, 384))
    rows = themes[rng.integers(len(themes), size=count)] / np.sqrt(48)
    rows = rows + 0.5 * rng.standard_normal((count, 384))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def nearby(rng: np.random.Generator, rows: Vector) -> Vector:
    moved = rows + 0.4 * rng.standard_normal(rows.shape).astype(np.float32) / np.sqrt(384)
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), np.float32)


def test_of_many_rows_the_nearest_are_found_however_they_came() -> None:
    rng = np.random.default_rng(3)
    rows = sentences(rng, 5 * SKETCHED_FROM)
    index, found, wanted = VectorIndex(), 0, 0
    for start, stop in ((0, 4000), (4000, 4001), *((n, n + 1) for n in range(4001, 4200))):
        index.extend(range(start + 1, stop + 1), rows[start:stop])
    for stop in (6000, len(rows)):
        start = index.newest
        index.extend(range(start + 1, stop + 1), rows[start:stop])
        for query in nearby(rng, rows[rng.integers(stop, size=40)]):
            expected = [place + 1 for place in brute_force(rows[:stop], query, 5)]
            hits = index.search(query, 5)
            scores = [float(rows[place - 1] @ query) for place in hits]
            assert list(hits.values()) == pytest.approx(scores, abs=1e-5)
            found, wanted = found + len({*hits} & {*expected}), wanted + 5
    assert found / wanted >= 0.99


def test_of_many_unrelated_rows_the_one_that_is_alike_is_found() -> None:
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((3 * SKETCHED_FROM, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = VectorIndex()
    index.extend(range(1, len(rows) + 1), rows)
    places = rng.integers(len(rows), size=50)
    for place, query in zip(places, nearby(rng, rows[places]), strict=True):
        assert next(iter(index.search(query, 40))) == place + 1


def test_as_many_rows_as_are_wanted_are_found_even_if_all_are_alike() -> None:
    rows = np.zeros((2 * SKETCHED_FROM, 384), np.float32)
    rows[:, 0] = 1.0
    index = VectorIndex()
    index.extend(range(1, len(rows) + 1), rows)
    for limit in (1, 40, MOST_SKETCHED, MOST_SKETCHED + 1, len(rows)):
        assert list(index.search(rows[0], limit)) == list(range(1, limit + 1))


@pytest.mark.parametrize("dimension", [64, 100, 256, 384, 1000])
def test_vectors_of_any_length_are_found_among_many(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    rows = rng.standard_normal((SKETCHED_FROM + 500, dimension)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = VectorIndex()
    index.extend(range(1, len(rows) + 1), rows)
    for place in rng.integers(len(rows), size=30):
        assert next(iter(index.search(rows[place], 8))) == place + 1
        assert index.search(-rows[place], 1) != {}


def test_vectors_with_few_numbers_are_found_among_many_like_them() -> None:
    rng = np.random.default_rng(6)
    rows = coarse_vectors(rng, 2 * SKETCHED_FROM, 384)
    index = VectorIndex()
    index.extend(range(1, len(rows) + 1), rows)
    for place in rng.integers(len(rows), size=30):
        expected = brute_force(rows, rows[place], 1)[0]
        assert next(iter(index.search(rows[place], 8))) == expected + 1


def test_a_sketch_adds_little_to_what_an_index_holds_in_memory() -> None:
    rows = sentences(np.random.default_rng(5), 2 * SKETCHED_FROM)
    index = VectorIndex()
    index.extend(range(1, len(rows) + 1), rows)
    assert rows.nbytes < index.nbytes < 1.1 * rows.nbytes
