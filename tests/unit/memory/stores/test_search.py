"""Search is exact: what numpy finds by sorting everything, ties by age."""

from __future__ import annotations

import numpy as np
import pytest

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores import sqlite_session
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import Placed, Placement, Vector
from driftguard_langgraph.memory.stores.vector_index import Shelves, VectorIndex
from driftguard_langgraph.types import Action, NodeType
from tests.memory_samples import HOME, SPACE, append, episode, vector


def brute_force(rows: Vector, query: Vector, limit: int) -> list[int]:
    return [int(i) for i in np.argsort(-(rows @ query), kind="stable")[:limit]]


def coarse_vectors(rng: np.random.Generator, count: int, dimension: int) -> Vector:
    """Unit vectors of few values, so that many scores are exactly equal."""
    rows = np.zeros((count, dimension), np.float32)
    for row in rows:
        row[rng.choice(dimension, 4, replace=False)] = rng.choice([0.5, -0.5], 4)
    return rows


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


def test_a_store_finds_what_sorting_everything_finds(store: BaseMemoryStore) -> None:
    rng = np.random.default_rng(7)
    rows = coarse_vectors(rng, 60, SPACE.dimension)
    with store.exclusive():
        for number, row in enumerate(rows):
            what = episode(f"e{number}", f"action {number}")
            placement = Placement(
                Placed(what.action.text, f"node {number}", row, created=True),
                Placed(what.feedback, "f", vector("f"), created=number == 0),
                Placed(what.outcome, "o", vector("o"), created=number == 0),
            )
            store.append(what, placement, SPACE)
    for query in coarse_vectors(rng, 10, SPACE.dimension):
        for limit in (1, 5, 60, 100):
            hits = store.search(HOME, "mistake", "action", query, limit)
            expected = brute_force(rows, query, limit)
            assert [hit.action.text for hit in hits] == [f"action {n}" for n in expected]
            assert [hit.node for hit in hits] == [f"node {n}" for n in expected]
            assert [hit.similarity for hit in hits] == pytest.approx(
                [float(rows[n] @ query) for n in expected], abs=1e-5
            )


def test_a_random_history_of_appends_and_deletions_is_searched_exactly(
    store: BaseMemoryStore,
) -> None:
    rng = np.random.default_rng(11)
    kept: dict[str, None] = {}
    for number in range(150):
        if kept and rng.random() < 0.35:
            gone = list(kept)[rng.integers(len(kept))]
            del kept[gone]
            assert store.delete(HOME, gone)
        else:
            name = f"step {number}"
            append(store, episode(name, name))
            kept[name] = None
        query, limit = vector(f"query {number}"), (1, 3, 50)[rng.integers(3)]
        hits = store.search(HOME, "mistake", "action", query, limit)
        scores = {name: float(vector(name) @ query) for name in kept}
        expected = sorted(scores, key=lambda name: -scores[name])[:limit]
        assert [hit.action.text for hit in hits] == expected


def test_a_search_knows_the_tool_call_of_what_it_found(store: BaseMemoryStore) -> None:
    call = Action("move(to=1)", "move", {"to": 1})
    append(store, episode(action=call))
    [hit] = store.search(HOME, "mistake", "action", vector("move(to=1)"), 5)
    assert hit.action == call
    assert hit.similarity == pytest.approx(1.0, abs=1e-6)


def test_many_vectors_are_read_in_several_portions(
    store: BaseMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_session, "READ_AT_ONCE", 4)
    for number in range(9):
        append(store, episode(f"e{number}", f"a{number}"))
    assert len(store.search(HOME, "mistake", "action", vector("x"), 100)) == 9
    append(store, episode("more", "more"))
    assert len(store.search(HOME, "mistake", "action", vector("x"), 100)) == 10
