"""From words to meanings: inflection, synonyms, phrasal verbs and opposites."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence

from driftguard_langgraph.judgement import lexicon

PARTICLE_REACH = 4
"""How many words after its verb a particle may stand: "turn the hall lamp off"."""

_SUFFIXES = re.compile(r"(?:(ie)[sd]|(?:(?<=[sxz])|(?<=[cs]h))es|(?<=[^su])s|ing|(?<=[^e])ed)$")


@functools.lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Fold the inflected forms of a lower-case English word: deletes, deleted, deleting."""
    if len(word) < 4:
        return word
    if word.endswith(("ification", "ifications")):
        return word[: word.rindex("ification")] + "ify"
    found = _SUFFIXES.search(word)
    if found is None:
        return word.removesuffix("e")
    base = word[: found.start()]
    if found.group(1):
        return base + "y"
    if len(base) < 3 or not re.search("[aeiouy]", base):
        return word
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
        base = base[:-1]
    return base.removesuffix("e")


def _named(groups: Iterable[str]) -> dict[str, str]:
    table: dict[str, str] = {}
    for group in groups:
        name, *_ = words = group.split()
        for word in words:
            table.setdefault(stem(word), name)
    return table


_MEANING = _named(lexicon.OPERATIONS + lexicon.THINGS)
OPERATIONS = frozenset(group.split()[0] for group in lexicon.OPERATIONS)
"""The meanings that are operations."""


@functools.lru_cache(maxsize=65_536)
def meaning(word: str) -> str:
    """Return what stands for a lower-case word: the name of its group, or its stem."""
    folded = stem(word)
    return _MEANING.get(folded, folded)


CLOSED_CLASSES = tuple(
    frozenset(meaning(word) for word in group.split()) for group in lexicon.CLOSED_CLASSES
)
"""Sets of meanings of which each excludes the others."""


def _phrases() -> dict[tuple[str, str], str]:
    table = {}
    for line in lexicon.PHRASES:
        phrase, _, operation = line.partition(" = ")
        verb, particle = phrase.split()
        table[stem(verb), particle] = operation
    return table


_PHRASES = _phrases()
_PARTICLES = frozenset(particle for _, particle in _PHRASES)
_WHERE = frozenset({"in", "on"})
_DETERMINERS = frozenset(
    "a an the this that these those it its my your our their his her them us me i you we all "
    "any some every each both which what such".split()
)


def meanings(words: Sequence[str]) -> list[str | None]:
    """Return the meaning of each word; None where a particle went into its verb's.

    Args:
        words: Lower-case words of one text, in order.
    """
    found: list[str | None] = [meaning(word) for word in words]
    for place, particle in enumerate(words):
        if particle not in _PARTICLES:
            continue
        apart = _is_particle(words, place)
        for verb in range(place - 1, max(place - 1 - PARTICLE_REACH, -1), -1):
            operation = _PHRASES.get((stem(words[verb]), particle))
            if operation is not None and (apart or verb == place - 1):
                found[verb], found[place] = operation, None
                break
    return found


def _is_particle(words: Sequence[str], place: int) -> bool:
    """Whether a word may belong to a verb some words before it: "turn the lamp on".

    With a noun after it, "in" and "on" say where: "check the weather in Paris".
    """
    if words[place] not in _WHERE:
        return True
    after = words[place + 1] if place + 1 < len(words) else ""
    return not after or (after in lexicon.FUNCTION_WORDS and after not in _DETERMINERS)


def _opposites(pairs: Iterable[str]) -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in pairs:
        left, right = (meaning(word) for word in pair.split("/"))
        table.setdefault(left, set()).add(right)
        table.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in table.items()}


_OPPOSITE = _opposites(lexicon.OPPOSITES)
_PLACE_OPPOSITE = _opposites(lexicon.PLACES)


def opposites_of(word: str) -> frozenset[str]:
    """Return the meanings that are opposite to a meaning, whatever the context."""
    return _OPPOSITE.get(word, frozenset())


def place_opposites_of(word: str) -> frozenset[str]:
    """Return the meanings that are opposite to a meaning as far as places go."""
    return _PLACE_OPPOSITE.get(word, frozenset())
