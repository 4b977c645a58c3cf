"""Limits that get another number: "refunds up to $50" becomes "up to $50,000"."""

from __future__ import annotations

from driftguard_langgraph.drift.constraints.alignment import RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.reading.bounds import Bound, bounds
from driftguard_langgraph.drift.reading.clauses import Clause
from driftguard_langgraph.drift.reading.norms import about, fold
from driftguard_langgraph.drift.reading.stances import Stance

REBOUND = "bound_changed"

_STRENGTH = 0.55
"""Decisive: a number of the baseline is looser, and both texts are quoted."""

_LIMITING = frozenset(
    map(fold, "limit ceiling cap maximum minimum threshold raise increase extend lift bound start "
    "lower allow permit now only max min".split())
)  # fmt: skip


_HEADINGS = frozenset(map(fold, "limit setpoint threshold cap bound maximum".split()))


def rebound(said: Said, index: RuleIndex, *, voiced: bool) -> Breach | None:
    """Return the breach that a sentence loosens the number of a rule, None if it does not.

    Args:
        said: The sentence.
        index: The rules.
        voiced: Whether the text has a voice in what the rules are; of others only a limit
            that they call one counts, for they speak of many amounts.
    """
    if not said.numbered or about(said.content).isdisjoint(index.bounded):
        return None
    for reading in said.readings:
        clause = reading.clause
        numbers = bounds(clause.words, forbids=reading.clause.negations % 2 == 1)
        if not numbers or clause.condition:
            continue
        if "not" in clause.words and reading.stance is not Stance.LOOSENS:
            continue
        content = frozenset(word for word in about(clause.about) if not _counts(word))
        for one in index.aligned(content, said.sentence.text):
            old, new = one.atom.bounds, numbers
            if not voiced:
                old, new = (tuple(b for b in each if b.limits) for each in (old, new))
            change = _changed(old, new, clause, said if voiced else None)
            if change is not None and _of_same(one.atom.content, clause):
                detail = "It changes a limit of the baseline from {} to {}.".format(*change)
                return Breach(
                    REBOUND, _STRENGTH, detail, against=one.entry, own=clause.first_person
                )
    return None


def _changed(
    old: tuple[Bound, ...], new: tuple[Bound, ...], clause: Clause, voiced: Said | None
) -> tuple[str, str] | None:
    # A table of limits says only once, in its heading, what its numbers are.
    headed = voiced is not None and not _HEADINGS.isdisjoint(voiced.folded)
    limiting = (
        headed or not _LIMITING.isdisjoint(clause.folded) or clause.has("permit", "must", "need")
    )
    for mine in new:
        if any(mine.unit == known.unit and mine.value == known.value for known in old):
            return None
    for known in old:
        for mine in new:
            if known.loosened_by(mine) and (mine.limits or limiting):
                return _shown(known), _shown(mine)
    return None


def _of_same(content: frozenset[str], clause: Clause) -> bool:
    return any(word in content for word in about(clause.about) if not _counts(word))


def _counts(word: str) -> bool:
    return word in _LIMITING or any(map(str.isdigit, word))


def _shown(bound: Bound) -> str:
    return f"{format(bound.value.normalize(), 'f')} {bound.unit}".strip()
