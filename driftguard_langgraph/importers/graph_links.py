"""Which links of a graph say "this action had that feedback", and which "that led to this outcome".

driftguard-ai keeps one node for a text in all its roles, and one link between two texts. So a
text that was an action once and an outcome another time is one node, and releases before 0.2.1
kept only its last role. What the roles leave open, the counts decide: a feedback leads to
outcomes as often as actions had it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from driftguard_langgraph.importers.peer_graph import PeerEdge, PeerGraph

Meaning = Literal["feedback", "outcome"]

ROUNDS = 3
"""How often the links that can have both meanings are gone through."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link in one of its two meanings.

    Attributes:
        source, target: The texts.
        count: How often it was observed in this meaning.
        since: When first; None if that is not told.
    """

    source: str
    target: str
    count: int
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Links:
    """All links by what they mean.

    Attributes:
        feedback: From actions to feedbacks.
        outcome: From feedbacks to outcomes.
    """

    feedback: tuple[Link, ...]
    outcome: tuple[Link, ...]


def split_links(graph: PeerGraph) -> Links:
    """Say of every link what it means; one that has both meanings is split by its counts."""
    meanings = _Meanings(graph)
    tally = _Tally()
    undecided = []
    for edge in graph.edges:
        meaning = meanings.of(edge)
        if meaning is None:
            undecided.append(edge)
        else:
            tally.set(edge, edge.frequency if meaning == "feedback" else 0)
    # What one of them means can depend on another.
    for edge in undecided * ROUNDS:
        tally.set(edge, tally.balanced(edge))
    as_feedback = tally.counts
    return Links(
        tuple(_links((edge, as_feedback[edge]) for edge in graph.edges)),
        tuple(_links((edge, edge.frequency - as_feedback[edge]) for edge in graph.edges)),
    )


def _links(counted: Iterable[tuple[PeerEdge, int]]) -> Iterator[Link]:
    for edge, count in counted:
        if count:
            yield Link(edge.source, edge.target, count, edge.created_at)


class _Tally:
    """How often each link was one to a feedback, and what that makes of each text as a feedback."""

    def __init__(self) -> None:
        self.counts: dict[PeerEdge, int] = {}
        self._led_here = Counter[str]()
        self._led_on = Counter[str]()

    def set(self, edge: PeerEdge, count: int) -> None:
        self._forget(edge)
        self.counts[edge] = count
        self._led_here[edge.target] += count
        self._led_on[edge.source] += edge.frequency - count

    def _forget(self, edge: PeerEdge) -> None:
        if (count := self.counts.pop(edge, None)) is not None:
            self._led_here[edge.target] -= count
            self._led_on[edge.source] -= edge.frequency - count

    def balanced(self, edge: PeerEdge) -> int:
        """Return how often a link led to a feedback, if its source leads on as often as to it."""
        self._forget(edge)
        missing = self._led_here[edge.source] - self._led_on[edge.source]
        if edge.source == edge.target:
            return min(max((edge.frequency - missing + 1) // 2, 0), edge.frequency)
        return edge.frequency - min(max(missing, 0), edge.frequency)


class _Meanings:
    """What each link means, by the roles of its ends and by what else they are linked to."""

    def __init__(self, graph: PeerGraph) -> None:
        self._nodes = graph.nodes
        self._sources = {edge.source for edge in graph.edges}
        self._targets = {edge.target for edge in graph.edges}
        # Only where a text has several roles is it certain that none was lost.
        self._whole = any(len(node.roles) > 1 for node in graph.nodes.values())

    def of(self, edge: PeerEdge) -> Meaning | None:
        """Return the meaning of a link, None if it can have both."""
        source, target = self._nodes[edge.source].roles, self._nodes[edge.target].roles
        # A feedback leads somewhere, and something led to it.
        linked = _one(feedback=edge.target in self._sources, outcome=edge.source in self._targets)
        told = _one(
            feedback="action" in source and "feedback" in target,
            outcome="feedback" in source and "outcome" in target,
        )
        if self._whole:
            return told or linked
        # Either end may have lost its role to a later one; the other end still tells.
        left = _one(
            feedback="action" in source or "feedback" in target,
            outcome="feedback" in source or "outcome" in target,
        )
        both = edge.target in self._sources and edge.source in self._targets
        return None if both else linked or told or left


def _one(*, feedback: bool, outcome: bool) -> Meaning | None:
    """Return the one meaning that is possible, None if both are or none is."""
    if feedback == outcome:
        return None
    return "feedback" if feedback else "outcome"
