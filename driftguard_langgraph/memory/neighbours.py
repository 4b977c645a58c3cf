"""Who stands near a step in one graph: the same step, and the others."""

from __future__ import annotations

from dataclasses import dataclass

from driftguard_langgraph.judgement.match import compare
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import Vector, Wording
from driftguard_langgraph.types import Action, Kind, Match, Namespace

WORDINGS_PER_NODE = 8
"""Wordings searched per wanted node, so that the many paraphrases of one node do not take
the places of the others."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One remembered wording with the judgement about it."""

    wording: Wording
    match: Match


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The remembered actions of one kind that are nearest to a step.

    Attributes:
        kind: Mistakes or successes.
        same: The best match of each node that is the same step, best first.
        others: The wordings of all other nodes, nearest first.
    """

    kind: Kind
    same: dict[str, Neighbour]
    others: tuple[Neighbour, ...]


def neighbourhood(
    store: BaseMemoryStore,
    namespace: Namespace,
    kind: Kind,
    action: Action,
    vector: Vector,
    *,
    top_k: int,
    min_similarity: float,
) -> Neighbourhood:
    """Judge the wordings nearest to a step.

    Args:
        store: The memory.
        namespace: Whose memory.
        kind: Mistakes or successes.
        action: The step.
        vector: Embedding of its text.
        top_k: Nodes that may count as the same step.
        min_similarity: Lowest score at which they do.
    """
    same: dict[str, Neighbour] = {}
    judged: list[Neighbour] = []
    for hit in store.search(namespace, kind, "action", vector, top_k * WORDINGS_PER_NODE):
        match = compare(action, hit.action, hit.similarity, min_similarity)
        judged.append(Neighbour(hit, match))
        if match.same and (hit.node not in same or match.score > same[hit.node].match.score):
            same[hit.node] = judged[-1]
    best = sorted(same.items(), key=lambda item: -item[1].match.score)[:top_k]
    others = tuple(n for n in judged if n.wording.node not in same)
    return Neighbourhood(kind, dict(best), others)
