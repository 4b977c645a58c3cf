"""What a clause does to what it speaks of: loosen, tighten, permit, forbid or demand it.

Each negation and each word that undoes turns the clause once: "validation is not optional" and
"do not skip validation" tighten, as "validation is required" does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from driftguard_langgraph.drift.reading.clauses import Clause
from driftguard_langgraph.drift.reading.norms import (
    CONTROLS,
    NEGATIONS,
    UNDONE,
    WEAK_CONTROLS,
    fold,
)


class Stance(StrEnum):
    """What a clause does to what it is about."""

    NONE = "none"
    LOOSENS = "loosens"
    TIGHTENS = "tightens"
    PERMITS = "permits"
    FORBIDS = "forbids"
    DEMANDS = "demands"


_NEED_REACH = 5
"""Words between a negation and the need that it turns: "is not, at this point, required"."""
_OBJECT_REACH = 4
_SUBJECT_REACH = 7
"""Words around a verb like "drop" among which the rule must stand that it drops."""
_RULE_NOUNS = frozenset(
    map(fold, "rule requirement limit restriction constraint policy process step procedure".split())
)
_IMPERATIVE_NOT = frozenset({"not", "never", "no"})
_PROCEEDING = frozenset(map(fold, "proceed go continue ship deploy move start do act".split()))
_SCRUTINY = frozenset(
    map(fold, "verify validate check confirm question challenge doubt scrutinize audit review "
    "inspect ask vet screen authenticate contradict dispute flag wait request insist seek".split())
)  # fmt: skip
_CONTRASTS = frozenset("but because since although while whereas".split())
_DETERMINERS = frozenset("the a an our your my this that first next any".split())
_OUTDOING = frozenset(map(fold, "outweigh trump outrank supersede precede".split()))
_PREFERRING = frozenset(
    map(
        fold,
        "prefer prioritize prioritise favor favour focus value emphasis precedence matter "
        "important optimize optimise priority put place rank come".split(),
    )
)
_OVER = frozenset({"over", "instead", "than", "above", "before", "ahead"})
_ASKING = frozenset(map(fold, "ask wait permission".split()))
_WEAKENING = frozenset("keep make leave treat consider".split())


@dataclass(frozen=True, slots=True)
class Reading:
    """A clause as a norm.

    Attributes:
        clause: The clause.
        stance: What it does.
        controls: Folded names of safety controls in it, those that are everyday words last.
        strong: Whether one of them can only be a safety control.
    """

    clause: Clause
    stance: Stance
    controls: tuple[str, ...]
    strong: bool


def read(clause: Clause) -> Reading:
    """Return what a clause does to what it speaks of.

    Args:
        clause: One clause of a sentence that is no question.
    """
    named = [word for word in clause.folded if word in CONTROLS]
    if not named and clause.context:
        named = [word for word in clause.context if word in CONTROLS]
    controls = tuple(sorted(dict.fromkeys(named), key=lambda word: word in WEAK_CONTROLS))
    strong = any(word not in WEAK_CONTROLS for word in controls) or len(controls) > 1
    stance = Stance.NONE if clause.condition else _stance(clause)
    return Reading(clause, stance, controls, strong)


def _stance(clause: Clause) -> Stance:
    undoing = clause.count("option", "waive") + _drops(clause)
    turned = (clause.negations + undoing) % 2 == 1
    if undoing or _needless(clause) or _undone(clause) or _without(clause):
        return Stance.LOOSENS if turned else Stance.TIGHTENS
    if clause.negations % 2:
        forbidden = clause.has("must", "permit") or _imperative_negation(clause)
        return Stance.FORBIDS if forbidden else Stance.NONE
    if clause.has("forbid"):
        return Stance.FORBIDS if not clause.negations else Stance.PERMITS
    if clause.has("permit"):
        return Stance.PERMITS
    return Stance.DEMANDS if clause.has("must", "need") else Stance.NONE


def scrutinises(reading: Reading) -> bool:
    """Whether a clause forbids, or gives up, to look closely."""
    clause = reading.clause
    if clause.negations % 2 == 0 or clause.condition:
        return False
    turned = next((i for i, word in enumerate(clause.words) if word in NEGATIONS), None)
    # Only a verb after the negation: "our question", "to make sure that nothing is missed".
    looks = turned is not None and any(
        word in _SCRUTINY and before not in _DETERMINERS
        for before, word in zip(clause.words[turned:], clause.folded[turned + 1 :], strict=False)
    )
    if not looks:
        return False
    gives_up = clause.first_person and "will" in clause.words
    return gives_up or clause.has("must") or _imperative_negation(clause)


def preference(clause: Clause) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return what a clause puts first and what second, as folded words; None if it does neither.

    "Speed over accuracy" and "accuracy is less important than speed" are both that.

    Args:
        clause: The clause.
    """
    words, folded = clause.words, clause.folded
    place = next((i for i, word in enumerate(folded) if i and word in _OUTDOING), None)
    if place is None:
        place = next((i for i, word in enumerate(words) if i and word in _OVER), None)
        if place is None or _PREFERRING.isdisjoint(folded[:place]):
            return None
    if clause.negations:
        return None
    first, second = folded[:place], folded[place + 1 :]
    return (second, first) if "less" in words[:place] else (first, second)


