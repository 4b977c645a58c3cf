"""What a text says, taken apart: the parts that similarity cannot tell from each other."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from driftguard_langgraph.judgement.lexicon import FUNCTION_WORDS, NEGATIONS, QUESTION_OPENERS
from driftguard_langgraph.judgement.quantities import NUMBER_WORDS, quantities
from driftguard_langgraph.judgement.words import OPERATIONS, meanings

_TOKEN = re.compile(
    r"""
    (?P<quoted>"[^"\n]{1,200}" | `[^`\n]{1,200}` | (?<!\w)'[^'\n]{1,200}'(?!\w))
  | (?P<path>(?<![\w.])(?:~|\.{1,2})?/[^\s"'`,;()<>|]* | (?!\d+/\d+(?![\w/]))\w+(?:/[\w.*-]+)+)
  | (?P<flag>(?<!\S)--?[A-Za-z][\w-]*)
  | (?P<number>(?<![\w.])[$€£]?\d+(?:[.,/]\d+)*(?:st|nd|rd|th)?%?(?![\w]))
  | (?P<name>[A-Za-z0-9]+(?:[_.@:\#-]+[A-Za-z0-9]+)+ | \w*\d\w* | [^\W\d]+_\w*)
  | (?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)
  | (?P<symbol>[^\w\s])
    """,
    re.VERBOSE,
)

_SQL = re.compile(
    r"^\s*(?:select|insert|update|delete|with)\b.*\b(?:from|into|set|as)\b",
    re.IGNORECASE | re.DOTALL,
)
_CODE_MARK = re.compile(r"[|;{}<>$=\\&]|(?:^|\s)-{1,2}\w|\w\(|\)\.")
_PROSE_WORDS = frozenset("the a an of is are and that with all this to which for".split())
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
        asks: Whether it is a question rather than an instruction.
        is_code: Whether it is code, where every token counts.
    """

    canonical: str
    meanings: tuple[str, ...]
    shown: Mapping[str, str]
    content: tuple[str, ...]
    negations: int
    negates_operation: bool
    numbers: tuple[str, ...]
    names: frozenset[str]
    asks: bool
    is_code: bool

    @property
    def things(self) -> frozenset[str]:
        """Everything it speaks about: content, names and quantities."""
        return frozenset((*self.content, *self.names, *self.numbers))

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
    words: list[str] = []
    folded: list[str] = []
    counted: list[str] = []
    names: set[str] = set()
    tokens = list(_TOKEN.finditer(text))
    for place, found in enumerate(tokens):
        following = tokens[place + 1].lastgroup if place + 1 < len(tokens) else None
        kind, token = _kind_of(found, following), found.group()
        folded.append(_fold(token, kind))
        if kind == "word":
            split = _split_contraction(token.lower().replace("’", "'"))
            words.extend(split)
            counted.extend(split)
        elif kind == "number":
            counted.append(token)
        elif kind != "symbol":
            names.add(_fold(token, kind))
    read = [(word, sense) for word, sense in zip(words, meanings(words), strict=True) if sense]
    return Features(
        canonical=" ".join(folded),
        meanings=tuple(sense for _, sense in read),
        shown={sense: word for word, sense in reversed(read)},
        content=tuple(sense for word, sense in read if _is_content(word, sense)),
        negations=sum(word in NEGATIONS for word in words),
        negates_operation=_negates_operation(read),
        numbers=quantities(counted),
        names=frozenset(names),
        asks=_asks(text, words),
        is_code=_is_code(text, words),
    )


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


def _kind_of(found: re.Match[str], following: str | None) -> str:
    kind, token = str(found.lastgroup), found.group()
    if kind != "word":
        return kind
    if len(token) == 1:
        return "name" if token.isupper() and token != "I" and following != "word" else "word"
    camel = token[1:] != token[1:].lower() and not token.isupper()
    return "name" if camel and "'" not in token else "word"


def _fold(token: str, kind: str) -> str:
    if kind == "word":
        return token.lower()
    if kind == "quoted":
        return token[1:-1].strip()
    return (token.rstrip("/.") or token) if kind == "path" else token


def _split_contraction(word: str) -> tuple[str, ...]:
    if word.endswith("n't"):
        return (word[:-3], "not")
    return (word.partition("'")[0],)


def _asks(text: str, words: list[str]) -> bool:
    if _REQUEST.match(text):
        return False
    return bool(words) and (words[0] in QUESTION_OPENERS or text.rstrip().endswith("?"))


def _is_code(text: str, words: list[str]) -> bool:
    if _SQL.match(text):
        return True
    return bool(_CODE_MARK.search(text)) and _PROSE_WORDS.isdisjoint(words)
