"""Judging what a search found: at length only what can still be the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from driftguard_langgraph.judgement.features import features
from driftguard_langgraph.judgement.match import compare
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import Vector, Wording
from driftguard_langgraph.types import Action, Kind, Match, Namespace, NodeType

FAR = 0.25
"""A cosine this far below the threshold is made up for by nothing but the same operation on
the same thing; naming the same operation alone adds .03."""

FAR_COMPARED = 2
"""How many of the far ones a review compares all the same: "clear out /tmp" is at .26 of
"remove the scratch directory". Reading a text that is new to the process costs about 0.1 ms,
so comparing all that a search finds would be most of a review in a memory of other things."""


FIRST_LOOK = 8
"""Wordings asked for at first: most memories hold fewer that are near to any one step."""


def nearest(
    store: BaseMemoryStore,
    shelf: tuple[Namespace, Kind, NodeType],
    vector: Vector,
    limit: int,
    floor: float,
) -> Sequence[Wording]:
    """Return the wordings nearest to a vector: all that matter, and few of the others.

    Args:
        store: The memory.
        shelf: Whose memory, which graph, and which role in it.
        vector: Embedding of a text.
        limit: How many wordings at most.
        floor: Cosine below which it does not matter whether a wording is among them.
    """
    hits = store.search(*shelf, vector, min(limit, FIRST_LOOK))
    if len(hits) == FIRST_LOOK < limit and hits[-1].similarity >= floor:
        return store.search(*shelf, vector, limit)
    return hits


def judged(
    action: Action, hits: Sequence[Wording], threshold: float, far_compared: int = 0
) -> Iterator[Match]:
    """Decide which of the wordings that a search found are the same as a step.

    Args:
        action: The step.
        hits: What the search found, nearest first.
        threshold: Lowest score at which they count as the same.
        far_compared: How many of those that are far from it are compared all the same.

    Yields:
        For each hit what `compare` says, or that it is dissimilar, unread.
    """
    far_left: int | None = None
    for hit in hits:
        similarity = hit.similarity
        if similarity < threshold - FAR and hit.action.text != action.text:
            if far_left is None:
                # Only a text that does something to something has a same one so far from it.
                acts = far_compared > 0 and features(action.text).frame is not None
                far_left = far_compared if acts else 0
            if far_left == 0:
                score = max(similarity, 0.0)
                yield Match(score, same=False, similarity=similarity, kind="dissimilar")
                continue
            far_left -= 1
        yield compare(action, hit.action, similarity, threshold)
