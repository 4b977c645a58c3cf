"""Differences that similarity cannot see: each check names one, or finds nothing.

All are pure and linear in the number of words. A *hard* difference makes two texts two
steps, however alike they sound; a *soft* one only lowers the score.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from driftguard_langgraph.judgement.features import Features
from driftguard_langgraph.judgement.frames import agree
from driftguard_langgraph.judgement.lexicon import ALTERING, OBSERVING
from driftguard_langgraph.judgement.literal import exchanged, other_verb
from driftguard_langgraph.judgement.words import (
    CLOSED_CLASSES,
    OPERATIONS,
    meaning,
    opposites_of,
    place_opposites_of,
    stem,
)
from driftguard_langgraph.types import MatchKind

_ROLE_WORDS = frozenset(
    meaning(word) for word in "from to into onto in on before after than with over for".split()
)
_LOOKS = meaning("show")
_KEEP = meaning("keep")
_OBSERVING = frozenset(map(stem, OBSERVING))
_ENVIRONMENTS = frozenset(meaning(word) for word in "production staging development test".split())

_EDGES = re.compile(r"^[^\w$~]+|[^\w$]+$")

_SIZE = re.compile(r"^(\d+(?:\.\d+)?)([kmgt])i?b?$", re.IGNORECASE)

SHORT_TEXT = 8
"""Up to this many content words a negation anywhere turns the step; in a longer text it
does so only before the operation, else it restricts some detail."""

SAME_STATEMENT = 0.5
"""A negation turns a statement only if the rest of it is shared; below this share of common
content it restricts some detail that the other text words differently."""

PENALTY_OTHER_THING = 0.3
PENALTY_OTHER_OBJECT = 0.05
PENALTY_OTHER_OPERATION = 0.04
PENALTY_LOOSE_NEGATION = 0.10
PENALTY_ADDED = 0.02
"""What soft differences take off a cosine score; fitted on labelled pairs of agent steps."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that tells two texts apart.

    Attributes:
        kind: What sort of difference it is.
        words: The two sides, for people: `"staging / production"`.
        penalty: What it takes off the score; None for a hard difference.
    """

    kind: MatchKind
    words: str
    penalty: float | None = None


def differences(a: Features, b: Features) -> tuple[Difference, ...]:
    """Return everything that tells two texts apart."""
    found = (
        *_turns(a, b),
        *_values(a, b),
        *_members(a, b),
        *_names(a, b),
        *_order(a, b),
        *_mood(a, b),
        *_looking(a, b),
    )
    return found or tuple(_substitution(a, b))


def same_bones(a: Features, b: Features) -> bool:
    """Whether two texts do the same to the same thing, named as exactly in both."""
    if a.asks or b.asks or (a.frame and a.frame.operation == _LOOKS):
        return False
    named = all(_known(name, b) for name in a.names) and all(_known(name, a) for name in b.names)
    return named and a.numbers == b.numbers and agree(a.frame, b.frame)


def _only(a: Features, b: Features) -> tuple[set[str], set[str]]:
    return set(a.meanings) - set(b.meanings), set(b.meanings) - set(a.meanings)


def _turns(a: Features, b: Features) -> Iterator[Difference]:
    opposed = [*_opposed(a, b), *_opposed_places(a, b)]
    negated = a.negations % 2 != b.negations % 2
    # "do not keep it" is "delete it", but "do not close it" is not "open it".
    if negated and len(opposed) == 1 and _KEEP in opposed[0]:
        return
    if negated:
        long = max(len(a.content), len(b.content)) > SHORT_TEXT
        inner = long and a.negates_operation == b.negates_operation
        loose = inner or _shared(a, b) < SAME_STATEMENT
        penalty = PENALTY_LOOSE_NEGATION if loose else None
        yield Difference("different_polarity", "affirmed / negated", penalty)
    for left, right in opposed:
        place = {left, right} <= _ENVIRONMENTS
        words = f"{a.shown[left]} / {b.shown[right]}"
        yield Difference("different_target" if place else "different_direction", words)


def _shared(a: Features, b: Features) -> float:
    """Return the share of the shorter text's content that the other has, 0..1."""
    set_a, set_b = set(a.content), set(b.content)
    shorter = min(len(set_a), len(set_b))
    return len(set_a & set_b) / shorter if shorter else 1.0


def _opposed(a: Features, b: Features) -> Iterator[tuple[str, str]]:
    only_a, only_b = _only(a, b)
    for left in sorted(only_a):
        for right in sorted(opposites_of(left) & only_b):
            yield left, right


def _opposed_places(a: Features, b: Features) -> Iterator[tuple[str, str]]:
    """Yield places that are opposed in texts that differ in nothing else."""
    only_a, only_b = _only(a, b)
    content_a, content_b = set(a.content), set(b.content)
    for left in sorted(only_a):
        for right in sorted(place_opposites_of(left) & only_b):
            if content_a - {left} == content_b - {right}:
                yield left, right


def _members(a: Features, b: Features) -> Iterator[Difference]:
    """Members of a closed class that exclude each other: weekdays, months, currencies."""
    only_a, only_b = _only(a, b)
    for members in CLOSED_CLASSES:
        left, right = only_a & members, only_b & members
        if left and right:
            words = f"{_said(a, left)} / {_said(b, right)}"
            yield Difference("different_value", words)


def _values(a: Features, b: Features) -> Iterator[Difference]:
    only_a, only_b = _without(a.numbers, b.numbers), _without(b.numbers, a.numbers)
    if only_a and only_b:
        yield Difference("different_value", f"{', '.join(only_a)} / {', '.join(only_b)}")


