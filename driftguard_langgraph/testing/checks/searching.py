"""Search finds what sorting everything finds, ties by age."""

from __future__ import annotations

import numpy as np
import pytest

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    Placed,
    Placement,
    Vector,
)
from driftguard_langgraph.testing.places import Places
from driftguard_langgraph.testing.samples import (
    HOME,
    SPACE,
    append,
    episode,
    vector,
)
from driftguard_langgraph.types import Action


def brute_force(rows: Vector, query: Vector, limit: int) -> list[int]:
    """Return the places of the nearest rows, found by sorting all of them."""
    return [int(i) for i in np.argsort(-(rows @ query), kind="stable")[:limit]]


def coarse_vectors(rng: np.random.Generator, count: int, dimension: int) -> Vector:
    """Return unit vectors of few values, so that many scores are exactly equal."""
    rows = np.zeros((count, dimension), np.float32)
    for row in rows:
        row[rng.choice(dimension, 4, replace=False)] = rng.choice([0.5, -0.5], 4)
    return rows


class SearchingChecks(Places):
    """The nearest wordings."""

    def test_a_store_finds_what_sorting_everything_finds(self, store: BaseMemoryStore) -> None:
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
                # Scores of these vectors are quarters: none is near to the floor.
                near = [n for n in expected if float(rows[n] @ query) > 0.4]
                hits = store.search(HOME, "mistake", "action", query, limit, 0.4)
                assert [hit.action.text for hit in hits] == [f"action {n}" for n in near]

    def test_a_random_history_of_appends_and_deletions_is_searched_exactly(
        self,
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

    def test_a_search_knows_the_tool_call_of_what_it_found(self, store: BaseMemoryStore) -> None:
        call = Action("move(to=1)", "move", {"to": 1})
        append(store, episode(action=call))
        [hit] = store.search(HOME, "mistake", "action", vector("move(to=1)"), 5)
        assert hit.action == call
        assert hit.similarity == pytest.approx(1.0, abs=1e-6)
