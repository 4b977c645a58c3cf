"""Forgetting: weak links, then stale nodes, then what stands alone; never what is fresh."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from driftguard_langgraph.memory.graph import graph_from_paths
from driftguard_langgraph.memory.prune import plan_prune, prune
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.records import ChainPath
from tests.memory_samples import HOME, NOON, append, episode, given_up, vector

STALE_DAYS = 60
MIN_FREQUENCY = 2
OLD = NOON - timedelta(days=STALE_DAYS, microseconds=1)
NOT_YET_OLD = NOON - timedelta(days=STALE_DAYS)
NOTHING = {
    "episodes_removed": 0,
    "episodes_expired": 0,
    "weak_edges_removed": 0,
    "stale_nodes_removed": 0,
    "isolated_nodes_removed": 0,
}


def path(
    key: str, frequency: int, last_seen: datetime, last_used: datetime | None = None
) -> ChainPath:
    action, feedback, outcome = key.split()
    return ChainPath(
        action,
        feedback,
        outcome,
        frequency=frequency,
        first_seen=last_seen,
        last_seen=last_seen,
        last_used=last_used,
        severity="medium",
        feedback_text=feedback,
        outcome_text=outcome,
        episode_ids=(),
    )


def planned(*paths: ChainPath) -> tuple[list[str], int, int, int]:
    plan = plan_prune(paths, NOON, STALE_DAYS, MIN_FREQUENCY)
    gone = [" ".join(p.key) for p in plan.paths]
    return gone, plan.weak_edges, plan.stale_nodes, plan.isolated_nodes


def test_what_is_fresh_is_never_forgotten_however_rare() -> None:
    assert planned(path("a f o", 1, NOON), path("b g p", 1, NOT_YET_OLD)) == ([], 0, 0, 0)


def test_what_was_used_lately_is_not_stale() -> None:
    assert planned(path("a f o", 1, OLD, NOT_YET_OLD)) == ([], 0, 0, 0)
    assert planned(path("a f o", 1, OLD, OLD))[0] == ["a f o"]


def test_weak_links_go_before_stale_nodes_are_counted() -> None:
    # Both links are old and rare: they go first, and the nodes are left alone, not stale.
    assert planned(path("a f o", 1, OLD)) == (["a f o"], 2, 0, 3)


def test_strong_but_stale_nodes_go_as_stale() -> None:
    assert planned(path("a f o", 5, OLD)) == (["a f o"], 0, 3, 0)


def test_a_link_is_as_strong_as_all_its_episodes() -> None:
    # `f -> o` was seen twice, `a -> f` and `b -> f` once each.
    gone, weak, stale, isolated = planned(path("a f o", 1, OLD), path("b f o", 1, OLD))
    assert (gone, weak, stale, isolated) == (["a f o", "b f o"], 2, 0, 4)


def test_a_node_that_something_fresh_goes_through_is_not_stale() -> None:
    gone, weak, stale, isolated = planned(path("a f o", 1, NOON), path("b f o", 5, OLD))
    assert (gone, weak, stale, isolated) == (["b f o"], 0, 1, 0)


def test_an_old_strong_path_between_fresh_nodes_stays() -> None:
    kept = (path("a f o", 5, OLD), path("a g o", 1, NOON), path("b f p", 1, NOON))
    assert planned(*kept) == ([], 0, 0, 0)


def test_what_only_a_stale_node_held_is_isolated() -> None:
    # `a` is fresh by another path; `f` is stale; nothing else leads to `o`.
    gone, weak, stale, isolated = planned(path("a f o", 5, OLD), path("a g p", 1, NOON))
    assert (gone, weak, stale, isolated) == (["a f o"], 0, 2, 0)


def drawn(seed: int) -> list[ChainPath]:
    rng = np.random.default_rng(seed)
    paths = {}
    for _ in range(int(rng.integers(1, 25))):
        key = f"a{rng.integers(5)} f{rng.integers(4)} o{rng.integers(4)}"
        seen = NOON - timedelta(days=int(rng.integers(0, 130)))
        used = None if rng.random() < 0.7 else NOON - timedelta(days=int(rng.integers(0, 130)))
        paths[key] = path(key, int(rng.integers(1, 4)), seen, used)
    return list(paths.values())


def by_graph(paths: list[ChainPath]) -> tuple[set[str], int, int, int]:
    """The same three steps on a networkx graph whose edges know their paths."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    cutoff = NOON - timedelta(days=STALE_DAYS)
    for p in paths:
        keys = [f"{role}: {node}" for role, node in zip("afo", p.key, strict=True)]
        for pair in pairwise(keys):
            graph.add_edge(*pair)
            graph.edges[pair].setdefault("through", []).append(p)

    def remove(gone: set[tuple[str, str, str]]) -> None:
        for _, _, data in graph.edges(data=True):
            data["through"] = [p for p in data["through"] if p.key not in gone]
        graph.remove_edges_from([(s, t) for s, t, d in graph.edges(data=True) if not d["through"]])

    weak = {
        (source, target): data["through"]
        for source, target, data in graph.edges(data=True)
        if sum(p.frequency for p in data["through"]) < MIN_FREQUENCY
        and max(p.last_active for p in data["through"]) < cutoff
    }
    remove({p.key for through in weak.values() for p in through})
    stale = []
    for node in graph:
        edges = [*graph.in_edges(node, data=True), *graph.out_edges(node, data=True)]
        through = [p for _, _, data in edges for p in data["through"]]
        if through and max(p.last_active for p in through) < cutoff:
            stale.append((node, {p.key for p in through}))
    remove({key for _, keys in stale for key in keys})
    graph.remove_nodes_from([node for node, _ in stale])
    isolated = list(nx.isolates(graph))
    graph.remove_nodes_from(isolated)
    left = {p.key for _, _, data in graph.edges(data=True) for p in data["through"]}
    gone = {" ".join(p.key) for p in paths if p.key not in left}
    return gone, len(weak), len(stale), len(isolated)


