"""Sentences and clauses: where they stand, and what of them is norm, negation and content.

One pass over the text. A clause is the reach of a negation: "validation is not optional, but
the logo is" has two, and each says something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from driftguard_langgraph.drift.reading.languages import translated
from driftguard_langgraph.drift.reading.norms import (
    CLASS_OF,
    CONTROLS,
    FUNCTION,
    NEGATIONS,
    PHRASE_OPENERS,
    PHRASES,
    UNDONE,
    fold,
)
from driftguard_langgraph.judgement.words import OPERATIONS, meaning, stem

MAX_TOKENS = 120
"""Tokens of one sentence that are read: longer runs are data, not sentences."""

_TOKEN = re.compile(
    r"[$€£¥]?\d+(?:[.,:]\d+)*%?|[^\W\d_]+(?:['’][^\W\d_]{1,3}\b)?|_\w+|[,;:()\"“”。，；：、—?]"
)
_NOT = re.compile(r"(?:n['’]t|n['’]t)$")
_CONTRACTED = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
_STOPS = frozenset(";:()。；：—")
_COMMAS = frozenset(",，、")
_BREAKS = _STOPS | _COMMAS
_UNSPOKEN = frozenset('"“”?,，、')
_CLAUSAL = frozenset("but so yet while because since although whereas".split())
"""Joints that always open a clause; "and" and "or" mostly join two things."""
_ACTING = frozenset({"waive", "need", "must", "forbid"})
"""Classes of words that show that a clause says something of its own."""
_REACH = 6
"""Words after a comma or joint among which its clause must say so."""
_JOINTS = frozenset("and but so or because since although while whereas yet".split())
_SUBORDINATE = frozenset(
    "if when whenever whether unless until once where provided why how".split()
)
_VERBAL = frozenset(
    "is are was were be can could may might must shall should will would has have had do does did "
    "not never don let lets please i we you they it".split()
)
_LACKING = _VERBAL - frozenset("please i we you let lets".split())
"""First words of a clause that lacks a subject of its own."""
_ONE_TIME = frozenset("this just only at".split())
_DETERMINERS = frozenset("the a an it them any all every this that your my our".split())
FIRST_PERSON = frozenset("i we our my us let lets me".split())
"""Words of a speaker who speaks of himself."""
_LABELLING = frozenset("a an just merely mere only simply as now".split())
_SPOKEN = frozenset({"", "drop", "forbid"})
"""Classes of words that are also what a rule is about."""
_FINITE = frozenset("is are was were will would can could may might has have".split())
_PREPOSITIONS = frozenset("including regarding according during following concerning".split())
_SUBJECTS = frozenset("you he she they it this that the your there".split())
_PRONOUNS = frozenset("it they them this that these those which".split())


_LONGEST = max(len(rest) for found in PHRASES.values() for rest, _ in found)
"""Words of the longest fixed phrase, behind its first."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its words, and what they do.

    Attributes:
        words: Its lower-case words and numbers, contractions taken apart, fixed phrases as one.
        folded: The same words, each folded.
        classes: What each does (`norms.CLASS_OF`), the empty string for most.
        content: Folded words that say what it is about.
        context: Content of the clause before, which a pronoun or a missing subject refers to.
        negations: How many words turn it.
        condition: Whether it only says when or whether (`if ...`, `unless ...`).
        opening: The word that joins it to the clause before, or the empty string.
        leads: Whether it is the first of its sentence.
        first_person: Whether the speaker speaks of what he does himself.
    """

    words: tuple[str, ...]
    folded: tuple[str, ...]
    classes: tuple[str, ...]
    content: frozenset[str]
    context: frozenset[str]
    negations: int
    condition: bool
    opening: str
    leads: bool
    first_person: bool

    @property
    def about(self) -> frozenset[str]:
        """What it is about, with what it refers back to."""
        return self.content | self.context

    def has(self, *names: str) -> bool:
        """Whether a word of one of these classes is in it."""
        return any(name in names for name in self.classes)

    def count(self, *names: str) -> int:
        """How many words of these classes are in it."""
        return sum(name in names for name in self.classes)


def tokens(text: str, language: str | None = None) -> list[str]:
    """Return the lower-case words, numbers and breaks of a sentence, contractions taken apart.

    Args:
        text: The sentence.
        language: What `languages.language_of` returned for the text that it stands in.
    """
    found: list[str] = []
    for token in _TOKEN.findall(
        translated(text.lower(), language).replace("-", " ").replace("’", "'")
    ):
        if _NOT.search(token):
            found += [_CONTRACTED.get(token, token[:-3]), "not"]
        elif token == "cannot":
            found += ["can", "not"]
        elif "'" in token:
            found.append(token.partition("'")[0])
        else:
            found.append(token)
        if len(found) >= MAX_TOKENS:
            break
    return _joined(_unlabelled(found))


def _unlabelled(words: list[str]) -> list[str]:
    """Leave out a colon before a number: "maximum load: 85%" is one statement."""
    if ":" not in words:
        return words
    following = (*words[1:], "")
    return [
        word
        for word, after in zip(words, following, strict=True)
        if word != ":" or not any(map(str.isdigit, after[:2]))
    ]


def _joined(words: list[str]) -> list[str]:
    """Replace fixed phrases by the word that stands for them."""
    found: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        phrases = PHRASES.get(stem(word), ()) if word in PHRASE_OPENERS else ()
        following = tuple(map(stem, words[place + 1 : place + 1 + _LONGEST])) if phrases else ()
        for rest, one in phrases:
            if following[: len(rest)] == rest:
                found.append(one)
                place += 1 + len(rest)
                break
        else:
            found.append(word)
            place += 1
    return found


def clauses(words: Sequence[str]) -> list[Clause]:
    """Return the clauses of a sentence.

    Args:
        words: What `tokens` returned for it.
    """
    found: list[Clause] = []
    for opening, part in _parts(words):
        found.append(_clause(opening, part, found[-1] if found else None))
    return found


def _parts(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    part: list[str] = []
    opening = ""
    for place, word in enumerate(words):
        joint = word in _JOINTS
        if word in _STOPS or ((joint or word in _COMMAS) and _splits(words, place, part, opening)):
            if part:
                yield opening, part
                part, opening = [], ""
            opening = word if joint else opening
        elif word in _SUBORDINATE and not (word == "once" and words[place - 1] in _ONE_TIME):
            if part:
                yield opening, part
            part, opening = [], word
        elif word not in _UNSPOKEN:
            part.append(word)
    if part:
        yield opening, part


def _splits(words: Sequence[str], place: int, part: Sequence[str], opening: str) -> bool:
    """Whether a comma or joint opens a clause; "encryption, logs and backups" is one thing."""
    if words[place] in _CLAUSAL or not part or opening in _SUBORDINATE:
        return True
    following = words[place + 1 : place + 1 + _REACH]
    ends = next((i for i, word in enumerate(following) if word in _BREAKS), len(following))
    following = following[:ends]
    if words[place] in _COMMAS:
        return any(map(_acts, following))
    if following[:1] and _acts(following[0]):
        return True
    if following[1:2] and following[1] in _DETERMINERS and meaning(following[0]) in OPERATIONS:
        return True
    return any(map(_acts, following[:4])) and any(map(_acts, part))


def _acts(word: str) -> bool:
    return word in _VERBAL or CLASS_OF.get(fold(word), "") in _ACTING


def _kinds(words: Sequence[str], folded: Sequence[str]) -> Iterator[str]:
    for place, (word, one) in enumerate(zip(words, folded, strict=True)):
        kind = CLASS_OF.get(one, "")
        if kind == "label":
            # "Follow the guidelines" is no label, "merely a guideline" is.
            kind = "option" if _LABELLING.intersection(words[max(0, place - 2) : place]) else ""
        elif word == "may" and words[place + 1 : place + 2] and words[place + 1][0].isdigit():
            kind = ""  # the month
        elif word in {"recommend", "recommends", "means"}:
            kind = ""
        yield kind


def _negations(words: Sequence[str], folded: Sequence[str]) -> int:
    if NEGATIONS.isdisjoint(words) and UNDONE.isdisjoint(folded):
        return 0
    return sum(word in NEGATIONS for word in words) + sum(word in UNDONE for word in folded)


def _speaks_of_self(opening: str, words: Sequence[str], before: Clause | None) -> bool:
    if not FIRST_PERSON.isdisjoint(words):
        return True
    if before is None:
        # "Skipping the review now" has no subject but the speaker.
        gerund = words[0].endswith("ing") and len(words[0]) > 5
        return gerund and _FINITE.isdisjoint(words) and words[0] not in _PREPOSITIONS
    return before.first_person and opening in {"and", "so"} and words[0] not in _SUBJECTS


def _clause(opening: str, words: Sequence[str], before: Clause | None) -> Clause:
    folded = tuple(map(fold, words))
    kinds = tuple(_kinds(words, folded))
    content = frozenset(
        one
        for word, one, kind in zip(words, folded, kinds, strict=True)
        if (kind in _SPOKEN or one in CONTROLS) and word not in FUNCTION and word not in NEGATIONS
    )
    refers = (
        not content
        or not _PRONOUNS.isdisjoint(words[:4])
        or (bool(opening) and bool(kinds) and (bool(kinds[0]) or words[0] in _LACKING))
    )
    return Clause(
        words=tuple(words),
        folded=folded,
        classes=kinds,
        content=content,
        context=before.content if refers and before is not None else frozenset(),
        negations=_negations(words, folded),
        condition=opening in _SUBORDINATE,
        opening=opening,
        leads=before is None,
        first_person=_speaks_of_self(opening, words, before),
    )
