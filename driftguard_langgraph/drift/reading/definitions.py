"""Definitions: "X means Y", in the forms that English has for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from driftguard_langgraph.drift.reading.norms import FUNCTION, NEGATIONS, fold

_VERBS = frozenset({"means", "mean", "denotes", "signifies", "designates"})
_PAIRS = {
    "refers": "to", "refer": "to", "stands": "for", "stand": "for", "defined": "as",
    "understood": "as", "interpreted": "as", "read": "as", "counts": "as", "count": "as",
    "redefined": "as", "taken": "as", "regarded": "as",
}  # fmt: skip
_PREDICATING = frozenset({"counts", "count", "passes"})
"""Verbs whose term comes after them, if anything is said of when it holds."""
_HANDLING = frozenset("treat interpret read understand define take consider regard".split())
_QUOTED = re.compile(r"[\"“'‘`]([^\"“”'‘’`\n]{2,60})[\"”'’`]")
_STATUS = re.compile(
    r"\b(?:is|are)\s+[\"“'‘`]([^\"“”'‘’`\n]{2,60})[\"”'’`]\s+(?:once|if|when|only|as soon)\b"
)
_VERB_STATUS = re.compile(r"[\"“'‘`]([^\"“”'‘’`\n]{2,30})[\"”'’`]\s+(?:when|if|once|as soon as)\b")
_MARKS = frozenset("\"“'‘`=")
"""Signs without which a text names no term apart from its words."""
_COPULA = re.compile(r"[\"“'‘`]([^\"“”'‘’`\n]{2,60})[\"”'’`]\s{0,3}(?:is|now is|=)\s")
_EQUATION = re.compile(
    r"(?:[^:\n]{1,40}:\s*)?[\"'“]?([^\W\d_][\w -]{1,40}?)[\"'”]?\s+:?=\s+[^\W\d_]"
)
_LEADING = frozenset(
    "now context here today onwards onward henceforth this in by for session sense word words "
    "term terms phrase expression wording instruction speak hereafter purposes purpose "
    "conversation chat matter".split()
)
_SCOPES = frozenset({"covers", "cover", "describes", "describe", "comprises", "includes"})
"""Verbs that say what falls under a term, if the text shows that it speaks of a term."""
_TERMS = frozenset("term terms word words phrase expression wording".split())
_SPEAKING = frozenset({"by", "speak", "say", "with", "saying"})
_ADVERBS = frozenset("only simply just merely now also again still really hereby".split())
_INDEFINITE = frozenset({"a", "an", "any", "every"})
_BEING = frozenset({"is", "are", "remains", "becomes"})
_WHOEVER = frozenset(
    "one anybody anyone anything any whoever whatever whichever everybody everyone everything "
    "those nothing somebody someone something what".split()
)
"""Words that open the predicate of a definition: it says which things are meant."""
_OPENERS = frozenset({",", ":", ";", "(", "on", "onwards", "session", "that"})
"""What stands before the subject of a definition: "from now on a fair price is ..."."""
_DEFINING = _VERBS | _PAIRS.keys() | _PREDICATING | _HANDLING | _SCOPES | {"mean", "understand"}
"""Words one of which every definition with a verb of its own has."""
_DEFERRING = frozenset("to of that which who for with in".split())
_HEADED = re.compile(r"[\"'“‘]?([^\W\d_][\w' -]{1,40}?)[\"'”’]?:\s+\S")
"""An entry of a glossary: "Term: what it means"."""
_MAX_TERM = 3
"""Words of a term; more of them are a sentence, not a name."""


@dataclass(frozen=True, slots=True)
class Definition:
    """What a sentence says that a term means.

    Attributes:
        term: Folded words of the term.
        meaning: Folded words that it is said to mean, without those of grammar.
        quoted: Whether the term stands in quotation marks.
    """

    term: frozenset[str]
    meaning: frozenset[str]
    quoted: bool


def definition_of(words: Sequence[str], text: str) -> Definition | None:
    """Return what a sentence defines, None if it defines nothing.

    Args:
        words: What `clauses.tokens` returned for it.
        text: The sentence as written, which has the quotation marks.
    """
    seen = frozenset(words)
    found = None if seen.isdisjoint(_DEFINING) else _verbal(words, text)
    if found is None and not seen.isdisjoint(_BEING):
        found = _copular(words)
    if found is not None or _MARKS.isdisjoint(text):
        return found
    named = (
        _STATUS.search(text)
        or _VERB_STATUS.search(text)
        or _EQUATION.match(text)
        or _COPULA.search(text)
    )
    return _made(named.group(1).lower().split(), list(words), quoted=True) if named else None


def _verbal(words: Sequence[str], text: str) -> Definition | None:
    """Read a definition whose verb says that it is one: "means", "refers to", "counts as"."""
    for place, word in enumerate(words):
        if word in _PREDICATING and "as" in words[place + 1 : place + 2]:
            term, meaning = words[place + 2 : place + 3], words[place + 3 :]
            if meaning:
                return _made(list(term), list(meaning), quoted=False)
        if word in {"mean", "understand"} and place and not _SPEAKING.isdisjoint(words[:place]):
            return _meant(words, place)
        scopes = word in _SCOPES and (
            _speaks_of_a_term(words[:place]) or _QUOTED.search(text) is not None
        )
        if place and (word in _VERBS or scopes):
            return _defined(words[:place], words[place + 1 :], text)
        if word in _PAIRS and place and _PAIRS[word] in words[place + 1 : place + 3]:
            after = words.index(_PAIRS[word], place) + 1
            return _defined(words[:place], words[after:], text)
        if word in _HANDLING and "as" in words[place + 1 : place + 8]:
            middle = words.index("as", place)
            return _defined(words[place + 1 : middle], words[middle + 1 :], text)
    return None


def entry_of(text: str) -> Definition | None:
    """Return what an entry of a glossary defines ("Term: meaning"), None if it is none.

    Args:
        text: A sentence of a text that calls itself a glossary.
    """
    found = _HEADED.match(text)
    if found is None:
        return None
    meaning = re.findall(r"[^\W\d_]+", text[found.end() - 1 :].lower())
    return _made(found.group(1).lower().split(), meaning, quoted=True)


def _speaks_of_a_term(before: Sequence[str]) -> bool:
    return not _TERMS.isdisjoint(before)


def _meant(words: Sequence[str], place: int) -> Definition | None:
    """Read "by X we mean Y" and "when we speak of X we mean Y"."""
    opening = next(i for i, word in enumerate(words) if word in _SPEAKING)
    said = words[opening + 1 : place]
    term = [word for word in said if word not in FUNCTION and word not in _LEADING]
    return _made(term, list(words[place + 1 :]), quoted=False)


def _copular(words: Sequence[str]) -> Definition | None:
    """Read "a fair price is one that both accept": what a kind of thing is, not one thing."""
    for place, word in enumerate(words):
        if word not in _BEING or not place:
            continue
        start = max((i for i in range(place) if words[i] in _OPENERS), default=-1) + 1
        subject = [one for one in words[start:place] if one not in _ADVERBS]
        after = [one for one in words[place + 1 :] if one not in _ADVERBS]
        kind = subject[:1] and subject[0] in _INDEFINITE
        plain = bool(subject) and subject[0] not in FUNCTION and subject[0] not in NEGATIONS
        which = after[:1] and after[0] in _WHOEVER and after[1:2] != ["of"]
        named = kind and after[:1] and after[0] in {"a", "an", "the"} and len(after) > 2
        if not ((which and (kind or plain)) or named) or _DEFERRING.intersection(subject):
            return None
        term = [one for one in subject if one not in FUNCTION]
        return _made(term, after, quoted=False)
    return None


def _defined(before: Sequence[str], after: Sequence[str], text: str) -> Definition | None:
    quoted = _QUOTED.search(text)
    if quoted is not None:
        term = quoted.group(1).lower().split()
        return _made(term, [word for word in after if word not in term], quoted=True)
    start = max((i for i, word in enumerate(before) if word in {",", ":", ";", "("}), default=-1)
    term = [word for word in before[start + 1 :] if word not in FUNCTION and word not in _LEADING]
    return _made(term, list(after), quoted=False)


def _made(term: list[str], meaning: list[str], *, quoted: bool) -> Definition | None:
    named = frozenset(map(fold, term))
    said = frozenset(fold(word) for word in meaning if word not in FUNCTION and word.isalpha())
    if not named or len(term) > _MAX_TERM or not said or not NEGATIONS.isdisjoint(term):
        return None
    return Definition(named, said, quoted)
