"""What a text says, taken apart: the parts that similarity cannot tell from each other."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from driftguard_langgraph.judgement.frames import Frame, frame_of
from driftguard_langgraph.judgement.lexicon import (
    ENDINGS,
    FUNCTION_WORDS,
    KNOWN_PATHS,
    NEGATIONS,
    QUESTION_OPENERS,
)
from driftguard_langgraph.judgement.quantities import NUMBER_WORDS, quantities
from driftguard_langgraph.judgement.words import OPERATIONS, meanings, stem

_TOKEN = re.compile(
    r"""
    \s*+(?:
    (?P<plain>[a-z]++(?![\w'’/@:\#-]|\.\w))
  | (?P<mark>[,;:!?()\[\]{}|=&+*<>])
  | (?P<quoted>"[^"\n]{1,200}" | `[^`\n]{1,200}` | (?<!\w)'[^'\n]{1,200}'(?!\w))
  | (?P<compound>(?<![\w./-])[^\W\d_]++(?:[-/][^\W\d_]++)++(?![\w/-]|\.\w))
  | (?P<path>(?<![\w.])(?:~|\.{1,2})?/[^\s"'`,;()<>|]* | (?!\d+/\d+(?![\w/]))\w+(?:/[\w.*-]+)+)
  | (?P<flag>(?<!\S)--?[A-Za-z][\w-]*)
  | (?P<number>(?<![\w.])[$€£]?\d+(?:[.,/]\d+)*(?:st|nd|rd|th)?%?(?![\w]))
  | (?P<name>[A-Za-z0-9]+(?:[_.@:\#-]+[A-Za-z0-9]+)+ | \w*\d\w* | [^\W\d]+_\w*)
  | (?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)
  | (?P<symbol>[^\w\s]))
    """,
    re.VERBOSE,
)

_SQL = re.compile(
    r"^\s*(?:select\b(?!.*\bthe\b).*\bfrom\s+(?!(?:an?|this|that|my|our)\b)|delete\s+from\s+\w"
    r"|insert\s+into\s+\w|update\s+\S+\s+set\s|with\s+\w+\s+as\s*\()",
    re.IGNORECASE | re.DOTALL,
)
_CODE_MARK = re.compile(r"[|;{}<>$=\\&]|(?:^|\s)-{1,2}\w|\w\(|\)\.")
_BEFORE_OPENER = frozenset("in on at from to for by with and so".split())
_WORDS = ("plain", "word")
LATIN_END = "\u0250"
"""The first character after the Latin letters of Unicode."""
_PREFIXES = ("re-", "un-", "sub-", "pre-", "non-", "de-", "dis-")
"""Prefixes that are written with and without a hyphen."""
_PROSE_WORDS = frozenset("the a an of is are and that with all this to which for".split())
_ASSIGNED = re.compile(
    r"(?:\b(?:set|use|with|pass)\s+)?(?<![\w-])([A-Za-z_]{3,40})\s?=\s?(true|false|on|off|yes|no)\b",
    re.IGNORECASE,
)
"""A switch in code: `verify=False` is what prose calls "disable verification"."""
_SWITCHED_ON = frozenset({"true", "on", "yes"})
_REQUEST = re.compile(
    r"^\s*(?:(?:can|could|would|will) you|please|let'?s|i want to|try to)\s+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Features:
    """One text, taken apart.

    Attributes:
        canonical: The text with case and spacing folded where they carry no meaning.
        meanings: Meanings of its words (see `words.meanings`), in order.
        shown: The word as written for each meaning.
        content: The meanings that say what the step is about.
        negations: How many words turn the meaning.
        negates_operation: Whether one of them stands before the first operation.
        numbers: Its quantities, digits and words alike, sorted.
        names: Identifiers, paths, flags and quoted strings, exact.
        labels: Hyphenated words, which may be names or not ("fix-login", "read-only").
        frame: Its first clause, if it does something to something.
        asks: Whether it is a question rather than an instruction.
        is_code: Whether it is code, where every token counts.
        is_legible: Whether it has words in a script that the words and, by default, the
            embedding know; all others look alike to them.
    """

    canonical: str
    meanings: tuple[str, ...]
    shown: Mapping[str, str]
    content: tuple[str, ...]
    negations: int
    negates_operation: bool
    numbers: tuple[str, ...]
    names: frozenset[str]
    labels: frozenset[str]
    frame: Frame | None
    asks: bool
    is_code: bool
    is_legible: bool

    @property
    def things(self) -> frozenset[str]:
        """Everything it speaks about: content, names and quantities."""
        return frozenset((*self.content, *self.names, *self.labels, *self.numbers))

    @property
    def operation(self) -> str | None:
        """The first operation it names, None if it names none."""
        return next((word for word in self.content if word in OPERATIONS), None)


@functools.lru_cache(maxsize=8192)
def features(text: str) -> Features:
    """Take a text apart, in one pass over it.

    Args:
        text: As written.
    """
    parts = _Parts()
    tokens = list(_TOKEN.finditer(_ASSIGNED.sub(_said_switch, text) if "=" in text else text))
    for place, found in enumerate(tokens):
        kind = str(found.lastgroup)
        if kind == "plain":
            parts.add_word(found["plain"])
        elif kind == "mark":
            parts.folded.append(found["mark"])
        else:
            following = tokens[place + 1].lastgroup if place + 1 < len(tokens) else None
            parts.add(found[kind], _kind_of(found[kind], kind, following))
    words = parts.words
    endings = _endings(words)
    senses = meanings(words)
    read = [
        (word, sense)
        for place, (word, sense) in enumerate(zip(words, senses, strict=True))
        if sense and place not in endings
    ]
    return Features(
        canonical=" ".join(parts.folded),
        meanings=tuple(sense for _, sense in read),
        shown={sense: word for word, sense in reversed(read)},
        content=tuple(sense for word, sense in read if _is_content(word, sense)),
        negations=len(endings) + sum(word in NEGATIONS for word in words),
        negates_operation=bool(endings) or _negates_operation(read),
        numbers=quantities(parts.counted),
        names=frozenset(parts.names),
        labels=frozenset(parts.labels),
        frame=frame_of(read),
        asks=_asks(text, words),
        is_code=_is_code(text, words),
        is_legible=_is_legible(text, words),
    )


@dataclass(slots=True)
class _Parts:
    """What the tokens of a text come to, while it is read."""

    words: list[str] = field(default_factory=list)
    folded: list[str] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)

    def add_word(self, word: str) -> None:
        """Take in a plain word, which is what most tokens are."""
        self.words.append(word)
        self.folded.append(word)
        self.counted.append(word)

    def add(self, token: str, kind: str) -> None:
        """Take in one token."""
        name = _fold(token, kind)
        self.folded.append(name)
        if kind == "number":
            self.counted.append(token)
        elif kind == "label":
            self.labels.add("-".join(stem(part) for part in token.lower().split("-")))
        elif kind in ("word", "compound"):
            split = _split_word(token.lower().replace("’", "'"))
            self.words.extend(split)
            self.counted.extend(split)
        elif name in KNOWN_PATHS:
            self.words.append(KNOWN_PATHS[name])
        elif kind != "symbol":
            self.names.add(name)


def _endings(words: list[str]) -> frozenset[int]:
    """Return where a verb negates the gerund after it: "stop deleting"."""
    if ENDINGS.isdisjoint(words):
        return frozenset()
    return frozenset(
        place
        for place, word in enumerate(words[:-1])
        if word in ENDINGS and words[place + 1].endswith("ing")
    )


def _said_switch(found: re.Match[str]) -> str:
    verb = "enable" if found.group(2).lower() in _SWITCHED_ON else "disable"
    return f" {verb} {found.group(1)} "


def _negates_operation(read: list[tuple[str, str]]) -> bool:
    for word, sense in read:
        if word in NEGATIONS:
            return True
        if sense in OPERATIONS:
            return False
    return False


def _is_content(word: str, sense: str) -> bool:
    if sense in OPERATIONS:
        return True
    return not (word in FUNCTION_WORDS or word in NEGATIONS or word in NUMBER_WORDS)


def _kind_of(token: str, kind: str, following: str | None) -> str:
    if kind == "compound":
        joined = "/" in token or token.lower().startswith(_PREFIXES)
        return "compound" if joined else "label"
    if kind != "word":
        return kind
    if len(token) == 1:
        return "name" if token.isupper() and token != "I" and following not in _WORDS else "word"
    camel = token[1:] != token[1:].lower() and not token.isupper()
    return "name" if camel and "'" not in token else "word"


def _fold(token: str, kind: str) -> str:
    if kind in ("word", "compound", "label"):
        return token.lower()
    if kind == "quoted":
        return token[1:-1].strip()
    return (token.rstrip("/.") or token) if kind == "path" else token


def _split_word(word: str) -> tuple[str, ...]:
    if "/" in word:
        return tuple(word.split("/"))
    if word.endswith("n't"):
        return (word[:-3], "not")
    return (word.partition("'")[0].replace("-", ""),)


def _asks(text: str, words: list[str]) -> bool:
    if _REQUEST.match(text):
        return False
    opener = words[1] if len(words) > 1 and words[0] in _BEFORE_OPENER else "".join(words[:1])
    return opener in QUESTION_OPENERS or text.rstrip().endswith("?")


def _is_legible(text: str, words: list[str]) -> bool:
    if text.isascii():
        return any(len(word) > 1 for word in words) or any(map(str.isdigit, text))
    letters = sum(map(str.isalpha, text))
    latin = sum(char.isalpha() and char < LATIN_END for char in text)
    return letters > 0 and 2 * latin >= letters


def _is_code(text: str, words: list[str]) -> bool:
    if _SQL.match(text):
        return True
    return _PROSE_WORDS.isdisjoint(words) and bool(_CODE_MARK.search(text))
