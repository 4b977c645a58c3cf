"""Facts: what a text says that cannot be put in other words.

Amounts, percentages, ratios, dates, times, numbers, identifiers, addresses, acronyms and names.
Each has a key that all ways of writing it share, so that it can be looked for in another text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from driftguard_langgraph.recovery.compaction.measures import MONTHS, WEEKDAYS, numeral
from driftguard_langgraph.recovery.compaction.names import acronym, bare, is_shouted, names
from driftguard_langgraph.recovery.compaction.readings import read
from driftguard_langgraph.recovery.compaction.scanning import Piece, folded_words, pieces

FactKind = Literal[
    "amount", "percentage", "ratio", "date", "time", "number", "identifier", "email", "url",
    "path", "acronym", "name",
]  # fmt: skip
"""What sort of fact it is."""

_WORDY = frozenset({"identifier", "email", "url", "path", "name"})
_ROW = 6
"""Longest row of words that is looked for as such; longer addresses are compared whole."""

_RATIO = re.compile(r"(\d{1,6})[:/](\d{1,6})")
_DOTS = re.compile(r"\w{2,}(?:\.\w{2,})+")
_CAMEL = re.compile(r"[^\W\d_]*[a-zà-ÿ][A-Z]")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact.

    Attributes:
        kind: What sort of fact it is.
        text: As written.
        key: What all ways of writing it share.
        start: Where it starts in its text.
        end: Where it ends.
        also: Keys of what it says besides: a full date names its day, an amount its number.
    """

    kind: FactKind
    text: str
    key: str
    start: int
    end: int
    also: tuple[str, ...] = ()


def facts_of(text: str) -> tuple[Fact, ...]:
    """Return the facts of a text, each once and in order; time is linear in its length.

    Single digits that count nothing known, and capitals that open a sentence, are no facts.

    Args:
        text: Any text.
    """
    first: dict[str, Fact] = {}
    for fact in sorted(_found(text), key=lambda each: each.start):
        first.setdefault(fact.key, fact)
    return tuple(first.values())


class FactIndex:
    """The facts and words of some texts, to look other facts up.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._keys: set[str] = set()
        self._words: list[list[str]] = []
        self._rows: dict[int, set[tuple[str, ...]]] = {}
        for text in texts:
            self._words.append(folded_words(text))
            for fact in _found(text):
                self._keys |= {fact.key, *fact.also}

    def __contains__(self, fact: Fact) -> bool:
        """Whether a text has the fact, in whatever way it writes it."""
        if fact.key in self._keys:
            return True
        prefix, _, rest = fact.key.partition(":")
        words = tuple(rest.split())
        if prefix not in _WORDY or not words or len(words) > _ROW:
            return False
        return words in self._rows_of(len(words))

    def _rows_of(self, length: int) -> set[tuple[str, ...]]:
        if length not in self._rows:
            self._rows[length] = {
                row
                for words in self._words
                for row in zip(*(words[shift:] for shift in range(length)), strict=False)
            }
        return self._rows[length]


def _found(text: str) -> Iterator[Fact]:
    found = list(pieces(text))
    taken: set[int] = set()
    place = 0
    while place < len(found):
        readings = read(found, place)
        last = max((reading.last for reading in readings), default=place)
        for reading in readings:
            start, end = found[reading.first].start, found[reading.last].end
            yield Fact(reading.kind, text[start:end], reading.key, start, end, reading.also)
        if readings:
            taken.update(range(place, last + 1))
        else:
            yield from _shaped(found[place])
        place = last + 1
    yield from _acronyms([piece for place, piece in enumerate(found) if place not in taken])
    yield from _names(found, text)


def _names(found: Sequence[Piece], text: str) -> Iterator[Fact]:
    for run, opens in names(found):
        sure = run[1:] if opens else run
        words = " ".join(folded_words(" ".join(bare(piece.text) for piece in sure)))
        shown = bare(text[run[0].start : run[-1].end])
        kind: FactKind = "date" if words in WEEKDAYS else "name"
        if words not in MONTHS:
            yield Fact(kind, shown, f"name:{words}", run[0].start, run[-1].end)


def _acronyms(found: Sequence[Piece]) -> Iterator[Fact]:
    run: list[Piece] = []
    for piece in (*found, None):
        if piece is not None and piece.text.isalpha() and piece.text.isupper():
            run.append(piece)
            continue
        shouted = is_shouted([each.text for each in run])
        dotted = [] if piece is None or piece.text.isalpha() else [piece]
        for each in (*(() if shouted else run), *dotted):
            letters = acronym(each.text)
            if letters is not None:
                yield Fact("acronym", each.text, f"acronym:{letters}", each.start, each.end)
        run = []


def _shaped(piece: Piece) -> Iterator[Fact]:
    """Yield what a piece is by its form: an address, a ratio, an identifier."""
    kind = _kind(piece)
    if kind is None:
        return
    words = " ".join(folded_words(piece.text))
    key = piece.text.replace("/", ":") if kind == "ratio" else words
    yield Fact(kind, piece.text, f"{kind}:{key}", piece.start, piece.end)


def _kind(piece: Piece) -> FactKind | None:
    text = piece.text
    match piece.shape:
        case "url" | "email":
            return piece.shape
        case "path":
            return "path" if text.count("/") > 1 or text[0] in "~." or "\\" in text else None
        case _:
            pass
    if _RATIO.fullmatch(text):
        return "ratio"
    if "/" in text and (_DOTS.search(text.rpartition("/")[2]) or text.count("/") > 2):
        return "path"
    digits = any(map(str.isdigit, text))
    if digits:
        return "identifier" if numeral(text) is None else None
    named = "_" in text.strip("_") or _DOTS.fullmatch(text) or _CAMEL.match(text)
    return "identifier" if named and not text[0].isupper() else None
