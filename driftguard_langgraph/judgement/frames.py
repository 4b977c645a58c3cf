"""The bones of an instruction: what is done, to what, and under which circumstances.

Two sentences with the same bones say the same, however far apart their embeddings are:
"delete the temp directory", "clear out /tmp", "everything under the tmp folder was removed".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from driftguard_langgraph.judgement.lexicon import FUNCTION_WORDS, NEGATIONS
from driftguard_langgraph.judgement.words import OPERATIONS, meaning

Read = tuple[str, str]
"""A word as written (lower case), and its meaning."""

_GENERIC = frozenset(
    meaning(word) for word in "directory folder file everything all content item space area".split()
)
"""Containers and quantifiers: "the tmp folder", "all of /tmp" and "/tmp" are one thing."""

_AUXILIARIES = frozenset("is are was were be been being got get gets getting".split())
_DETERMINERS = frozenset("a an the this that my your our their its of".split())
_CIRCUMSTANCE = frozenset(
    "before after with without from to into onto in on at by for under over during while when "
    "if because so that which who and then via using until unless since as than through".split()
)
"""Words that end the object of a verb and begin something about the how, when or where."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One clause.

    Attributes:
        operation: What is done.
        head: The last word of what it is done to, which names the kind of thing.
        objects: All words of what it is done to.
        circumstances: All else that is said.
    """

    operation: str
    head: str
    objects: frozenset[str]
    circumstances: frozenset[str]


def frame_of(read: Sequence[Read]) -> Frame | None:
    """Return the first clause of a text, None when it names no operation on anything.

    Args:
        read: Its words, in order.
    """
    for place, (word, sense) in enumerate(read):
        if sense in OPERATIONS and place and read[place - 1][0] in _AUXILIARIES:
            return _frame(sense, _things(read[: place - 1]), read[place + 1 :])
        if sense in OPERATIONS and _commands(read, place, word):
            found, rest = _object_after(read[place + 1 :])
            if not _passive_follows(read[place + 1 :]):
                return _frame(sense, found, rest)
    return None


def _commands(read: Sequence[Read], place: int, word: str) -> bool:
    before = read[place - 1][0] if place else ""
    return before not in _DETERMINERS and not word.endswith(("ing", "ed"))


def _passive_follows(rest: Sequence[Read]) -> bool:
    """Whether what looked like a verb was a noun: "build cache was wiped"."""
    return any(
        word in _AUXILIARIES and place + 1 < len(rest) and rest[place + 1][1] in OPERATIONS
        for place, (word, _) in enumerate(rest)
    )


def _object_after(rest: Sequence[Read]) -> tuple[list[str], Sequence[Read]]:
    found: list[str] = []
    for place, (word, _) in enumerate(rest):
        if word in _CIRCUMSTANCE and any(sense not in _GENERIC for sense in found):
            return found, rest[place:]
        found.extend(_things(rest[place : place + 1]))
    return found, ()


def _things(read: Sequence[Read]) -> list[str]:
    return [
        sense
        for word, sense in read
        if word not in FUNCTION_WORDS and word not in NEGATIONS and word not in _AUXILIARIES
    ]


def _frame(operation: str, things: list[str], rest: Sequence[Read]) -> Frame | None:
    named = [thing for thing in things if thing not in _GENERIC]
    if not named:
        return None
    circumstances = frozenset(_things(rest)) - _GENERIC
    return Frame(operation, named[-1], frozenset(named), circumstances)


def agree(a: Frame | None, b: Frame | None) -> bool:
    """Whether two clauses do the same to the same; one may say more about it."""
    if a is None or b is None or a.operation != b.operation or a.head != b.head:
        return False
    objects = a.objects <= b.objects or b.objects <= a.objects
    return objects and (a.circumstances <= b.circumstances or b.circumstances <= a.circumstances)