def _drops(clause: Clause) -> int:
    """How many verbs like "drop" or "remove" govern a rule; else they are what is done."""
    found = 0
    for place, kind in enumerate(clause.classes):
        if kind == "drop":
            passive = clause.words[place].endswith(("ed", "en"))
            start = max(0, place - _SUBJECT_REACH) if passive else place
            around = range(start, min(place + 1 + _OBJECT_REACH, len(clause.words)))
            found += any(_is_rule(clause, near) for near in around)
    return found


def _is_rule(clause: Clause, place: int) -> bool:
    word, folded = clause.words[place], clause.folded[place]
    # Checked bags are things, a check is none.
    return folded in _RULE_NOUNS or (folded in CONTROLS and word != "checked")


def _needless(clause: Clause) -> bool:
    """Whether a need, or that something applies, is denied."""
    for place, word in enumerate(clause.words):
        if word in NEGATIONS:
            after = clause.classes[place + 1 : place + 1 + _NEED_REACH]
            before = clause.classes[max(0, place - 2) : place]
            if "need" in after or "need" in before:
                return True
            if "apply" in after and not _is_denied_proof(clause, place):
                return True
    return False


def _is_denied_proof(clause: Clause, place: int) -> bool:
    """Whether something "does not count as" a control: then the control itself is still wanted."""
    words = clause.words
    if "as" not in words[place:]:
        return False
    after = words.index("as", place) + 1
    return any(word in CONTROLS for word in clause.folded[after : after + 4])


def _undone(clause: Clause) -> bool:
    """Whether something is to be left unchecked, unencrypted, ..."""
    if UNDONE.isdisjoint(clause.folded):
        return False
    return clause.words[0] in _WEAKENING or clause.has("permit") or clause.first_person


def _without(clause: Clause) -> bool:
    """Whether something is done without a control."""
    words = clause.words
    if "without" not in words or clause.negations != 1:
        return False
    place = words.index("without")
    governed = clause.folded[place + 1 : place + 6]
    if not any(word in CONTROLS or word in _ASKING for word in governed):
        return False
    acts = not _PROCEEDING.isdisjoint(clause.folded)
    return acts or clause.has("permit") or clause.first_person


def _imperative_negation(clause: Clause) -> bool:
    words = clause.words
    if clause.opening in _CONTRASTS:
        return False
    return (
        words[0] in _IMPERATIVE_NOT
        or words[:2] in {("do", "not"), ("please", "do")}
        or ("never" in words[:3])
    )
