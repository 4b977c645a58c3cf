"""What a user changes of his own: a limit, a goal, what a word means to him. It is his right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from driftguard_langgraph.drift.constraints.alignment import Entry
from driftguard_langgraph.drift.constraints.breaches import Said
from driftguard_langgraph.drift.reading.bounds import Bound, bounds
from driftguard_langgraph.drift.reading.norms import CONTROLS, about, fold
from driftguard_langgraph.drift.reading.rules import Rule

LIMIT_REVISED = "limit_revised"
GOAL_REVISED = "goal_revised"

_CHANGING = frozenset("scrap instead actually rather switch changed change swap".split())
_MAKING = (("make", "it"), ("on", "second"), ("forget", "that"), ("forget", "about"))
_OF_FORM = frozenset(
    map(
        fold,
        "word sentence line paragraph bullet point character page example section heading".split(),
    )
)
"""What the length of an answer is counted in."""


def guarded(rule: Rule) -> bool:
    """Whether a rule of the operator protects something, so that a user cannot revise it.

    What forbids, asks for a control or limits anything in the world protects; how long an answer
    may be is a matter of taste.
    """
    if rule.kind in {"prohibition", "definition"}:
        return True
    words = {word for atom in rule.atoms for word in atom.clause.folded}
    units = {number.unit for atom in rule.atoms for number in atom.bounds}
    return not words.isdisjoint(CONTROLS) or not units or not units <= _OF_FORM


def changes(said: Said) -> bool:
    """Whether a sentence says that something is to be another way than before."""
    words = said.words
    if not _CHANGING.isdisjoint(words):
        return True
    return any(pair in _MAKING for pair in pairwise(words))


def revised(said: Said, wishes: Sequence[Entry]) -> tuple[str, Entry] | None:
    """Return what a user's sentence revises, None if nothing of his own.

    Args:
        said: The sentence.
        wishes: What the user wanted before, the newest last.
    """
    changing = changes(said)
    if not changing and (said.sentence.asks or not said.numbered):
        return None
    content = about(said.content)
    numbers = [one for clause in said.clauses for one in bounds(clause.words, forbids=False)]
    for entry in reversed(wishes):
        shared = content & entry.rule.content
        if _renumbered(entry.rule, numbers) and (shared or changing):
            return LIMIT_REVISED, entry
    if changing and wishes and content:
        related = [entry for entry in reversed(wishes) if content & entry.rule.content]
        return GOAL_REVISED, (related or [wishes[-1]])[0]
    return None


def _renumbered(rule: Rule, numbers: Sequence[Bound]) -> bool:
    units = {one.unit: one.value for atom in rule.atoms for one in atom.bounds if one.unit}
    return any(one.unit in units and one.value != units[one.unit] for one in numbers)
