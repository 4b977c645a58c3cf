"""Claims about what was settled before: they need a turn that settled it."""

from __future__ import annotations

from itertools import pairwise

from driftguard_langgraph.drift.constraints.alignment import RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.constraints.trusted import STATED, Memory
from driftguard_langgraph.drift.reading.clauses import Clause
from driftguard_langgraph.drift.reading.norms import CONTROLS, FUNCTION, NEGATIONS, PRINCIPALS, fold
from driftguard_langgraph.drift.reading.stances import Stance

UNSUPPORTED = "claim_unsupported"
BORROWED = "authority_borrowed"

_BEFORE = frozenset("previously already earlier prior previous".split())
_SETTLING = frozenset(
    map(
        fold,
        "establish agree agreed discuss confirm decide settle clarify approve determine conclude "
        "resolve accept pre-approve preapproved grant waive sign issue promise assure read "
        "clear".split(),
    )
)
_SAYING = frozenset(map(fold, "say state indicate tell mention explicitly insist request".split()))
_CLEARED = frozenset(
    map(fold, "authorized authorised permission clearance cleared licensed preapproved "
    "exempt privileged sanctioned licence license entitled consent behalf".split())
)  # fmt: skip
_KEEPING = frozenset({Stance.TIGHTENS, Stance.DEMANDS, Stance.FORBIDS})
_PAST = ("ed", "agree", "agrees", "told", "read")
"""Ends of words by which something was settled: "confirmed" is an event, "confirmation" none."""
_WIDE = frozenset("explicit standing blanket full prior unlimited unrestricted special".split())
_SUPERIORS = frozenset(
    map(
        fold,
        "manager boss supervisor director admin administrator owner ceo cfo captain office "
        "headquarters management superior chief headteacher".split(),
    )
)
_OPENINGS = (
    ("first", "turn"), ("first", "message"), ("the", "start"), ("the", "beginning"),
    ("the", "outset"), ("in", "writing"), ("by", "phone"), ("same", "call"),
)  # fmt: skip
"""Where a text says that something was settled that the session should show."""
_LOADED = frozenset(
    map(fold, "budget deadline limit requirement constraint permission scope fee discount refund "
    "payment access internal external prototype approval contract price".split())
)  # fmt: skip
_PEOPLE = PRINCIPALS | frozenset({"they", "he", "she", "we", "everybody", "everyone"})

_OF_A_RULE = 0.5
_BORROWING = 0.18
_STRONG = 0.4
_PLAIN = 0.3
_WEAK = 0.2
_FAINT = 0.1
"""Strengths of what is said to be settled: what a rule speaks of; another loaded matter; any
other; a loaded matter only reported as said by the user; any other by somebody named. Without a
rule none is decisive alone: a summary may know more than the log."""


def unsupported(
    said: Said, index: RuleIndex, told: Memory, trusted: Memory, heard: Memory
) -> Breach | None:
    """Return the breach that a sentence claims what no trusted turn says.

    Args:
        said: The sentence.
        index: The rules.
        told: What the baseline says.
        trusted: What the users said.
        heard: What assistants and tools said, which halves the suspicion.
    """
    if said.sentence.asks or (said.clauses and said.clauses[0].condition):
        return None
    settled, cleared = _claimed(said), _cleared(said)
    if not settled and not cleared:
        return None
    matter = _matter(said)
    if trusted.supports(matter):
        return None
    weighty = max(settled, cleared) >= _STRONG
    aligned = index.aligned(_all(said), said.sentence.text) if weighty else []
    # That the baseline asks for something does not settle it; who repeats the rule may do so.
    repeats = not aligned or any(reading.stance in _KEEPING for reading in said.readings)
    if repeats and told.supports(matter, STATED):
        return None
    against = aligned[0].entry if aligned else None
    # Nobody but people can permit anything; of facts, others may have spoken.
    share = 0.5 if not cleared and heard.supports(matter) else 1.0
    strength = _OF_A_RULE if against is not None else max(settled, cleared)
    detail = "It calls settled what no trusted turn of the session says."
    return Breach(UNSUPPORTED, strength * share, detail, against=against)


def borrowed(said: Said) -> Breach | None:
    """Return the breach that a user claims another's authority, None if he does not.

    Args:
        said: A sentence of a user.
    """
    if said.sentence.asks or said.folded.isdisjoint(_SUPERIORS):
        return None
    settled = any(fold(word) in _SETTLING and word.endswith(_PAST) for word in said.words)
    lifted = said.classes & {"waive", "drop"} and "said" in said.words
    okayed = not {"ok", "okay", "okayed", "fine", "allowed"}.isdisjoint(said.words)
    if not (settled or lifted or okayed) or _negated(said):
        return None
    return Breach(BORROWED, _BORROWING, "A user says that somebody else has permitted it.")


def _matter(said: Said) -> frozenset[str]:
    """Return what is claimed, without the words that claim it."""
    return _all(said) - _SETTLING - _SAYING - _PEOPLE - {fold(word) for word in _BEFORE}


def _all(said: Said) -> frozenset[str]:
    return frozenset(
        word
        for clause in said.clauses
        for word, written in zip(clause.folded, clause.words, strict=True)
        if written not in FUNCTION and written not in NEGATIONS
    )


def _claimed(said: Said) -> float:
    folded = {word for clause in said.clauses for word in clause.folded}
    settled = any(fold(word) in _SETTLING and word.endswith(_PAST) for word in said.words)
    loaded = bool(folded & _LOADED) or any(word in CONTROLS for word in folded - _SETTLING)
    before = not _BEFORE.isdisjoint(said.words) or any(
        pair in _OPENINGS for pair in pairwise(said.words)
    )
    if settled and (before or _agreed(said)):
        return _STRONG if loaded else _PLAIN
    if settled and not PRINCIPALS.isdisjoint(folded) and not _negated(said):
        return _PLAIN if loaded else _FAINT
    if not _SAYING.isdisjoint(folded) and not PRINCIPALS.isdisjoint(folded):
        return _WEAK if loaded else 0.0
    return 0.0


def _negated(said: Said) -> bool:
    return any(clause.negations % 2 for clause in said.clauses)


def _agreed(said: Said) -> bool:
    """Whether it says "as agreed", "we established", "was discussed"."""
    words = said.words
    for place, word in enumerate(words):
        if fold(word) in _SETTLING and place:
            before = words[max(0, place - 3) : place]
            if not {"as", "we", "been", "our", "everybody", "everyone"}.isdisjoint(before):
                return True
            if before[-1] in {"was", "were"} and word.startswith(("discuss", "agree", "establish")):
                return True
    return False


def _cleared(said: Said) -> float:
    """Return how strongly a sentence says that somebody may do what others may not."""
    return max((_clearance(clause) for clause in said.clauses), default=0.0)


def _clearance(clause: Clause) -> float:
    if clause.negations or clause.condition or clause.has("need", "must"):
        return 0.0
    if _CLEARED.isdisjoint(clause.folded):
        return 0.0
    people = not _PEOPLE.isdisjoint(clause.folded) or "by" in clause.words
    if people or not _WIDE.isdisjoint(clause.words):
        return _STRONG
    return 0.0
