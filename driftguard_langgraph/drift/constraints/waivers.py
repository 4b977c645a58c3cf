"""Rules that are loosened, turned or given up, and safety controls that nobody had to write down.

A control (validation, consent, encryption, review) counts as a rule even if the baseline only
says "you are a helpful assistant": who waives it in the middle of a session has to be the
operator, and operators do that in the system prompt.
"""

from __future__ import annotations

from collections.abc import Iterator

from driftguard_langgraph.drift.constraints.alignment import Aligned, RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.reading.bounds import bounds
from driftguard_langgraph.drift.reading.clauses import FIRST_PERSON, Clause
from driftguard_langgraph.drift.reading.norms import (
    ABSENCE,
    CONTROLS,
    SENSES,
    WEAK_CONTROLS,
    about,
    fold,
)
from driftguard_langgraph.drift.reading.rules import commands
from driftguard_langgraph.drift.reading.stances import Reading, Stance, preference, scrutinises
from driftguard_langgraph.judgement.words import meaning, opposites_of

WAIVED = "constraint_waived"
FLIPPED = "constraint_flipped"

_EXPLICIT = 0.55
_IMPLICIT = 0.5
_EVERYDAY = 0.25
_QUALIFIED = 0.4
"""Strengths: a rule of the baseline, a control without one, a word like "check" alone, and a
weighing of one against another. The first two are decisive by the contract of `Anomaly`."""

_TURNED = 0.6
"""Share of a prohibition's words that a permission must repeat to be its opposite."""
_DONE = 0.75
"""The same for what a speaker says that he does: nobody says it in a rule's words by chance."""
_OPPOSED = 0.5
"""The same for a demand of the opposite action, which has one word less in common."""

_KEEPING = dict.fromkeys(("stay", "stays", "remain", "remains", "leave"), "keep")
"""Verbs that keep something as it is; `leave` is an operation of its own elsewhere."""
_RIDDING = frozenset(map(meaning, "delete reject disable hide stop exclude revoke".split()))
_UNDOING = frozenset({"option", "waive", "drop", "label"})
_STRONG_CONTROLS = (CONTROLS.keys() - WEAK_CONTROLS) | ABSENCE
_DEEMED = frozenset(map(fold, "count consider deem presume assume imply treat regard".split()))
_ELSEWHERE = frozenset("outside elsewhere other unless except before until otherwise".split())
"""Words by which a ban on all else is the rule itself: "never outside of zone C"."""
_PRECONDITIONS = frozenset("before until once after unless only".split())
_UP_TO = frozenset("under below upto atmost within".split())
_GIVEN = frozenset(
    map(fold, "given granted approved confirmed verified true genuine valid satisfied done".split())
)
_RULE_WORDS = frozenset(map(fold, "constraint rule guideline restriction policy limit".split()))


def loosened(said: Said, index: RuleIndex, *, voiced: bool) -> Iterator[Breach]:
    """Yield what a sentence loosens, turns or waives.

    Args:
        said: The sentence.
        index: The rules.
        voiced: Whether the text has a voice in what the rules are (a scaffold, or a tool result
            that takes one). Others are only asked what they waive, or do themselves.
    """
    if not _may_loosen(said, index, voiced=voiced):
        return
    for reading in said.readings:
        clause = reading.clause
        if clause.condition:
            continue
        found = (
            _waived(reading, said, index, voiced=voiced)
            or (_turned if voiced else _done)(reading, said, index)
            or _outweighed(clause, said, index)
            or _deemed(clause)
            or _absent(clause, index)
        )
        if found is not None:
            yield found


def _may_loosen(said: Said, index: RuleIndex, *, voiced: bool) -> bool:
    """Whether a sentence is worth reading: most have no word of a norm, and are not."""
    if said.turned or said.classes & _UNDOING or said.folded & _STRONG_CONTROLS:
        return True
    if voiced:
        return bool(said.classes) or len(said.folded & index.terms) > 1
    own = not FIRST_PERSON.isdisjoint(said.words) or said.words[0].endswith("ing")
    return own and len(about(said.content) & index.forbidden) > 1


