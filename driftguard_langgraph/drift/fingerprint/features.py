"""What a text says and how, sentence by sentence: the raw material of the fingerprint.

Everything is counted in sentences, words and names, so that shares can be compared whatever
the length. One pass over the words; no pattern looks farther than a few words ahead.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from driftguard_langgraph.drift.fingerprint import words as lexicon
from driftguard_langgraph.drift.reading.masking import prose
from driftguard_langgraph.judgement.words import stem

_END = re.compile(r"[.!?。！？\n](?:(?<=[.!?])[\"')\]]*\s+|(?<=[。！？\n]))")
_ASKED = ("?", "？")
_GOES_ON = (":", ",", ";")
_TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[,;:()]")
_PUNCTUATION = frozenset(",;:()")
_INTRODUCES = frozenset(":(")
"""Marks after which a capital only begins anew."""
_TAG = re.compile(r"\s*\[[^\]\n]{0,80}\]")
_SHOUTED = 0.6
"""Share of capitalised words from which a sentence is a heading, whose capitals name nothing."""
_SHORTEST_WORD = 4
"""Letters of the shortest word that counts as vocabulary; the seed's figure."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, as far as the fingerprint is concerned.

    Attributes:
        digest: What stands for its words, whatever their case and the punctuation.
        words: Stems of what it is about, in order.
        entities: The names in it, in order.
        marks: The classes it belongs to (of `fingerprint_words.CLASSES`, and `statement` for
            what is stated of anything), with the word or phrase that says so.
    """

    digest: str
    words: tuple[str, ...]
    entities: tuple[str, ...]
    marks: dict[str, str]


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of the natural-language part of a text, in order.

    Args:
        text: Any text; code, data and markup in it are not read (see `masking.prose`).
    """
    found = []
    spoken = _joined(prose(text))
    for piece, asked in _pieces(spoken):
        tag = _TAG.match(piece) if "[" in piece else None
        tokens = _TOKEN.findall(piece, tag.end() if tag else 0)
        if not all(map(_PUNCTUATION.__contains__, tokens)):
            found.append(_sentence(tokens, asked=asked))
    return found


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of a text, and of each whether it is a question."""
    start = 0
    for end in _END.finditer(text):
        place = end.start()
        yield text[start:place], text.startswith(_ASKED, place) or text[start:place].endswith("?")
        start = end.end()
    yield text[start:], text.endswith("?")


def _joined(text: str) -> str:
    """Return a text in which a line that goes on in the next is one with it."""
    if "\n" not in text:
        return text
    lines = [line.strip() for line in text.split("\n")]
    return "".join(line + (" " if line.endswith(_GOES_ON) else "\n") for line in lines if line)


class _Word(NamedTuple):
    """What is known of a word (or a punctuation mark) wherever it stands.

    Attributes:
        said: The word in lower case.
        stem: Its stem.
        tells: Whether it says what a text is about.
        capital: Whether it is written like a name.
        marks: Whether any of what follows is so, or it turns others or ends that.
        classes: Its classes.
        phrases: Classes of the phrases that it opens with their words, by the second of these.
    """

    said: str
    stem: str
    tells: bool
    capital: bool
    marks: bool
    classes: tuple[str, ...]
    phrases: Mapping[str, Sequence[tuple[str, list[str]]]]


@lru_cache(maxsize=65_536)
def _read(token: str) -> _Word:
    said = token.lower().replace("’", "'")
    root = stem(said.removesuffix("'s"))
    classes = lexicon.WORDS.get(root, ())
    phrases: dict[str, list[tuple[str, list[str]]]] = {}
    for name, *rest in lexicon.PHRASES.get(said, ()):
        phrases.setdefault(rest[0], []).append((name, [said, *rest]))
    return _Word(
        said=said,
        stem=root,
        tells=len(said) >= _SHORTEST_WORD and root not in lexicon.UNSAID,
        capital=token[0].isupper() and len(token) > 1,
        marks=bool(classes or phrases) or _negates(said) or said in _SCOPE_ENDS,
        classes=classes,
        phrases=phrases,
    )


def _negates(said: str) -> bool:
    return said in lexicon.NEGATIONS or said.endswith("n't")


def _sentence(tokens: Sequence[str], *, asked: bool) -> Sentence:
    words = list(map(_read, tokens))
    said = [word.said for word in words]
    marks = _marks(words, said, asked=asked)
    if not asked:
        marks.update(_claim(words, said))
    return Sentence(
        hashlib.blake2b(" ".join(said).encode(), digest_size=5).hexdigest(),
        tuple([word.stem for word in words if word.tells]),
        tuple(_entities(tokens, words)),
        marks,
    )


def _marks(read: Sequence[_Word], said: Sequence[str], *, asked: bool) -> dict[str, str]:
    """Return class and words of what a sentence is marked by; a negation turns what follows it."""
    marks: dict[str, str] = {}
    turned = -1
    for place, word in enumerate(read):
        if not word.marks:
            continue
        if word.said in _SCOPE_ENDS:
            turned = -1
        for name, words in _classes(word, said, place):
            if asked and words in _MODALS:
                continue
            if place > turned:
                marks[name] = words
            elif name in _OPPOSITE and words not in _BINDING:
                marks[_OPPOSITE[name]] = f"not {words}"
        if _negates(word.said) and tuple(said[place : place + 2]) not in lexicon.NO_NEGATION:
            marks["negation"] = word.said
            if word.said in lexicon.SHIFTERS or word.said.endswith("n't"):
                turned = place + lexicon.SCOPE
    return marks


def _classes(word: _Word, said: Sequence[str], place: int) -> list[tuple[str, str]]:
    """Return the classes of a word and of the phrases that it opens, with the words."""
    found = [(name, word.said) for name in word.classes]
    if word.phrases and place + 1 < len(said):
        for name, phrase in word.phrases.get(said[place + 1], ()):
            if said[place : place + len(phrase)] == phrase:
                found.append((name, " ".join(phrase)))
    return found


_OPPOSITE = {
    "positive": "negative", "negative": "positive",
    "compliance": "flexibility", "flexibility": "compliance",
}  # fmt: skip
_SCOPE_ENDS = lexicon.SCOPE_ENDS | _PUNCTUATION
_MODALS = frozenset({"may", "might", "could", "should"})
_BINDING = frozenset({"should", "must", "shall"})


def _claim(words: Sequence[_Word], said: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the words with which a sentence states something: of a matter, or of anything."""
    if said[0] in lexicon.OPEN_STARTS:
        return
    subject = matter = ""
    for place, word in enumerate(said):
        if word in _PUNCTUATION:
            subject = matter = ""
        elif word in lexicon.COPULAS and (subject or word in lexicon.DEFINES):
            name = "fact" if matter or word in lexicon.DEFINES else "statement"
            yield name, f"{matter or subject} {word}".strip()
        elif words[place].stem in lexicon.SETTLED and _settled(said, place):
            yield "fact", word
        elif words[place].stem in lexicon.MATTERS:
            matter = word
        subject = word if word not in lexicon.NO_SUBJECT else ""


def _settled(said: Sequence[str], place: int) -> bool:
    if not said[place].endswith("d"):
        return False
    before = said[max(0, place - lexicon.SETTLED_REACH) : place]
    return not before or not lexicon.SETTLERS.isdisjoint(before)


def _entities(tokens: Sequence[str], words: Sequence[_Word]) -> Iterator[str]:
    capitals = [
        place
        for place, word in enumerate(words)
        if word.capital and place and tokens[place - 1] not in _INTRODUCES
    ]
    if not capitals:
        return
    spoken = sum(token not in _PUNCTUATION for token in tokens)
    if spoken > 3 and len(capitals) > _SHOUTED * (spoken - 1):
        return
    for place in capitals:
        if not tokens[place].startswith(("I'", "I’")):
            yield tokens[place].lower()
