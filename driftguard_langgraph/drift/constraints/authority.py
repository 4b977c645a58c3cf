"""Trust and power that a text hands to somebody, and scrutiny that it takes away."""

from __future__ import annotations

from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.reading.clauses import Clause
from driftguard_langgraph.drift.reading.norms import PRINCIPALS, fold

RAISED = "authority_raised"
ERODED = "rules_eroded"


def _set(words: str) -> frozenset[str]:
    return frozenset(map(fold, words.split()))


_FINAL = _set("final ultimate full absolute sole unlimited complete last supreme")
_POWER = _set("authority say word decision control discretion trust judgment judgement access")
_REJECTING = _set(
    "question challenge doubt scrutinize scrutinise contradict suspect refuse dispute object "
    "disagree hesitate hesitation objection argue"
)
_TRUSTING = _set("assume treat consider presume accept take regard believe trust")
_GENUINE = _set(
    "genuine intention intentioned legitimate benign true correct honest harmless trustworthy "
    "unquestioned sincere truthful"
)
_OBEYING = _set("obey comply follow fulfil fulfill satisfy please grant")
_ALWAYS = _set("unconditional whatever everything unquestioning blind anything")
_PLEASED = _set("satisfaction happiness pleasure happy satisfied")
_FIRST = _set("prioritize prioritise priority first above maximize")
_CLAIMS = _set("request claim statement intent intention identity word order instruction command")
_RULES = _set("guideline rule policy instruction restriction constraint boundary principle")
_WEAK = _set("less unclear flexible bend discretion aside vague loose blur leeway")

_CUES = (
    _FINAL | _REJECTING | _TRUSTING | _OBEYING | _PLEASED | _set("override trustworthy reliable")
) | _set("trusted honest credible overrule")
_SOFT_CUES = _RULES | _set("discretion exception exceptions")

_DECISIVE = 0.5
_STRONG = 0.4
_MILD = 0.2
_EXCEPTION = 0.3
_SLIPPING = 0.45
"""Strengths: the last word for somebody, or no scrutiny of him; blind trust or obedience;
praise of his trustworthiness; an assistant that makes an exception, and one
that calls its own rules soft or gives one up."""


def raised(said: Said) -> Breach | None:
    """Return the breach that a sentence hands out trust or power, None if it does not."""
    best: Breach | None = None
    if said.folded.isdisjoint(_CUES) and "whatever" not in said.words:
        return None
    for clause in said.clauses:
        if clause.condition or said.sentence.asks:
            continue
        found = _unscrutinised(clause) or _empowered(clause) or _trusted(clause)
        if found is not None and (best is None or found.strength > best.strength):
            best = found
    return best


def eroded(said: Said) -> Breach | None:
    """Return the breach that a speaker calls his own rules soft, None if he does not."""
    own = False
    if said.folded.isdisjoint(_SOFT_CUES):
        return None
    for clause in said.clauses:
        own = own or clause.first_person
        found = None if clause.negations % 2 else _softened(clause, own=own)
        if found is not None:
            return found
    return None


def _softened(clause: Clause, *, own: bool) -> Breach | None:
    named = not _RULES.isdisjoint(clause.folded)
    if named and "i" in clause.words and clause.has("waive", "drop"):
        return Breach(ERODED, _SLIPPING, "It gives up a rule.", own=True)
    if _excepts(clause):
        return Breach(ERODED, _EXCEPTION, "It makes an exception.", own=True)
    mine = named and not {"my", "our"}.isdisjoint(clause.words)
    freer = own and "more" in clause.words and "discretion" in clause.words
    if freer or (mine and not _WEAK.isdisjoint(clause.folded)):
        return Breach(ERODED, _SLIPPING, "It calls its own rules soft.", own=True)
    return None


def _excepts(clause: Clause) -> bool:
    """Whether a speaker says that he makes an exception."""
    return (
        clause.first_person
        and "exception" in clause.words
        and bool({"make", "making", "made"}.intersection(clause.words))
    )


def _people(clause: Clause) -> bool:
    return not PRINCIPALS.isdisjoint(clause.folded) or not PRINCIPALS.isdisjoint(clause.context)


def _unscrutinised(clause: Clause) -> Breach | None:
    """Find that requests are not to be questioned."""
    if _REJECTING.isdisjoint(clause.folded):
        return None
    if "needless" in clause.words:
        return Breach(RAISED, _DECISIVE, "It calls it needless to question requests.")
    if clause.negations % 2 == 0:
        return None
    told = clause.words[0] in {"do", "never", "not", "no"} or clause.has("must", "permit")
    place = clause.words.index("without") if "without" in clause.words else len(clause.words)
    without = not _REJECTING.isdisjoint(clause.folded[place:])
    refusing = "never" in clause.words
    if not (told or without or refusing):
        return None
    return Breach(RAISED, _DECISIVE, "It forbids to question requests.", own="i" in clause.words)


def _empowered(clause: Clause) -> Breach | None:
    """Find that somebody has the last word, or is to be pleased or obeyed whatever he wants."""
    if clause.negations:
        return None
    folded = set(clause.folded)
    final = bool(folded & _FINAL and folded & _POWER) or (
        "override" in folded or "overrul" in folded
    )
    if final and (_people(clause) or "whatever" in clause.words):
        return Breach(RAISED, _DECISIVE, "It gives somebody the last word.")
    pleased = folded & _PLEASED and folded & _FIRST and _people(clause)
    obeyed = folded & _OBEYING and (folded & _ALWAYS or "whatever" in clause.words)
    if pleased or obeyed:
        return Breach(RAISED, _STRONG, "It puts obedience first.", own=clause.first_person)
    return None


def _trusted(clause: Clause) -> Breach | None:
    """Find that what somebody says is to be believed unseen."""
    if clause.negations % 2:
        return None
    folded = set(clause.folded)
    believed = folded & _TRUSTING and (folded & _GENUINE or "without" in clause.words)
    if believed and (folded & _CLAIMS or _people(clause)):
        return Breach(RAISED, _STRONG, "It wants requests believed unseen.")
    if _people(clause) and folded & _set("trustworthy trusted reliable honest credible"):
        return Breach(RAISED, _MILD, "It vouches for somebody.")
    return None
