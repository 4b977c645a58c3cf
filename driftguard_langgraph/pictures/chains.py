"""What a picture of a memory shows: nodes in columns, and the chains that run through them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.memory.graph import Graph
from driftguard_langgraph.types import Kind

ROLES = ("action", "feedback", "outcome")
"""The columns, from left to right."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the memory.

    Attributes:
        key: Its key in the graph.
        column: 0 for actions to 2 for outcomes.
        text: Its first wording, as it was recorded.
        frequency: How often it was observed.
        others: Its other wordings, which were merged into it.
    """

    key: str
    column: int
    text: str
    frequency: int
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """What was observed together.

    Attributes:
        keys: Its nodes, from left to right.
        frequency: How often.
    """

    keys: tuple[str, ...]
    frequency: int


@dataclass(frozen=True, slots=True)
class Scene:
    """What is drawn of a memory.

    Attributes:
        kind: Whether it is failures or successes.
        nodes: The nodes by key, the most frequent first.
        chains: The chains, the most frequent first.
        episodes: How often anything was observed, also what is not drawn.
        all_nodes: How many nodes there are, also those not drawn.
    """

    kind: Kind
    nodes: Mapping[str, Node]
    chains: tuple[Chain, ...]
    episodes: int
    all_nodes: int


def scene_of(graph: Graph, kind: Kind, max_nodes: int) -> Scene:
    """Return what to draw of a graph: its strongest chains.

    Args:
        graph: A graph as `DriftGuard.graph` returns it.
        kind: Its kind, where the graph does not say.
        max_nodes: The most nodes; what is left out is the weakest chains.

    Raises:
        ConfigurationError: A node is none of a memory.
    """
    nodes = {key: _node(key, data) for key, data in graph.nodes(data=True)}
    every = sorted(_chains(graph), key=lambda chain: (-chain.frequency, chain.keys))
    kept: list[Chain] = []
    seen: set[str] = set()
    for chain in every:
        if len(seen.union(chain.keys)) <= max_nodes:
            seen.update(chain.keys)
            kept.append(chain)
    strongest = sorted(seen, key=lambda key: (-nodes[key].frequency, key))
    return Scene(
        kind=graph.graph.get("kind", kind),
        nodes={key: nodes[key] for key in strongest},
        chains=tuple(kept),
        episodes=sum(node.frequency for node in nodes.values() if node.column == 0),
        all_nodes=len(nodes),
    )


def _node(key: str, data: Mapping[str, Any]) -> Node:
    try:
        column = ROLES.index(data["type"])
        text = str(data.get("text", data["label"]))
        others = tuple(map(str, data.get("wordings", ())))[1:]
        return Node(key, column, text, int(data["frequency"]), others)
    except (KeyError, TypeError, ValueError):
        raise ConfigurationError(
            f"node {key!r} has no type, label and frequency of a memory: give a DriftGuard, or "
            "what its `graph()` returned."
        ) from None


def _chains(graph: Graph) -> list[Chain]:
    """Return the observed chains; of a graph that does not hold them, its edges."""
    held: Sequence[Mapping[str, Any]] = graph.graph.get("chains", ())
    chains = [
        Chain(tuple(each["nodes"]), int(each["frequency"]))
        for each in held
        if all(key in graph for key in each["nodes"])
    ]
    if chains:
        return chains
    edges = graph.edges(data=True)
    return [Chain((source, target), int(data["frequency"])) for source, target, data in edges]
