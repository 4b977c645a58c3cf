"""Counting what a namespace remembers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, cast

from driftguard_langgraph.html.memory_cards import stats_card
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import ChainPath
from driftguard_langgraph.types import Namespace


class GraphStats(TypedDict):
    """Size of one graph."""

    episodes: int
    nodes: int
    edges: int


class MemoryStats(TypedDict):
    """Size of the memory of one namespace."""

    episodes: int
    mistakes: GraphStats
    successes: GraphStats


class ShownStats(dict[str, Any]):
    """Plain JSON that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return stats_card(self)


def memory_stats(store: BaseMemoryStore, namespace: Namespace) -> MemoryStats:
    """Count episodes, nodes and edges of both graphs."""
    mistakes = _graph_stats(store.paths(namespace, "mistake"))
    successes = _graph_stats(store.paths(namespace, "success"))
    counted = ShownStats(
        episodes=mistakes["episodes"] + successes["episodes"],
        mistakes=mistakes,
        successes=successes,
    )
    return cast("MemoryStats", counted)


def _graph_stats(paths: Sequence[ChainPath]) -> GraphStats:
    nodes = [{path.key[role] for path in paths} for role in range(3)]
    links = [{path.key[role : role + 2] for path in paths} for role in range(2)]
    return GraphStats(
        episodes=sum(path.frequency for path in paths),
        nodes=sum(len(of_role) for of_role in nodes),
        edges=sum(len(between) for between in links),
    )
