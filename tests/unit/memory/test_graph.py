"""The networkx view counts episodes."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import numpy as np
import pytest

from driftguard_langgraph.memory.graph import graph_from_paths, load_graph, node_key
from driftguard_langgraph.memory.stats import memory_stats
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.types import NodeType
from tests.memory_samples import HOME, NOON, append, episode

ROLES: tuple[NodeType, ...] = ("action", "feedback", "outcome")
NODES = {"a1": "A", "a2": "A", "f1": "F", "o1": "O", "o2": "P", "b": "B"}


def fill(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a1", "f1", "o1", created_at=NOON), NODES)
    append(store, episode("2", "a2", "f1", "o1", created_at=NOON - timedelta(days=2)), NODES)
    append(store, episode("3", "a1", "f1", "o2", created_at=NOON + timedelta(days=2)), NODES)
    append(store, episode("4", "b", "f1", "o2", created_at=NOON), NODES)
    append(store, episode("5", "b", "f1", "o2", kind="success"), NODES)
    append(store, episode("6", "elsewhere", "f1", "o2", namespace=("x",)), NODES)


def test_nodes_and_edges_count_their_episodes() -> None:
    with EphemeralMemoryStore() as store:
        fill(store)
        graph = load_graph(store, HOME, "mistake")
    action, feedback = node_key("action", "A"), node_key("feedback", "F")
    assert set(graph) == {
        action,
        node_key("action", "B"),
        feedback,
        node_key("outcome", "O"),
        node_key("outcome", "P"),
    }
    assert graph.nodes[action] == {
        "type": "action",
        "label": "A",
        "frequency": 3,
        "first_seen": NOON - timedelta(days=2),
        "last_seen": NOON + timedelta(days=2),
        "text": "a1",
        "wordings": ["a1", "a2"],
    }
    assert graph.nodes[feedback]["frequency"] == 4
    assert graph.edges[action, feedback] == {
        "frequency": 3,
        "weight": 1.0,
        "created_at": NOON - timedelta(days=2),
        "last_seen": NOON + timedelta(days=2),
    }
    onwards = {
        target: data["frequency"] for _, target, data in graph.out_edges(feedback, data=True)
    }
    assert onwards == {node_key("outcome", "O"): 2, node_key("outcome", "P"): 2}
    assert graph.edges[feedback, node_key("outcome", "P")]["weight"] == 0.5


def test_the_graph_holds_the_observed_chains_which_its_edges_do_not_tell() -> None:
    with EphemeralMemoryStore() as store:
        fill(store)
        graph = load_graph(store, HOME, "mistake")
    chains = {tuple(chain["nodes"]): chain["frequency"] for chain in graph.graph["chains"]}
    keys = [
        tuple(node_key(role, node) for role, node in zip(ROLES, nodes, strict=True))
        for nodes in ("AFO", "AFP", "BFP")
    ]
    assert chains == dict(zip(keys, (2, 1, 1), strict=True))
    assert graph.graph["kind"] == "mistake"


def test_the_same_label_in_two_roles_is_two_nodes() -> None:
    with EphemeralMemoryStore() as store:
        append(store, episode("1", "same", "same", "same"))
        graph = load_graph(store, HOME, "mistake")
    assert sorted(graph) == ["action: same", "feedback: same", "outcome: same"]
    assert not list(graph.nodes & {"same"})


def test_an_empty_memory_is_an_empty_graph() -> None:
    with EphemeralMemoryStore() as store:
        assert len(load_graph(store, HOME, "mistake")) == 0
        assert memory_stats(store, HOME) == {
            "episodes": 0,
            "mistakes": {"episodes": 0, "nodes": 0, "edges": 0},
            "successes": {"episodes": 0, "nodes": 0, "edges": 0},
        }


def test_stats_count_what_the_graphs_hold() -> None:
    with EphemeralMemoryStore() as store:
        fill(store)
        stats = memory_stats(store, HOME)
        graphs = {
            "mistakes": load_graph(store, HOME, "mistake"),
            "successes": load_graph(store, HOME, "success"),
        }
    assert stats == {
        "episodes": 5,
        "mistakes": {"episodes": 4, "nodes": 5, "edges": 4},
        "successes": {"episodes": 1, "nodes": 3, "edges": 2},
    }
    for name, graph in graphs.items():
        side = stats[name]  # type: ignore[literal-required]
        assert (side["nodes"], side["edges"]) == (len(graph), graph.number_of_edges())


@pytest.mark.parametrize("seed", range(5))
def test_a_random_memory_is_counted_like_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    keys = [tuple(f"{role}{rng.integers(4)}" for role in "afo") for _ in range(80)]
    with EphemeralMemoryStore() as store:
        with store.exclusive():
            for number, (action, feedback, outcome) in enumerate(keys):
                append(store, episode(f"e{number}", action, feedback, outcome))
        paths = store.paths(HOME, "mistake")
        stats = memory_stats(store, HOME)
    graph = graph_from_paths(paths)
    roles = ("action", "feedback", "outcome")
    by_node = Counter((role, key[at]) for key in keys for at, role in enumerate(roles))
    by_edge = Counter((at, key[at], key[at + 1]) for key in keys for at in (0, 1))
    counted = {(d["type"], d["label"]): d["frequency"] for _, d in graph.nodes(data=True)}
    assert counted == dict(by_node)
    assert sorted(d["frequency"] for _, _, d in graph.edges(data=True)) == sorted(by_edge.values())
    for node, data in graph.nodes(data=True):
        if data["type"] != "outcome":
            shares = [d["weight"] for _, _, d in graph.out_edges(node, data=True)]
            assert sum(shares) == pytest.approx(1.0)
    assert stats["mistakes"] == {"episodes": 80, "nodes": len(by_node), "edges": len(by_edge)}
