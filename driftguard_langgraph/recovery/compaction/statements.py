"""What a sentence says: how its clauses turn, what they are about, and their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from driftguard_langgraph.drift.reading.bounds import Bound, bounds
from driftguard_langgraph.drift.reading.clauses import Clause, clauses, tokens
from driftguard_langgraph.drift.reading.languages import language_of
from driftguard_langgraph.drift.reading.norms import NEGATIONS, about
from driftguard_langgraph.drift.reading.rules import Rule, rule_of
from driftguard_langgraph.drift.reading.sentences import Sentence

Stance = Literal["must", "no", "free", "off", "limit", "is"]
"""What a clause does: demands, forbids, permits or waives, annuls, limits, describes."""

_RELATIONS = {
    "before": "before", "after": "after", "until": "until", "during": "during", "only": "only",
    "unless": "unless", "without": "unless", "except": "unless", "excluding": "unless",
    "if": "if", "when": "if", "whenever": "if", "where": "if", "provided": "if",
}  # fmt: skip
_STANCES: dict[str, Stance] = {
    "limit": "limit", "prohibition": "no", "obligation": "must", "permission": "free",
}  # fmt: skip
_ACTING = ("waive", "drop", "forbid", "must", "need", "permit", "option")
_BE = frozenset("is are be been being was were".split())


@dataclass(frozen=True, slots=True)
class Part:
    """One clause.

    Attributes:
        stance: What it does, None if it only tells.
        core: Folded words that it is about.
        numbers: Its numbers.
    """

    stance: Stance | None
    core: frozenset[str]
    numbers: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says.

    Attributes:
        text: The sentence.
        content: Folded words that it is about, without numbers.
        relations: Words that make it conditional.
        turned: Whether an odd number of its words negate.
        acts: Whether it has a word that demands, forbids, permits or waives.
        parts: What its clauses do.
    """

    text: str
    content: frozenset[str]
    relations: frozenset[str]
    turned: bool
    acts: bool
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, text: str, language: str | None = None) -> Statement:
        """Read one sentence.

        Args:
            text: The sentence.
            language: What `languages.language_of` returned for the text that it stands in;
                None asks it about the sentence alone.
        """
        language = language or language_of(text)
        words = tokens(text, language)
        rule = rule_of(Sentence(text, 0, len(text)), language)
        found = clauses(words)
        content = frozenset().union(*(_words(each.content) for each in found))
        return cls(
            text,
            content,
            frozenset(_RELATIONS[word] for word in words if word in _RELATIONS),
            sum(word in NEGATIONS for word in words) % 2 == 1,
            any(each.has(*_ACTING) for each in found),
            tuple(_part(each, rule) for each in found),
        )

    @property
    def numbers(self) -> Iterator[Bound]:
        """Its numbers."""
        for part in self.parts:
            yield from part.numbers


def _words(content: Iterable[str]) -> frozenset[str]:
    kept = frozenset(word for word in content if not any(map(str.isdigit, word)))
    return about(kept) or kept


def _part(clause: Clause, rule: Rule | None) -> Part:
    atom = next((each for each in rule.atoms if each.clause == clause), None) if rule else None
    stance = _stance(clause, atom.kind if atom is not None else None)
    core = _words(atom.core if atom is not None else clause.about)
    return Part(stance, core, bounds(clause.words, forbids=stance == "no"))


def _stance(clause: Clause, kind: str | None) -> Stance | None:
    turned = clause.negations % 2 == 1
    if clause.condition or _narrates(clause):
        return None
    if kind not in {"limit", "prohibition"}:
        if clause.has("option", "waive"):
            return "no" if turned else "free"
        if clause.has("apply") and turned:
            return "off"
    if kind is None:
        return "free" if clause.has("permit") and not turned else None
    return _STANCES.get(kind, "is")


def _narrates(clause: Clause) -> bool:
    """Whether it tells what somebody refused, which forbids nothing."""
    return any(
        word.endswith("ed") and name == "forbid" and before not in _BE
        for before, word, name in zip(
            ("", *clause.words), clause.words, clause.classes, strict=False
        )
    )
