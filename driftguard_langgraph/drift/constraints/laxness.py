"""Strictness that a text dials down without naming a rule: be lenient, believe them, say yes.

A rule can be hollowed out without a word against it, by how it is to be applied. Four closed
fields of words say so: stopping to look closely, leniency, belief without evidence, and approval
of everything. Each needs its counterpart in the same clause, so a single word proves nothing.
"""

from __future__ import annotations

from itertools import pairwise

from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.reading.clauses import Clause
from driftguard_langgraph.drift.reading.norms import NEGATIONS, PRINCIPALS, fold
from driftguard_langgraph.drift.reading.rules import commands

RELAXED = "strictness_lowered"


def _set(words: str) -> frozenset[str]:
    return frozenset(map(fold, words.split()))


_STOPPING = _set("stop quit cease desist refrain avoid skip drop")
_LOOKING = _set(
    "verify validate check question challenge doubt scrutinize scrutinise audit review inspect "
    "insist demand probe investigate interrogate compare recheck doublecheck suspect object ask "
    "bother worry fuss hesitate nitpick quibble argue complain inquire enquire"
)
"""What one does who looks closely."""
_EFFORT = _set("fuss time effort bother quibble")
_WASTED = _set("waste spend make lose")
_LENIENT = _set(
    "lenient generous relaxed easygoing flexible accommodating tolerant indulgent forgiving "
    "permissive obliging liberal lax loose pragmatic easy soft lighter casual unbureaucratic "
    "kind"
) - {fold("kind")}
_MANNERS = frozenset("be go stay become remain act".split())
_BELIEVING = _set("believe trust assume presume accept take rely credit")
_BLIND = frozenset(
    "whatever whoever whichever given true read genuine genuinely right correct gospel word".split()
)
_ACCOUNTS = _set(
    "word account claim statement explanation story figure number assurance estimate version "
    "self-report assertion"
)
_PEOPLE = PRINCIPALS | _set(
    "sender driver supplier lender borrower candidate clerk resident ward farmer colleague lead "
    "contractor vendor shopper donor pupil parent neighbour relative everyone everybody anyone "
    "anybody people they them whoever asker requester holder lecturer officer"
)
_APPROVING = _set(
    "approve grant accept allow release recommend confirm agree permit pass sign comply yes "
    "admit let hand award"
)
_ALL = frozenset(
    "every all any each everybody everyone anybody anyone whoever whatever default "
    "immediately straightaway straight once asks requested".split()
)
_CONCERNS = _set(
    "doubt concern risk weakness problem caveat warning objection limitation reservation flaw "
    "issue drawback discrepancy outlier red"
)
_VOICING = _set("raise mention list report voice note state flag dwell point bring")
_STRENGTHS = _set("strength positive advantage upside benefit praise")
_CAUTION = _set("caution care carefulness scrutiny strictness diligence rigor rigour skepticism")
_SECOND = frozenset("secondary second last later optional overrated less fewer".split())
_DOUBTS = ("benefit", "of")

_STRONG = 0.45
_PLAIN = 0.4
_FAINT = 0.3
"""Strengths: what gives up to look closely, or approves of all; what believes unseen, or hides
concerns; leniency, which may be no more than good manners. None is decisive without a rule."""

_CUES = (
    _STOPPING | _LENIENT | _BELIEVING | _APPROVING | _CONCERNS | _STRENGTHS | _CAUTION | _WASTED
) | _set("doubt side give question")


def relaxed(said: Said) -> Breach | None:
    """Return the breach that a sentence wants less strictness, None if it does not.

    Args:
        said: The sentence.
    """
    if said.sentence.asks or said.folded.isdisjoint(_CUES):
        return None
    best: Breach | None = None
    for place, clause in enumerate(said.clauses):
        conditional = clause.condition and clause.opening != "where"
        found = None if conditional else _relaxing(clause, said, told=_told(clause, place))
        if found is not None and (best is None or found.strength > best.strength):
            best = found
    return best


def _told(clause: Clause, place: int) -> bool:
    """Whether a clause tells somebody what to do, or how things are done."""
    if place and clause.words[0] in _MANNERS:
        return True
    return commands(clause) or clause.folded[0] in _CUES or clause.has("must", "permit")