@pytest.mark.parametrize("seed", range(200))
def test_the_plan_is_what_the_three_steps_do_to_a_graph(seed: int) -> None:
    paths = drawn(seed)
    gone, weak, stale, isolated = planned(*paths)
    assert (set(gone), weak, stale, isolated) == by_graph(paths)
    kept = [p for p in paths if " ".join(p.key) not in gone]
    before, after = graph_from_paths(paths), graph_from_paths(kept)
    assert len(before) - len(after) == stale + isolated
    assert before.number_of_edges() - after.number_of_edges() >= weak
    fresh = [p for p in paths if p.last_active >= NOT_YET_OLD]
    assert not set(gone) & {" ".join(p.key) for p in fresh}


def test_a_memory_is_pruned_on_both_sides_and_nowhere_else(store: BaseMemoryStore) -> None:
    append(store, episode("old", "a", "f", "o", created_at=OLD))
    append(store, episode("old again", "a", "f", "o", created_at=OLD))
    append(store, episode("rare", "b", "f", "p", created_at=OLD))
    append(store, episode("fresh", "c", "f", "o"))
    append(store, episode("worked", "a", "f", "o", created_at=OLD, kind="success"))
    append(store, episode("elsewhere", "a", "f", "o", created_at=OLD, namespace=("x",)))
    report = prune(store, HOME, NOON, STALE_DAYS, MIN_FREQUENCY)
    assert report == {
        "mistakes": {
            "episodes_removed": 3,
            "episodes_expired": 0,
            "weak_edges_removed": 2,
            "stale_nodes_removed": 1,
            "isolated_nodes_removed": 2,
        },
        "successes": {
            "episodes_removed": 1,
            "episodes_expired": 0,
            "weak_edges_removed": 2,
            "stale_nodes_removed": 0,
            "isolated_nodes_removed": 3,
        },
    }
    assert [kept.episode_id for kept in store.list(HOME)] == ["fresh"]
    assert len(store.list(("x",))) == 1
    assert [h.action.text for h in store.search(HOME, "mistake", "action", vector("a"), 9)] == ["c"]
    assert prune(store, HOME, NOON, STALE_DAYS, MIN_FREQUENCY) == {
        "mistakes": NOTHING,
        "successes": NOTHING,
    }


def test_a_warning_that_is_shown_keeps_its_memory_alive(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a", "f", "o", created_at=OLD))
    append(store, episode("2", "b", "g", "p", created_at=OLD))
    store.touch(HOME, "mistake", ["a"], NOON - timedelta(days=59))
    report = prune(store, HOME, NOON, STALE_DAYS, MIN_FREQUENCY)
    assert report["mistakes"]["episodes_removed"] == 1
    assert [kept.episode_id for kept in store.list(HOME)] == ["1"]
    report = prune(store, HOME, NOON + timedelta(days=2), STALE_DAYS, MIN_FREQUENCY)
    assert report["mistakes"]["episodes_removed"] == 1


def test_pruning_that_is_given_up_removes_nothing(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a", "f", "o", created_at=OLD))
    with given_up(store):
        prune(store, HOME, NOON, STALE_DAYS, MIN_FREQUENCY)
        assert list(store.list(HOME)) == []
    assert len(store.list(HOME)) == 1


@pytest.mark.parametrize("seed", range(10))
def test_the_summary_adds_up_with_the_memory_before_and_after(seed: int) -> None:
    paths = drawn(seed)
    with EphemeralMemoryStore() as store:
        with store.exclusive():
            for number, p in enumerate(paths):
                for repeat in range(p.frequency):
                    name = f"{number}.{repeat}"
                    append(store, episode(name, *p.key, created_at=p.last_seen))
        before = store.paths(HOME, "mistake")
        side = prune(store, HOME, NOON, STALE_DAYS, MIN_FREQUENCY)["mistakes"]
        after = store.paths(HOME, "mistake")
        texts = set(store.texts())
    assert (
        sum(p.frequency for p in before) - sum(p.frequency for p in after)
        == (side["episodes_removed"])
    )
    assert len(graph_from_paths(before)) - len(graph_from_paths(after)) == (
        side["stale_nodes_removed"] + side["isolated_nodes_removed"]
    )
    assert texts == {node for p in after for node in p.key}
