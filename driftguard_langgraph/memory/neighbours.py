"""Who stands near a step in one graph: the same step, and the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from driftguard_langgraph.judgement.hearing import Hearing
from driftguard_langgraph.memory.candidates import FAR, FAR_COMPARED, judged, nearest
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import Vector, Wording
from driftguard_langgraph.types import Action, Kind, Match, Namespace

WORDINGS_PER_NODE = 8
"""Wordings searched per wanted node, so that the many paraphrases of one node do not take
the places of the others."""


REMEDY_SIMILARITY = 0.25
"""Lowest cosine at which what succeeded next counts as the cure of what failed: unrelated
texts have about .1 with the default model, and 2% of them .6 or more."""


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
    hearing: Hearing | None = None,
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
        hearing: Where undecided ones are put to the judge, if there is one.
    """
    floor = min(min_similarity - FAR, REMEDY_SIMILARITY)
    hits = nearest(store, (namespace, kind, "action"), vector, top_k * WORDINGS_PER_NODE, floor)
    near: Sequence[Neighbour] = [
        Neighbour(hit, match)
        for hit, match in zip(hits, judged(action, hits, min_similarity, FAR_COMPARED), strict=True)
    ]
    if hearing is not None:
        near = _heard(action, near, hearing)
    same = _best(neighbour for neighbour in near if neighbour.match.same)
    best = sorted(same.items(), key=lambda item: -item[1].match.score)[:top_k]
    others = tuple(n for n in near if n.wording.node not in same)
    return Neighbourhood(kind, dict(best), others)


def _best(near: Iterable[Neighbour]) -> dict[str, Neighbour]:
    """Return the best match of each node; of equal ones, the nearest."""
    best: dict[str, Neighbour] = {}
    for neighbour in near:
        node = neighbour.wording.node
        if node not in best or neighbour.match.score > best[node].match.score:
            best[node] = neighbour
    return best


def _heard(action: Action, near: Sequence[Neighbour], hearing: Hearing) -> list[Neighbour]:
    """Let the judge decide about nodes whose best match is undecided, the best ones first.

    A node is one step in several wordings, so what is said of its best wording holds for all
    of them that match.
    """
    verdicts: dict[str, tuple[Neighbour, bool]] = {}
    for best in sorted(_best(near).values(), key=lambda found: -found.match.score):
        same = hearing.verdict(action, best.wording.action, best.match)
        if same is not None:
            verdicts[best.wording.node] = best, same

    def heard(neighbour: Neighbour) -> Neighbour:
        if neighbour.wording.node not in verdicts:
            return neighbour
        asked, same = verdicts[neighbour.wording.node]
        if neighbour is not asked and not neighbour.match.same:
            return neighbour
        return replace(neighbour, match=hearing.ruled(neighbour.match, same=same))

    return [heard(neighbour) for neighbour in near]