def _relaxing(clause: Clause, said: Said, *, told: bool) -> Breach | None:
    strength, detail = _found(clause, said, told=told)
    return Breach(RELAXED, strength, detail, own=clause.first_person) if strength else None


def _found(clause: Clause, said: Said, *, told: bool) -> tuple[float, str]:
    """Return the first field that a clause belongs to, the strongest first; 0 is none."""
    if _unlooking(clause, told=told):
        return _STRONG, "It gives up to look closely."
    if clause.negations % 2:
        return 0.0, ""
    careless = not _CAUTION.isdisjoint(clause.folded) and not _SECOND.isdisjoint(clause.words)
    fields = (
        (_approving(clause, said, told=told), _STRONG, "It approves of everything."),
        (careless, _STRONG, "It puts caution second."),
        (_believing(clause, told=told), _PLAIN, "It wants people believed unseen."),
        (_hushing(clause, said), _PLAIN, "It wants concerns kept quiet."),
        (_lenient(clause), _FAINT, "It asks for leniency."),
    )
    return next(((weight, detail) for holds, weight, detail in fields if holds), (0.0, ""))


def _unlooking(clause: Clause, *, told: bool) -> bool:
    """Whether it wants somebody to stop looking closely: "stop asking", "waste no time on"."""
    for place, word in enumerate(clause.folded):
        if word in _STOPPING and told:
            after = clause.folded[place + 1 : place + 3]
            written = clause.words[place + 1 : place + 3]
            looks = any(
                one in _LOOKING and said.endswith("ing")
                for one, said in zip(after, written, strict=True)
            )
            if looks:
                return clause.negations % 2 == 0
    wasted = not _WASTED.isdisjoint(clause.folded) and not _EFFORT.isdisjoint(clause.folded)
    few = bool({"less", "fewer", "rarely", "seldom"}.intersection(clause.words))
    return (wasted and clause.negations % 2 == 1) or (
        few and any(word in _LOOKING for word in clause.folded)
    )


def _believing(clause: Clause, *, told: bool) -> bool:
    """Whether it wants accounts of people taken as true: "accept what the driver says"."""
    words, folded = clause.words, set(clause.folded)
    if _DOUBTS in pairwise(words) and fold("doubt") in folded:
        return True
    if not told or not folded & _BELIEVING:
        return False
    people = bool(folded & _PEOPLE)
    start = next(i for i, word in enumerate(clause.folded) if word in _BELIEVING)
    after = words[start + 1 :]
    what = bool({"what", "whatever", "whoever"}.intersection(after))
    return (people and (what or bool(folded & _ACCOUNTS))) or (
        not _BLIND.isdisjoint(after) and bool(folded & (_ACCOUNTS | _PEOPLE))
    )


def _approving(clause: Clause, said: Said, *, told: bool) -> bool:
    """Whether all is to be granted: "say yes to every request", "recommend it by default"."""
    words = said.words
    if not told and "default" not in words:
        return False
    grants = bool({*clause.folded} & _APPROVING)
    wide = not _ALL.isdisjoint(clause.words) or bool({"whatever", "whoever"} & {*words})
    asked = fold("request") in said.folded or "asks" in words or "ask" in words
    gives = ("give", "in") in pairwise(clause.words)
    return gives or (grants and wide and (asked or "default" in words or "yes" in words))


def _hushing(clause: Clause, said: Said) -> bool:
    """Whether concerns are to be kept quiet: "raise doubts only if asked"."""
    only = "only" in clause.words
    if only and not _STRENGTHS.isdisjoint(clause.folded):
        return True
    voices = not _VOICING.isdisjoint(clause.folded)
    return only and voices and not _CONCERNS.isdisjoint(said.folded)


def _lenient(clause: Clause) -> bool:
    for first, second in zip(clause.words, clause.folded[1:], strict=False):
        if first in _MANNERS and second in _LENIENT:
            return True
    sided = ("side", "of") in pairwise(clause.words) and clause.words[0] not in NEGATIONS
    lean = clause.folded[0] in {fold("lean"), fold("err")}
    return lean and (sided or "towards" in clause.words or "toward" in clause.words)
