"""The memory as a `networkx` graph: a view, counted from the episodes, rebuilt at will."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import networkx as nx

from driftguard_langgraph.types import Kind, Namespace, NodeType

if TYPE_CHECKING:
    # The stores write the graph into their files.
    from driftguard_langgraph.memory.stores.base import BaseMemoryStore
    from driftguard_langgraph.memory.stores.records import ChainPath

Graph: TypeAlias = "nx.DiGraph[str]"


def node_key(role: NodeType, node: str) -> str:
    """Return the key of a node in the graph; the same label may stand in two roles."""
    return f"{role}: {node}"


def graph_from_paths(paths: Sequence[ChainPath]) -> Graph:
    """Build the graph of some paths.

    Args:
        paths: From one namespace and kind.

    Returns:
        A directed graph. Nodes: `type`, `label`, `frequency`, `first_seen`, `last_seen`.
        Edges: `frequency`, `weight` (share of the source's episodes that went this way,
        0..1), `created_at`, `last_seen`. The graph: `chains`, the `nodes` and the
        `frequency` of each path, which edges alone do not tell.
    """
    graph: Graph = nx.DiGraph()
    graph.graph["chains"] = chains = []
    for path in paths:
        roles: tuple[tuple[NodeType, str], ...] = (
            ("action", path.action),
            ("feedback", path.feedback),
            ("outcome", path.outcome),
        )
        keys = [node_key(role, node) for role, node in roles]
        chains.append({"nodes": keys, "frequency": path.frequency})
        for key, (role, node) in zip(keys, roles, strict=True):
            graph.add_node(key, type=role, label=node)
            _count(graph.nodes[key], path, "first_seen")
        for source, target in pairwise(keys):
            graph.add_edge(source, target)
            _count(graph.edges[source, target], path, "created_at")
    for source, _, edge in graph.edges(data=True):
        edge["weight"] = edge["frequency"] / graph.nodes[source]["frequency"]
    return graph


def _count(attributes: dict[str, Any], path: ChainPath, since: str) -> None:
    attributes["frequency"] = attributes.get("frequency", 0) + path.frequency
    attributes[since] = min(attributes.get(since, path.first_seen), path.first_seen)
    attributes["last_seen"] = max(attributes.get("last_seen", path.last_seen), path.last_seen)


def load_graph(store: BaseMemoryStore, namespace: Namespace, kind: Kind) -> Graph:
    """Return the whole graph of one kind.

    Args:
        store: The memory.
        namespace: Whose memory.
        kind: Mistakes or successes.

    Returns:
        The graph of `graph_from_paths`; nodes also hold `text` (the first wording, as
        written) and `wordings` (all that were merged into it), and the graph its `kind`.
    """
    graph = graph_from_paths(store.paths(namespace, kind))
    graph.graph["kind"] = kind
    roles: tuple[NodeType, ...] = ("action", "feedback", "outcome")
    for role in roles:
        nodes = [data["label"] for _, data in graph.nodes(data=True) if data["type"] == role]
        said: dict[str, dict[str, None]] = {node: {} for node in nodes}
        for wording in store.wordings(namespace, kind, role, nodes):
            said[wording.node][wording.action.text] = None
        for node, texts in said.items():
            # Without a wording it was pruned since the paths were read.
            attributes = graph.nodes[node_key(role, node)]
            attributes.update(text=next(iter(texts), node), wordings=list(texts))
    return graph