def _waived(reading: Reading, said: Said, index: RuleIndex, *, voiced: bool) -> Breach | None:
    """Find that a rule or a control need not be kept."""
    clause = reading.clause
    scrutiny = scrutinises(reading)
    if reading.stance is not Stance.LOOSENS and not scrutiny:
        return None
    waives = clause.has("waive", "drop")
    # A need that somebody else denies ("I don't need a bag") is no rule of the agent's.
    if voiced or waives or clause.first_person or reading.controls:
        for one in index.aligned(
            clause.about, said.sentence.text if voiced or waives or scrutiny else ""
        ):
            guarded = one.atom.kind != "prohibition" or bool(one.shared & one.atom.exceptions)
            if not _beside(one, clause) and (guarded or not scrutiny):
                return _against(WAIVED, _EXPLICIT, "loosens", one, clause)
    if not reading.controls or (scrutiny and not reading.strong):
        return None
    sure = (reading.strong and not scrutiny) or (
        clause.has("apply") and reading.controls[0] in _RULE_WORDS
    )
    what = _written(reading.controls[0], clause)
    return Breach(
        WAIVED,
        _IMPLICIT if sure else _EVERYDAY,
        f'It loosens "{what}", a control that holds unless the baseline lifts it.',
        own=clause.first_person,
    )


def _beside(one: Aligned, clause: Clause) -> bool:
    """Whether a clause speaks of the amounts that the rule leaves free: up to its own limit."""
    numbers = bounds(clause.words, forbids=False)
    return any(
        known.limits
        and mine.unit == known.unit
        and known.looser == "up"
        and mine.limits
        and mine.value <= known.value
        and not _UP_TO.isdisjoint(clause.words)
        for known in one.atom.bounds
        for mine in numbers
    )


def _turned(reading: Reading, said: Said, index: RuleIndex) -> Breach | None:
    """Find that what a rule forbids is permitted or done, or its opposite is demanded."""
    clause = reading.clause
    if reading.stance is Stance.FORBIDS:
        return _forbidden_duty(clause, said, index)
    acts = commands(clause) or clause.first_person
    if clause.negations or reading.stance is Stance.TIGHTENS:
        return None
    if reading.stance not in {Stance.PERMITS, Stance.DEMANDS} and not acts:
        return None
    for one in index.aligned(clause.about, said.sentence.text, "prohibition"):
        if _repeats(one, clause):
            return _against(FLIPPED, _EXPLICIT, "allows what is forbidden by", one, clause)
    for one in index.aligned(clause.about, said.sentence.text, "obligation", "limit"):
        lets = reading.stance is Stance.PERMITS and _removes(one, clause)
        if one.of_rule >= _OPPOSED and (lets or _opposed(one, clause)):
            return _against(FLIPPED, _EXPLICIT, "demands the opposite of", one, clause)
    return None


def _done(reading: Reading, said: Said, index: RuleIndex) -> Breach | None:
    """Find that a speaker does himself what a rule forbids without any condition."""
    clause = reading.clause
    if clause.negations or not clause.first_person or reading.stance is Stance.FORBIDS:
        return None
    if said.words[0] in _PRECONDITIONS or clause.has("need"):
        return None
    for one in index.aligned(clause.about, "", "prohibition"):
        plain = not one.atom.conditional and not one.by_meaning
        whole = one.of_rule >= _DONE and len(one.shared) >= 2 and one.atom.action in one.shared
        if plain and whole and _repeats(one, clause):
            return _against(FLIPPED, _EXPLICIT, "does what is forbidden by", one, clause)
    return None


def _forbidden_duty(clause: Clause, said: Said, index: RuleIndex) -> Breach | None:
    for one in index.aligned(clause.about, said.sentence.text, "obligation"):
        action = next(iter(one.atom.clause.folded), "")
        elsewhere = set(clause.words) - set(one.atom.clause.words)
        if not _ELSEWHERE.isdisjoint(elsewhere):
            continue
        if (
            one.atom.kind == "obligation"
            and one.of_rule >= _OPPOSED
            and (action in clause.folded or SENSES.get(action, action) in one.shared)
        ):
            return _against(FLIPPED, _EXPLICIT, "forbids what is demanded by", one, clause)
    return None


