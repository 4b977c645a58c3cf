"""Does a rule still stand in another text: word for word, or said otherwise but the same?

Two sentences say the same if they are about the same, turn the same way, and have the same
numbers, names and conditions. Whoever is in doubt says no: a rule that is restored though it
stood costs a line, one that is taken for standing though it fell costs the rule.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from driftguard_langgraph.drift.reading.bounds import Bound
from driftguard_langgraph.drift.reading.languages import language_of
from driftguard_langgraph.drift.reading.sentences import sentences
from driftguard_langgraph.recovery.compaction.facts import Fact, FactIndex, facts_of
from driftguard_langgraph.recovery.compaction.statements import Part, Stance, Statement

SAME = 0.7
"""Share of a rule's words that a sentence must have to say the same. Measured on own pairs:
paraphrases by a summary have .75 and more, other rules of the same prompt .5 and less."""
ABOUT = 0.6
"""Share of a clause's words from which another speaks of it, as in
`drift.constraints.alignment`."""
_CANDIDATES = 20
"""Sentences that are compared with a rule, those that share most words with it."""
_PIECE = 8_000
"""Characters that are parsed at once, so that no limit of `drift.reading.clauses` is reached."""

_SIGNS = re.compile(r"\w+|[$€£¥₹%<>=≤≥]|[.,](?=\d)")
_MARK = re.compile(r"\s*(?:[-*•·–>]|\d{1,3}[.)]|[a-z][.)])\s+")
_SPECIAL = frozenset("usd eur gbp yen % s".split())


class Statements:
    """The sentences of some texts, to look rules up.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._literal: set[str] = set()
        self._found: list[Statement] = []
        self._places: dict[str, list[int]] = defaultdict(list)
        for piece in (piece for text in texts for piece in _cut(text)):
            language = language_of(piece)
            said = [sentence for sentence in sentences(piece) if not sentence.asks]
            self._literal.update(folded(_MARK.sub("", line, 1)) for line in piece.splitlines())
            self._literal.update(folded(sentence.text) for sentence in said)
            for sentence in said:
                self._add(Statement.of(sentence.text, language))

    def _add(self, statement: Statement) -> None:
        for word in statement.content:
            self._places[word].append(len(self._found))
        self._found.append(statement)

    def has(self, rule: str) -> bool:
        """Whether a sentence or a line is this rule, word for word."""
        return folded(rule) in self._literal

    def say(self, rule: Statement) -> bool:
        """Whether a sentence says the same."""
        facts = facts_of(rule.text)
        return any(_same(rule, other, facts) for other in self._near(rule))

    def against(self, rule: Statement) -> str | None:
        """Return the first sentence that turns a rule round or changes its numbers, if any."""
        return next((each.text for each in self._near(rule) if _alters(rule, each)), None)

    def _near(self, rule: Statement) -> list[Statement]:
        hits = Counter(place for word in rule.content for place in self._places.get(word, ()))
        return [self._found[place] for place, _ in hits.most_common(_CANDIDATES)]


def folded(text: str) -> str:
    """Return the words and signs of a text, without case, width and punctuation."""
    return " ".join(_SIGNS.findall(unicodedata.normalize("NFKC", text).casefold()))


def _cut(text: str) -> Iterator[str]:
    """Yield a text in pieces, cut at the end of a line or of a word."""
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            for mark in ("\n", ". ", " "):
                found = text.rfind(mark, start + _PIECE // 2, end)
                if found > 0:
                    end = found + len(mark)
                    break
        yield text[start:end]
        start = end


def _same(rule: Statement, other: Statement, facts: Sequence[Fact]) -> bool:
    if not rule.content or len(rule.content & other.content) < SAME * len(rule.content):
        return False
    if rule.relations != other.relations:
        return False
    if not any(part.stance for part in rule.parts) and (
        rule.turned != other.turned or _is_denied(rule, other)
    ):
        return False
    if not all(_has_part(part, other) for part in rule.parts if part.stance):
        return False
    if not all(_has_number(number, other) for number in rule.numbers):
        return False
    index = FactIndex([other.text])
    return all(fact in index for fact in facts)


def _has_part(part: Part, other: Statement) -> bool:
    return any(
        _agree(part.stance, each.stance) and _is_about(part, each.core) for each in other.parts
    )


def _agree(one: Stance | None, other: Stance | None) -> bool:
    return (
        one == other
        or (one == "limit" and other in {"must", "no"})
        or (other == "limit" and one in {"must", "no"})
    )


def _is_about(part: Part, words: frozenset[str]) -> bool:
    shared = part.core & words
    return len(shared) >= ABOUT * len(part.core) and (len(shared) > 1 or len(part.core) == 1)


def _has_number(number: Bound, other: Statement) -> bool:
    return any(
        each.value == number.value
        and (each.unit == number.unit or not {each.unit, number.unit} & _SPECIAL)
        and ("any" in {each.looser, number.looser} or each.looser == number.looser)
        for each in other.numbers
    )


def _alters(rule: Statement, other: Statement) -> bool:
    """Whether a sentence speaks of the same and says otherwise."""
    shared = len(rule.content & other.content)
    if not rule.content or shared < min(2, len(rule.content)):
        return False
    if (
        rule.relations & _TIMES
        and other.relations & _TIMES
        and not (rule.relations & other.relations & _TIMES)
    ):
        # "No refund after departure" is not turned round by "a refund before departure".
        return False
    near = shared >= ABOUT * len(rule.content)
    if near and any(_is_changed(number, other) for number in rule.numbers):
        return True
    if not any(part.stance for part in rule.parts):
        return near and not rule.turned and _is_denied(rule, other)
    turned = any(_is_turned(part, other) for part in rule.parts if part.stance)
    return turned or (near and _is_excepted(rule, other))


_TIMES = frozenset({"before", "after"})


def _is_changed(number: Bound, other: Statement) -> bool:
    alike = [each for each in other.numbers if each.unit == number.unit]
    return bool(alike) and not _has_number(number, other)


def _is_turned(part: Part, other: Statement) -> bool:
    spoken = [each for each in other.parts if each.stance and _is_about(part, each.core)]
    if not spoken or any(_agree(part.stance, each.stance) for each in spoken):
        return False
    return part.stance not in {"is", "limit"} or any(each.stance == "off" for each in spoken)


def _is_denied(rule: Statement, other: Statement) -> bool:
    """Whether a sentence frees of, annuls or forbids what a rule without a norm word says."""
    return any(
        part.stance in {"free", "off", "no"} and len(part.core & rule.content) > 1
        for part in other.parts
    )


def _is_excepted(rule: Statement, other: Statement) -> bool:
    """Whether a sentence says the same with an exception that the rule does not have."""
    if "unless" not in other.relations - rule.relations:
        return False
    return all(_has_part(part, other) for part in rule.parts if part.stance)
