"""A text as the measures of pressure read it: folded words, sentences, and classes of words.

The folding undoes what is done to words to hide them (doubled letters, full-width and
invisible signs, letters spaced out), and their inflection. One pass over the text.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from driftguard_langgraph.drift.pressure.lexicon import CLASSES, FOREIGN
from driftguard_langgraph.drift.reading import norms

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[.!?\n,;:()\"“—]")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W\d_][ .\-_*]){4,}[^\W\d_](?![^\W_])")
_SPACED_HINT = re.compile(r"[ .\-_*][^\W\d_][ .\-_*][^\W\d_][ .\-_*]")
"""Found wherever `_SPACED` is, in a fraction of its time."""
_DOUBLED = re.compile(r"(.)\1+")
_END = frozenset(".!?\n")
_SIGNS = frozenset('.!?\n,;:()"“—')


@functools.lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """Return what stands for a word in any inflection, apostrophes and doubled letters off."""
    plain = word.replace("'", "").replace("’", "").lower()
    if len(plain) < 4:
        return plain
    return norms.fold(_DOUBLED.sub(r"\1", plain))


_Phrases = dict[str, list[tuple[list[str], str]]]
"""Phrases that begin with one word, by the second: their folded words, and their class."""


def _table() -> dict[str, tuple[tuple[str, ...], _Phrases]]:
    """Return the classes and the phrases of the lexicon by the first word."""
    single: dict[str, set[str]] = {}
    phrases: dict[str, _Phrases] = {}
    for name, entries in CLASSES.items():
        for entry in entries.split(","):
            first, *rest = words = [fold(word) for word in entry.split()]
            if rest:
                phrases.setdefault(first, {}).setdefault(rest[0], []).append((words, name))
            else:
                single.setdefault(first, set()).add(name)
    for name, words_ in FOREIGN.items():
        for word in words_.split():
            single.setdefault(fold(word), set()).add(name)
    return {
        word: (tuple(sorted(single.get(word, ()))), phrases.get(word, {}))
        for word in single.keys() | phrases.keys()
    }


_ENTRIES = _table()


class Marks:
    """The words of a text and where the classes of words stand in it.

    Args:
        text: Any text; time is linear in its length.

    Attributes:
        text: The text, without invisible signs.
        words: Its folded words.
        sentence: Number of the sentence of each word.
        asked: Numbers of the sentences that end in a question mark.
    """

    __slots__ = ("_at", "_breaks", "_placed", "asked", "sentence", "text", "words")

    def __init__(self, text: str) -> None:
        self.text = _cleaned(text)
        self.words: list[str] = []
        self.sentence: list[int] = []
        self.asked: set[int] = set()
        self._placed: list[tuple[int, int]] | None = None
        self._breaks: set[int] = set()
        number = 0
        for said in _TOKEN.findall(self.text):
            if said not in _SIGNS:
                self.words.append(fold(said))
                self.sentence.append(number)
            elif said in _END:
                if said == "?":
                    self.asked.add(number)
                number += 1
            else:
                self._breaks.add(len(self.words))
        self._at = _classified(self.words)

    @property
    def _spans(self) -> list[tuple[int, int]]:
        """Where each word stands; few texts are quoted, so it is found out on first use."""
        if self._placed is None:
            tokens = _TOKEN.finditer(self.text)
            self._placed = [token.span() for token in tokens if token.group() not in _SIGNS]
        return self._placed

    def at(self, name: str) -> Sequence[int]:
        """Return the places of a class, ascending (a phrase stands at its first word)."""
        return self._at.get(name, ())

    def has(self, name: str) -> bool:
        """Whether any word of the class occurs."""
        return name in self._at

    def after(self, place: int, name: str, reach: int) -> int | None:
        """Return the first place of a class in the same sentence after a place.

        Args:
            place: The place of a word.
            name: The class.
            reach: How many words further it may stand.
        """
        found = self._at.get(name)
        if not found:
            return None
        index = bisect_right(found, place)
        if index == len(found):
            return None
        there = found[index]
        near = there - place <= reach and self.sentence[there] == self.sentence[place]
        return there if near else None

    def between(self, first: int, last: int, name: str) -> bool:
        """Whether a word of the class stands at a place from `first` to `last`, both included."""
        found = self._at.get(name)
        if not found:
            return False
        index = bisect_right(found, first - 1)
        return index < len(found) and found[index] <= last

    def pairs(self, name: str, other: str, reach: int) -> Iterator[tuple[int, int]]:
        """Yield where a class is followed by another in the same sentence, within `reach`."""
        for place in self.at(name):
            there = self.after(place, other, reach)
            if there is not None:
                yield place, there

    def opens(self, place: int) -> bool:
        """Whether a word is the first of its sentence, or stands behind a comma or the like."""
        if place == 0 or place in self._breaks:
            return True
        return self.sentence[place - 1] != self.sentence[place]

    def before(self, place: int, count: int) -> list[str]:
        """Return up to `count` words of the same sentence before a place."""
        start = max(place - count, 0)
        return [
            self.words[i] for i in range(start, place) if self.sentence[i] == self.sentence[place]
        ]

    def sentence_of(self, place: int) -> list[str]:
        """Return the folded words of the sentence that a word stands in."""
        first = bisect_left(self.sentence, self.sentence[place])
        return self.words[first : bisect_right(self.sentence, self.sentence[place])]

    def tail(self, place: int) -> str:
        """Return the text from a word to the end of its sentence."""
        last = bisect_right(self.sentence, self.sentence[place]) - 1
        return self.text[self._spans[place][0] : self._spans[last][1]]

    def quote(self, first: int, last: int) -> str:
        """Return the text from one word to another with a little around, 300 characters at most."""
        spans = self._spans
        start, end = spans[max(first - 2, 0)][0], spans[min(last + 4, len(spans) - 1)][1]
        return self.text[start:end][:300]


def _classified(words: Sequence[str]) -> dict[str, list[int]]:
    """Return the places of each class, ascending."""
    at: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        if word not in _ENTRIES:
            continue
        names, phrases = _ENTRIES[word]
        for name in names:
            at.setdefault(name, []).append(place)
        following = words[place + 1] if phrases and place + 1 < len(words) else ""
        for phrase, name in phrases.get(following, ()):
            if words[place : place + len(phrase)] == phrase:
                at.setdefault(name, []).append(place)
    return at


def _cleaned(text: str) -> str:
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _SPACED.sub(_joined, text) if _SPACED_HINT.search(text) else text


def _joined(spaced: re.Match[str]) -> str:
    return re.sub(r"[ .\-_*]", "", spaced.group())
