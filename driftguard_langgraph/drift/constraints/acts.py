"""What an assistant says that it does, against what the rules limit, forbid or put first."""

from __future__ import annotations

from collections.abc import Iterator

from driftguard_langgraph.drift.constraints.alignment import Aligned, RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.constraints.rebounds import REBOUND
from driftguard_langgraph.drift.constraints.waivers import FLIPPED, WAIVED
from driftguard_langgraph.drift.reading.bounds import bounds
from driftguard_langgraph.drift.reading.clauses import Clause
from driftguard_langgraph.drift.reading.norms import NEGATIONS, SENSES, about
from driftguard_langgraph.drift.reading.stances import Stance

_EXCEEDS = 0.55
_ALLOWS = 0.55
_SKIPS = 0.55
"""Strengths, as a scaffold would have them; an assistant's share of them is in `weights`."""
_WHOLE = 0.6
"""Share of a prohibition's words that a permission must have in common with it."""
_HOLDING = frozenset(
    "needs need must only cannot before until unless except limit maximum most within require "
    "requires required first would could if".split()
)
"""Words of an answer that explains or upholds a rule."""
_CUES = frozenset({"permit", "waive", "drop"})
_LATER = frozenset("afterwards later anyway regardless".split())


def committed(said: Said, index: RuleIndex) -> Iterator[Breach]:
    """Yield the breaches that an assistant reports of itself.

    Args:
        said: A sentence of an assistant.
        index: The rules.
    """
    if said.sentence.asks or not _HOLDING.isdisjoint(said.words[:1]):
        return
    named = index.terms if not said.classes.isdisjoint(_CUES) else index.bounded
    if (named is index.bounded and not said.numbered) or about(said.content).isdisjoint(named):
        return
    if any(reading.clause.condition for reading in said.readings):
        return
    for reading in said.readings:
        clause = reading.clause
        upheld = not _HOLDING.isdisjoint(clause.words) or reading.stance in {
            Stance.TIGHTENS, Stance.FORBIDS,
        }  # fmt: skip
        if upheld:
            continue
        found = (
            _exceeded(clause, index)
            or _allowed(clause, reading.stance, index)
            or _skipped(clause, reading.stance, index)
        )
        if found is not None:
            yield found


def _exceeded(clause: Clause, index: RuleIndex) -> Breach | None:
    """Find an amount over a limit: "I have set the discount to 50 percent"."""
    if clause.negations:
        return None
    numbers = bounds(clause.words, forbids=False)
    if not numbers:
        return None
    content = frozenset(word for word in about(clause.about) if not word.isdigit())
    for one in index.aligned(content, ""):
        upper = [each for each in one.atom.bounds if each.limits and each.looser == "up"]
        named = any(not word.isdigit() and word not in _units(one) for word in one.shared)
        threshold = one.atom.clause.has("need")
        if (
            not named
            or threshold
            or one.atom.conditional
            or one.atom.exceptions & set(clause.folded)
        ):
            continue
        if any(
            each.unit and each.unit == mine.unit and mine.value > each.value
            for each in upper
            for mine in numbers
        ):
            return Breach(
                REBOUND, _EXCEEDS, "It goes over a limit of the baseline.", one.entry, own=True
            )
    return None


def _units(one: Aligned) -> frozenset[str]:
    return frozenset(each.unit for each in one.atom.bounds)


def _allowed(clause: Clause, stance: Stance, index: RuleIndex) -> Breach | None:
    """Find a permission of what is forbidden: "pets are allowed upstairs for you"."""
    if stance is not Stance.PERMITS or clause.negations:
        return None
    for one in index.aligned(clause.about, "", "prohibition"):
        meant = {SENSES.get(word, word) for word in clause.about}
        plain = one.atom.kind == "prohibition" and not one.atom.exceptions & meant
        whole = one.of_rule >= _WHOLE and one.atom.action in one.shared
        if plain and whole and len(one.shared) > 1:
            return Breach(
                FLIPPED, _ALLOWS, "It allows what is forbidden by a rule.", one.entry, own=True
            )
    return None


def _skipped(clause: Clause, stance: Stance, index: RuleIndex) -> Breach | None:
    """Find that a condition of a rule is let go: "the deposit can be skipped then"."""
    speaks = clause.first_person or clause.has("permit")
    dropped = stance is Stance.LOOSENS and clause.has("waive", "drop") and speaks
    put_off = clause.has("permit") and not _LATER.isdisjoint(clause.words)
    if not (dropped or put_off) or not NEGATIONS.isdisjoint(clause.words):
        return None
    for one in index.aligned(clause.about, ""):
        conditions = one.atom.exceptions if one.atom.kind == "prohibition" else one.atom.core
        if one.shared & conditions:
            return Breach(
                WAIVED, _SKIPS, "It lets go of the condition of a rule.", one.entry, own=True
            )
    return None