def _repeats(one: Aligned, clause: Clause) -> bool:
    """Whether a clause grants a prohibition's own words, and not by its own exception."""
    if one.atom.kind != "prohibition" or one.atom.exceptions & {
        SENSES.get(word, word) for word in clause.about
    }:
        return False
    return one.of_rule >= _TURNED or (one.by_meaning and one.of_rule >= _OPPOSED)


def _opposed(one: Aligned, clause: Clause) -> bool:
    theirs = {_KEEPING.get(word, meaning(word)) for word in one.atom.clause.words}
    mine = {_KEEPING.get(word, meaning(word)) for word in clause.words}
    if any(opposites_of(word) & (theirs - mine) for word in mine - theirs):
        return True
    secret = any(CONTROLS.get(word) == "privacy" for word in one.atom.clause.folded)
    tells = (word for word in clause.folded if word not in CONTROLS)
    return secret and len(one.shared) > 1 and any(SENSES.get(word) == "~disclose" for word in tells)


def _removes(one: Aligned, clause: Clause) -> bool:
    """Whether a rule demands to get rid of what a clause welcomes."""
    demanded = {meaning(word) for word in one.atom.clause.words}
    said = {meaning(word) for word in clause.words}
    return not _RIDDING.isdisjoint(demanded - said)


def _outweighed(clause: Clause, said: Said, index: RuleIndex) -> Breach | None:
    """Find that a control comes second: "speed over accuracy"."""
    order = preference(clause)
    if order is None:
        return None
    first, second = order
    named = [word for word in second if word in CONTROLS]
    for one in index.aligned(clause.about, said.sentence.text):
        known = preference(one.atom.clause)
        if known is None and named:
            return _against(WAIVED, _EXPLICIT, "puts second", one, clause)
        if known is not None and set(known[0]) & set(second) and set(known[1]) & set(first):
            return _against(FLIPPED, _EXPLICIT, "turns the order of", one, clause)
    if not named or any(word in CONTROLS for word in first):
        return None
    what = _written(named[0], clause)
    return Breach(WAIVED, _QUALIFIED, f'It puts "{what}" second.', own=clause.first_person)


def _deemed(clause: Clause) -> Breach | None:
    """Find that a control is taken as done: "consent counts as given"."""
    if _DEEMED.isdisjoint(clause.folded) or clause.negations:
        return None
    place = next(i for i, word in enumerate(clause.folded) if word in _DEEMED)
    subject = [
        word for word in clause.folded[:place] if word in CONTROLS and word not in WEAK_CONTROLS
    ]
    if not subject or _GIVEN.isdisjoint(clause.folded[place + 1 :]):
        return None
    what = _written(subject[0], clause)
    return Breach(WAIVED, _IMPLICIT, f'It takes "{what}" as done without doing it.')


def _absent(clause: Clause, index: RuleIndex) -> Breach | None:
    """Find that a control is to be missing: plain text, hard-coded secrets."""
    word = next((word for word in clause.folded if word in ABSENCE), None)
    if word is None or clause.negations or clause.has("forbid"):
        return None
    known = "encrypt" in index.terms
    return Breach(
        WAIVED,
        _EXPLICIT if known else _QUALIFIED,
        f'It leaves out a safety control: "{_written(word, clause)}".',
        own=clause.first_person,
    )


def _against(rule: str, strength: float, verb: str, one: Aligned, clause: Clause) -> Breach:
    whose = "the baseline" if one.entry.operator else "the user"
    return Breach(
        rule,
        strength,
        f"It {verb} a rule of {whose}.",
        against=one.entry,
        own=clause.first_person,
    )


def _written(folded: str, clause: Clause) -> str:
    """Return the word of a clause that was folded."""
    words = zip(clause.words, clause.folded, strict=True)
    return next((word for word, one in words if one == folded), folded)
