"""Walking goes only where some episode went, strongest first, within its bounds."""

from __future__ import annotations

import numpy as np
import pytest

from driftguard_langgraph.memory.chains import Bounds, Chain, walk
from driftguard_langgraph.memory.stores.records import ChainPath
from tests.memory_samples import NOON

WIDE = Bounds(depth=3, branching=10, paths=100)


def path(feedback: str, outcome: str, frequency: int = 1, action: str = "a") -> ChainPath:
    return ChainPath(
        action,
        feedback,
        outcome,
        frequency=frequency,
        first_seen=NOON,
        last_seen=NOON,
        last_used=None,
        severity="medium",
        feedback_text=feedback,
        outcome_text=outcome,
        episode_ids=(),
    )


def nodes(chains: list[Chain]) -> list[tuple[str, ...]]:
    return [chain.nodes for chain in chains]


def test_the_strongest_link_comes_first_and_ties_keep_their_age() -> None:
    paths = [
        path("weak", "w1"),
        path("strong", "s1", 2),
        path("middle", "m1", 3),
        path("strong", "s2", 4),
        path("also weak", "w2"),
    ]
    chains = walk(paths, WIDE)
    assert nodes(chains) == [
        ("a", "strong", "s2"),
        ("a", "strong", "s1"),
        ("a", "middle", "m1"),
        ("a", "weak", "w1"),
        ("a", "also weak", "w2"),
    ]
    assert [chain.edge_frequency for chain in chains] == [6, 6, 3, 1, 1]
    assert [chain.path for chain in chains] == [paths[i] for i in (3, 1, 2, 0, 4)]


def test_no_path_no_chain() -> None:
    assert walk([], WIDE) == []


@pytest.mark.parametrize("branching", [1, 2, 3])
def test_branching_bounds_the_links_of_every_node(branching: int) -> None:
    paths = [path(f"f{f}", f"o{o}", 10 * f + o + 1) for f in range(4) for o in range(4)]
    expected = [
        ("a", f"f{f}", f"o{o}") for f in (3, 2, 1, 0)[:branching] for o in (3, 2, 1, 0)[:branching]
    ]
    assert nodes(walk(paths, Bounds(3, branching, 100))) == expected


@pytest.mark.parametrize("most", [0, 1, 5, 16, 17])
def test_no_more_chains_than_wanted_and_the_strongest_of_them(most: int) -> None:
    paths = [path(f"f{f}", f"o{o}", 10 * f + o + 1) for f in range(4) for o in range(4)]
    everything = walk(paths, WIDE)
    assert len(everything) == 16
    assert walk(paths, Bounds(3, 10, most)) == everything[:most]


def test_one_edge_deep_ends_at_the_feedback_once_for_each() -> None:
    paths = [path("f", "o1"), path("f", "o2", 5), path("g", "o1", 9)]
    chains = walk(paths, Bounds(1, 10, 100))
    assert nodes(chains) == [("a", "g"), ("a", "f")]
    assert [chain.edge_frequency for chain in chains] == [9, 6]
    assert chains[1].path.outcome == "o2"


@pytest.mark.parametrize("depth", [2, 3, 9])
def test_two_edges_are_as_deep_as_an_episode_goes(depth: int) -> None:
    assert nodes(walk([path("f", "o")], Bounds(depth, 10, 100))) == [("a", "f", "o")]


@pytest.mark.parametrize("seed", range(20))
def test_every_chain_is_a_path_that_exists_each_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = {
        (f"f{rng.integers(5)}", f"o{rng.integers(5)}"): int(rng.integers(1, 9)) for _ in range(15)
    }
    paths = [path(f, o, n) for (f, o), n in drawn.items()]
    bounds = Bounds(3, int(rng.integers(1, 7)), int(rng.integers(1, 30)))
    chains = walk(paths, bounds)
    keys = [chain.nodes for chain in chains]
    assert set(keys) <= {p.key for p in paths}
    assert len(set(keys)) == len(keys) <= bounds.paths
    assert len({key[1] for key in keys}) <= bounds.branching
    strengths = [chain.edge_frequency for chain in chains]
    assert strengths == sorted(strengths, reverse=True)
