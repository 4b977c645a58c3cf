"""How a label is made of a text: what is dropped, what keeps its form, what gets a lemma.

A label is what people read in the graph and what identifies a node, so it keeps meaning:
negation, particles, prepositions, number words and comparatives stay, and so does the exact
form of anything that looks like an identifier. Only articles, courtesy words, passive
auxiliaries and punctuation that carries nothing are dropped. A tool call stays as it is.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

MAX_LABEL_CHARS = 160
"""Longest label: two lines of a terminal, and a readable node in a plot."""

_HEAD_CHARS = 1000
"""How much of a text is looked at; a label shows less than a fifth of it."""

# Indefinite articles of the other languages are their word for "one", which is a number.
_ARTICLES: dict[str, frozenset[str]] = {
    "en": frozenset({"a", "an", "the"}),
    "de": frozenset({"der", "die", "das", "den", "dem", "des"}),
    "es": frozenset({"el", "la", "los", "las"}),
    "fr": frozenset({"le", "la", "les"}),
    "it": frozenset({"il", "lo", "la", "i", "gli", "le"}),
    "nl": frozenset({"de", "het"}),
}
_COURTESIES: dict[str, frozenset[str]] = {
    "en": frozenset({"please"}),
    "de": frozenset({"bitte"}),
    "nl": frozenset({"alsjeblieft"}),
}

# "oldest" is not "old" and "seventh" is not "seven"; no other English inflection ends so.
_KEPT_ENDINGS = ("er", "est", "th")
# Irregular comparatives, and words that a lemma table takes for another word
# ("worse" as wrong, "bare" as bear, "gone" as gan, "span" as spin).
_KEPT_WORDS = frozenset(
    {"worse", "worst", "less", "least", "more", "most", "bare", "done", "gone", "media", "span"}
)
# Before a participle they say no more than the participle: "was wiped", "wiped".
_PASSIVE_AUXILIARIES = frozenset({"is", "are", "was", "were", "been"})
_SHORTEST_WITH_LEMMA = 3

_QUOTED = (
    r'"[^"\n]{1,200}"|`[^`\n]{1,200}`|“[^”\n]{1,200}”|«[^»\n]{1,200}»'
    r"|(?<!\w)'[^'\n]{1,200}'(?!\w)"
)
_QUOTED_RUN = re.compile(_QUOTED)
_CALL = re.compile(r"[\w.-]+\(")
# No quotation begins with a letter: runs of letters need not be tried as one at each of them.
_CHUNK = re.compile(rf"(?:\w++|{_QUOTED}|\S)+")
_IDENTIFIER = re.compile(r"^-|[\d_/\\.,;:!@#$%=+*&|<>~^(){}\[\]\"`“«]|^'.*'$")
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_OPENING = {closing: opening for opening, closing in _BRACKETS.items()}
_QUOTE_MARKS = "\"'`“”„«»’‘"
_CLOSING_MARKS = ".,;:!?…。，、；：！？"
_OPENING_MARKS = "¿¡"


class Token(NamedTuple):
    """One piece of a text that may become part of its label.

    Attributes:
        text: The piece without punctuation around it, as written.
        start: Offset of `text` in the examined text.
        is_word: Whether it is an ordinary word, which may be lower-cased and lemmatised.
        clause_end: Whether punctuation follows it directly.
        asks: Whether that punctuation holds a question mark.
    """

    text: str
    start: int
    is_word: bool
    clause_end: bool
    asks: bool

    @property
    def end(self) -> int:
        """Offset behind `text` in the examined text."""
        return self.start + len(self.text)


Lemmatise = Callable[[str, Sequence[Token]], Sequence[str]]
"""Given the examined text and its ordinary words, returns one lemma per word."""


def make_label(text: str, lemmatise: Lemmatise, language: str) -> str:
    """Return the label of a text.

    Args:
        text: Any text that is not blank.
        lemmatise: What turns ordinary words into lemmas.
        language: ISO 639-1 code of the language of the text.

    Returns:
        At most `MAX_LABEL_CHARS` characters. A text with more to say ends in an ellipsis
        and eight hex digits of its SHA-256, so that long texts do not share a label.
    """
    whole = text.strip()
    label = whole if _is_call(whole) else _worded(whole[:_HEAD_CHARS], lemmatise, language)
    if len(whole) <= _HEAD_CHARS and len(label) <= MAX_LABEL_CHARS:
        return label
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{label[: MAX_LABEL_CHARS - 9].rstrip()}…{digest}"


def _is_call(text: str) -> bool:
    return text.endswith(")") and _CALL.match(text) is not None


def _worded(text: str, lemmatise: Lemmatise, language: str) -> str:
    head = unicodedata.normalize("NFC", text).replace("—", " ")
    tokens = _without_empty_words(list(_tokens(head)), language)
    lemmas = _lemmas(head, tokens, lemmatise, language)
    if language == "en":
        tokens = _without_passive_auxiliaries(tokens, lemmas)
    label = " ".join(_rendered(token, lemmas.get(token.start)) for token in tokens)
    return label or " ".join(head.split())


def _tokens(head: str) -> Iterator[Token]:
    for match in _CHUNK.finditer(head):
        chunk = match.group()
        if chunk.isalpha():
            # Most are letters only: nothing stands around them, and few are identifiers.
            yield Token(chunk, match.start(), not _is_shouted_or_camel(chunk), False, False)
            continue
        start, end = _core(chunk)
        core = chunk[start:end]
        if not core or core in {"-", "–"}:
            continue
        tail = chunk[end:]
        yield Token(
            text=core,
            start=match.start() + start,
            is_word=not _looks_like_identifier(core),
            clause_end=any(mark in _CLOSING_MARKS for mark in tail),
            asks="?" in tail or "？" in tail,
        )


def _core(chunk: str) -> tuple[int, int]:
    """Return the span of `chunk` without the punctuation around it that carries nothing."""
    start, end = 0, len(chunk)
    if chunk == "..":
        return start, end
    quoted = [match.span() for match in _QUOTED_RUN.finditer(chunk)]
    quotes_start, quotes_end = {a for a, _ in quoted}, {b for _, b in quoted}
    while start < end:
        first, last = chunk[start], chunk[end - 1]
        inner = chunk[start:end]
        if last in _CLOSING_MARKS or (last in _OPENING and _unbalanced(inner, last)):
            end -= 1
        elif first in _OPENING_MARKS or (first in _BRACKETS and _unbalanced(inner, first)):
            start += 1
        elif first in _BRACKETS and last == _BRACKETS[first]:
            start, end = start + 1, end - 1
        elif first in _QUOTE_MARKS and start not in quotes_start:
            start += 1
        elif last in _QUOTE_MARKS and end not in quotes_end:
            end -= 1
        else:
            break
    return start, max(start, end)


def _unbalanced(text: str, bracket: str) -> bool:
    partner = _BRACKETS.get(bracket) or _OPENING[bracket]
    return text.count(bracket) > text.count(partner)


def _looks_like_identifier(token: str) -> bool:
    return bool(_IDENTIFIER.search(token)) or _is_shouted_or_camel(token)


def _is_shouted_or_camel(token: str) -> bool:
    if token.islower():
        return False
    if len(token) > 1 and token.isupper():
        return True
    return any(a.islower() and b.isupper() for a, b in pairwise(token))


def _without_empty_words(tokens: list[Token], language: str) -> list[Token]:
    articles = _ARTICLES.get(language, frozenset())
    courtesies = _COURTESIES.get(language, frozenset())
    kept = []
    for index, token in enumerate(tokens):
        word = token.text.lower()
        # An article precedes something: "plan A" and "switch it on the, er" keep theirs.
        leads = index + 1 < len(tokens) and not token.clause_end
        names = len(token.text) == 1 and token.text.isupper() and index > 0
        if word in courtesies or (word in articles and leads and not names):
            continue
        kept.append(token)
    return kept


def _lemmas(
    head: str, tokens: Sequence[Token], lemmatise: Lemmatise, language: str
) -> dict[int, str]:
    words = [token for token in tokens if token.is_word and _may_be_lemmatised(token, language)]
    return {word.start: lemma for word, lemma in zip(words, lemmatise(head, words), strict=True)}


def _without_passive_auxiliaries(tokens: Sequence[Token], lemmas: dict[int, str]) -> list[Token]:
    kept = []
    for token, following in zip_longest(tokens, tokens[1:]):
        is_auxiliary = token.text.lower() in _PASSIVE_AUXILIARIES and not token.clause_end
        if not (is_auxiliary and following and _is_participle(following, lemmas)):
            kept.append(token)
    return kept


def _is_participle(token: Token, lemmas: dict[int, str]) -> bool:
    word = token.text.lower()
    return lemmas.get(token.start, word) != word and not word.endswith(("ing", "s"))


def _may_be_lemmatised(token: Token, language: str) -> bool:
    word = token.text.lower()
    # A lemma of "don't" is "do", one of "re-run" may be "rerun": both say something else.
    if len(word) < _SHORTEST_WITH_LEMMA:
        return False
    if not word.isalpha() and any(mark in word for mark in "'’-"):
        return False
    return language != "en" or not (word.endswith(_KEPT_ENDINGS) or word in _KEPT_WORDS)


def _rendered(token: Token, lemma: str | None) -> str:
    text = (lemma or token.text).lower().replace("’", "'") if token.is_word else token.text
    return f"{text}?" if token.asks else text
