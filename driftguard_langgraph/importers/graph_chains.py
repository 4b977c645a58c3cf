"""From counted links back to chains: which action, feedback and outcome were seen together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from driftguard_langgraph.importers.graph_links import Link, Links
from driftguard_langgraph.importers.graph_shares import Chain, chains_through
from driftguard_langgraph.importers.peer_graph import PeerGraph


@dataclass(frozen=True, slots=True)
class Chains:
    """All chains of a graph.

    Attributes:
        chains: Them, those of one action together.
        unreached: Texts that no action leads to any more.
        unclaimed: How many outcomes were counted beyond what actions account for.
    """

    chains: tuple[Chain, ...]
    unreached: tuple[str, ...]
    unclaimed: int


def find_chains(graph: PeerGraph, links: Links) -> Chains:
    """Return the chains that explain a graph's counts.

    Every observation of an action that the file counts is in one of them.

    Args:
        graph: The graph.
        links: Its links, by meaning.
    """
    into: dict[str, list[Link]] = {}
    onward: dict[str, list[Link]] = {}
    for link in links.feedback:
        into.setdefault(link.target, []).append(link)
    for link in links.outcome:
        onward.setdefault(link.source, []).append(link)
    chains: list[Chain] = []
    for feedback, led_here in into.items():
        chains += chains_through(graph, led_here, onward.get(feedback, []))
    chains += _without_feedback(graph, links)
    place = {text: number for number, text in enumerate(graph.nodes)}
    chains.sort(key=lambda chain: place[chain.action])
    reached = {text for chain in chains for text in chain.texts}
    counted = sum(link.count for link in links.outcome)
    return Chains(
        tuple(chains),
        tuple(text for text in graph.nodes if text not in reached),
        counted - sum(chain.count for chain in chains if chain.outcome is not None),
    )


def _without_feedback(graph: PeerGraph, links: Links) -> Iterator[Chain]:
    """Yield what was counted of actions beyond their links, which a prune took away."""
    as_action, as_other = Counter[str](), Counter[str]()
    for link in links.feedback:
        as_action[link.source] += link.count
        as_other[link.target] += link.count
    for link in links.outcome:
        as_other[link.target] += link.count
    for text, node in graph.nodes.items():
        told = as_action[text] + as_other[text]
        if "action" in node.roles and node.frequency > told:
            more = node.frequency - told
            yield Chain(text, None, None, more, earliest=node.first_seen, latest=node.last_seen)
