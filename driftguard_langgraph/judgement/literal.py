"""Differences that show in the very words of two texts, place by place."""

from __future__ import annotations

from driftguard_langgraph.judgement.features import Features
from driftguard_langgraph.judgement.lexicon import ALTERING, FUNCTION_WORDS, NEGATIONS
from driftguard_langgraph.judgement.quantities import NUMBER_WORDS
from driftguard_langgraph.judgement.words import OPERATIONS, meaning

_LISTING = frozenset("and or , ; & | with between".split())
"""Words and marks among which the order of names does not matter."""


def exchanged(a: Features, b: Features) -> bool:
    """Whether all words are the same but names or quantities stand in each other's place.

    Args:
        a: One text.
        b: The other.
    """
    left, right = a.canonical.split(), b.canonical.split()
    if left == right or sorted(left) != sorted(right) or not _LISTING.isdisjoint(left):
        return False
    fixed = {*a.content, *a.meanings}
    moved = {x for x, y in zip(left, right, strict=True) if x != y}
    return all(meaning(word) not in fixed or word in NUMBER_WORDS for word in moved)


def other_verb(a: Features, b: Features) -> tuple[str, str] | None:
    """Return the verbs of two commands of one tool of which one changes what it is used on.

    `kubectl get pods` is no `kubectl delete pods`, though all else is the same. None if they are
    no such commands.

    Args:
        a: One text.
        b: The other.
    """
    left, right = a.canonical.split()[:2], b.canonical.split()[:2]
    if len(left) < 2 or len(right) < 2 or left[0] != right[0] or not _is_tool(left[0]):
        return None
    verbs = meaning(left[1]), meaning(right[1])
    if verbs[0] == verbs[1] or ALTERING.isdisjoint(verbs):
        return None
    return (left[1], right[1]) if left[1].isalpha() and right[1].isalpha() else None


def _is_tool(word: str) -> bool:
    return word not in FUNCTION_WORDS and word not in NEGATIONS and meaning(word) not in OPERATIONS