def _without(values: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    left = list(values)
    for other in others:
        if other in left:
            left.remove(other)
    return left


def _names(a: Features, b: Features) -> Iterator[Difference]:
    for left, right in ((a.names, b.names), (a.labels, b.labels)):
        only_a = [name for name in sorted(left - right) if not _known(name, b)]
        only_b = [name for name in sorted(right - left) if not _known(name, a)]
        if only_a and only_b:
            words = f"{', '.join(only_a[:3])} / {', '.join(only_b[:3])}"
            yield Difference("different_target", words)


def _known(name: str, text: Features) -> bool:
    """Whether a text names the same thing in a fuller or barer form: `*.log`, `.log`, `log`."""
    core = _core(name)
    if not core or meaning(core) in text.meanings:
        return True
    others = [_core(other) for other in (*text.names, *text.labels)]
    return any(
        core == other or other.endswith("/" + core) or core.endswith("/" + other)
        for other in others
        if other
    )


@functools.lru_cache(maxsize=8192)
def _core(name: str) -> str:
    """Fold what does not change which thing is named.

    Flags keep their case and so do paths, where it matters. Sizes lose the spelling of their
    unit (10MB, 10M, 10mb), other names their plural (MP3s).
    """
    bare = _EDGES.sub("", name)
    if name.startswith("-") or "/" in bare:
        return bare
    size = _SIZE.match(bare)
    if size:
        return size.group(1) + size.group(2).lower()
    return bare.lower().removesuffix("s")


def _order(a: Features, b: Features) -> Iterator[Difference]:
    """The same things in exchanged roles: from A to B, B before A, `mv a b`."""
    if exchanged(a, b):
        yield Difference("different_order", f"{a.canonical} / {b.canonical}")
        return
    if len(a.content) != len(b.content) or sorted(a.content) != sorted(b.content):
        return
    roles_a, roles_b = _roles(a), _roles(b)
    if roles_a.keys() != roles_b.keys():
        return
    for word in sorted(roles_a):
        left, right = roles_a[word], roles_b[word]
        if left and right and left.isdisjoint(right):
            shown = [
                f"{text.shown[word]} {' '.join(sorted(side))}"
                for text, side in ((a, left), (b, right))
            ]
            yield Difference("different_order", " / ".join(shown))


def _roles(text: Features) -> dict[str, set[str]]:
    """Map each preposition to the content words that it governs."""
    roles: dict[str, set[str]] = {}
    governor = ""
    content = set(text.content)
    for word in text.meanings:
        if word in _ROLE_WORDS:
            governor = word
            roles.setdefault(governor, set())
        elif governor and word in content:
            roles[governor].add(word)
    return roles


def _mood(a: Features, b: Features) -> Iterator[Difference]:
    for question, order in ((a, b), (b, a)):
        operation = order.operation
        if question.asks and not order.asks and operation and operation != _LOOKS:
            yield Difference("different_mood", "question / instruction")


def _looking(a: Features, b: Features) -> Iterator[Difference]:
    """One only looks at what the other changes."""
    verbs = other_verb(a, b)
    if verbs is not None:
        yield Difference("different_direction", " / ".join(verbs))
        return
    for looks, acts in ((a, b), (b, a)):
        if stem(looks.shown.get(_done(looks), "")) not in _OBSERVING or _done(acts) not in ALTERING:
            continue
        # "check the logs and restart it" changes something, "retry the search" only looks.
        if ALTERING.isdisjoint(looks.content) and _LOOKS not in acts.content:
            words = f"{a.shown[_done(a)]} / {b.shown[_done(b)]}"
            yield Difference("different_direction", words)


def _done(text: Features) -> str:
    """Return what a text says is done, by its first clause, else by its first operation."""
    return text.frame.operation if text.frame else text.operation or ""


def _substitution(a: Features, b: Features) -> Iterator[Difference]:
    """One thing named in place of another, in an otherwise shared sentence."""
    set_a, set_b = set(a.content), set(b.content)
    only_a, only_b = set_a - set_b, set_b - set_a
    shared = _shared(a, b)
    things_a, things_b = only_a - OPERATIONS, only_b - OPERATIONS
    if a.operation != b.operation and a.operation and b.operation:
        words = f"{a.shown[a.operation]} / {b.shown[b.operation]}"
        yield Difference("different_direction", words, PENALTY_OTHER_OPERATION)
    if _other_objects(a, b):
        yield Difference("different_target", "another object", PENALTY_OTHER_OBJECT)
    if things_a and things_b and len(things_a) <= 2 and len(things_b) <= 2:
        words = f"{_said(a, things_a)} / {_said(b, things_b)}"
        yield Difference("different_target", words, PENALTY_OTHER_THING * shared)
    elif things_a or things_b:
        added = len(things_a | things_b)
        words = f"{_said(a, things_a) or '-'} / {_said(b, things_b) or '-'}"
        yield Difference("different_target", words, PENALTY_ADDED * min(added, 3) * shared)


def _other_objects(a: Features, b: Features) -> bool:
    """Whether the same is done to things that have no word in common."""
    if a.frame is None or b.frame is None or a.frame.operation != b.frame.operation:
        return False
    return a.frame.objects.isdisjoint(b.frame.objects)


def _said(text: Features, senses: set[str]) -> str:
    return " ".join(sorted(text.shown[sense] for sense in senses))
