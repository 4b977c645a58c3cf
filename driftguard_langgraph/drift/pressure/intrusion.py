"""Words that go past the instructions: get at them, be another, claim a right, keep a secret.

Alone most of these are a suspicion; only a request for the instructions themselves is enough
for an alarm.
"""

from __future__ import annotations

from collections.abc import Iterator

from driftguard_langgraph.drift.pressure.findings import MINE, REACH, YOU, Finding, aboutness, mood
from driftguard_langgraph.drift.pressure.marks import Marks, fold

_ABOVE = fold("above")
_ASKING = frozenset(map(fold, "what which".split()))
_WHO = frozenset(map(fold, "who that whose named called without never".split()))
"""Words that go on to say what the new role may do."""


def becoming(marks: Marks) -> Iterator[Finding]:
    """Yield new roles for the assistant; a role is a suspicion, a mode without limits more."""
    for place in marks.at("become"):
        told = marks.opens(place) or marks.words[place] in YOU
        freed = any(word in _WHO for word in marks.words[place : place + 9])
        yield Finding(
            "role_replaced",
            (0.12 if told else 0.06) + (0.08 if freed else 0.0),
            marks.quote(place, place + 3),
            "It gives the assistant another role.",
        )
        break
    for place in marks.at("mode"):
        strong = marks.has("become") or marks.has("orders") or marks.has("limits")
        yield Finding(
            "mode_claimed",
            0.4 if strong else 0.3,
            marks.quote(place, place + 2),
            "It speaks of a mode in which the instructions do not count.",
        )
        break


def privileged(marks: Marks) -> Iterator[Finding]:
    """Yield claims of a rank or a permission that the instructions do not know."""
    for place in marks.at("rank"):
        lead = marks.before(place, 4)
        mine = any(word in {"im", "am", "this", "as"} for word in lead)
        if not mine or marks.sentence[place] in marks.asked:
            continue
        yours = "your" in lead
        allows = marks.between(place + 1, place + 12, "permit")
        lifts = marks.has("check") or marks.has("override") or marks.has("orders")
        yield Finding(
            "privilege_claimed",
            0.4 if allows and lifts else 0.3 if yours or allows else 0.08,
            marks.quote(place, place + 6),
            "It claims a rank that gives no right here.",
        )
        break
    for verb, check in marks.pairs("cease", "check", 5):
        if any(word in MINE for word in marks.words[verb + 1 : check]):
            continue
        yield _lifted(marks, verb, check)
        return
    for name in ("check", "examined"):
        for verb, check in marks.pairs("override", name, 5):
            yield _lifted(marks, verb, check)
            return


def _lifted(marks: Marks, verb: int, check: int) -> Finding:
    allowed = marks.has("permit") or marks.has("rank")
    return Finding(
        "check_lifted",
        (0.3 if allowed else 0.12) * mood(marks, verb),
        marks.quote(verb, check),
        "It asks to leave out a check.",
    )


def extracting(marks: Marks, *, opening: bool) -> Iterator[Finding]:
    """Yield requests for the instructions themselves.

    Args:
        marks: The turn.
        opening: Whether nothing was said before, so that "the text above" can only be the
            instructions; later it is as a rule the assistant's own answer.
    """
    best: Finding | None = None
    for noun in _EXTRACTED:
        for verb, there in marks.pairs("reveal", noun, REACH):
            weight = _extract_weight(marks, verb, there, noun, opening)
            weight *= 1.0 if marks.words[verb] in _ASKING else mood(marks, verb, question=1.0)
            if weight > (best.weight if best is not None else 0.0):
                best = Finding(
                    "prompt_requested",
                    weight,
                    marks.quote(verb, there),
                    "It asks for the instructions themselves.",
                )
    if best is not None:
        yield best


_EXTRACTED = {"orders": (0.6, 0.4, 0.3), "charter": (0.4, 0.3, 0.05), "text": (0.55, 0.35, 0.0)}
"""Weight of a request for the assistant's own instructions, for what was said before, and for
"the instructions" while nothing else was said; "text" is own if it was given to the assistant."""
LITERAL = 0.15
"""What it adds to ask for what was said before as it stands: who goes on with it needs no copy."""


def _extract_weight(marks: Marks, verb: int, there: int, noun: str, opening: bool) -> float:
    own, before, bare = _EXTRACTED[noun]
    if any(word in MINE for word in marks.words[verb + 1 : there + 1]):
        return 0.0
    yours = any(word in YOU for word in marks.words[verb + 1 : there + 7])
    hidden = marks.between(verb + 1, there + 4, "own")
    primed = _primed(marks, there)
    about = 1.0 if yours and hidden and noun != "text" else aboutness(marks, there, 3)
    if primed or (noun != "text" and (yours or hidden)):
        return own * (1.0 if opening or yours or primed else 0.5) * about
    back = _back(marks, verb + 1, there + 8) if opening else None
    if back is not None:
        about = aboutness(marks, there, max(back - there, 0))
        return (before + (LITERAL if marks.between(verb, there + 8, "verbatim") else 0.0)) * about
    # With nothing said before, "the instructions" can only be the assistant's own.
    return (bare if opening else 0.03 if bare else 0.0) * about


def _primed(marks: Marks, noun: int) -> bool:
    """Whether a text is said to be what the assistant was given: "the message you started with"."""
    place = marks.after(noun, "primed", 9)
    if place is None:
        return False
    around = (*marks.before(place, 3), *marks.words[place + 1 : place + 3])
    return any(word in {"you", "u"} for word in around)


def _back(marks: Marks, first: int, last: int) -> int | None:
    """Return where "above" or the like refers to the text before, and is no place of a thing."""
    for place in marks.at("place"):
        if first <= place <= last:
            following = marks.words[place + 1 : place + 2]
            placed = marks.words[place] == _ABOVE and not marks.opens(place + 1)
            if not (placed and following and following[0] in _DETERMINERS):
                return place
    return None


_DETERMINERS = frozenset(map(fold, "the a an my our his her their each".split()))


def addressed(marks: Marks) -> Iterator[Finding]:
    """Yield where the output of a tool speaks to the machine that reads it."""
    for place in marks.at("machine"):
        called = marks.opens(place) or (place > 0 and marks.words[place - 1] in _CALLS)
        if not called:
            continue
        ordered = marks.between(place, place + 15, "override") or marks.has("conceal")
        told = any(word in _MODALS for word in marks.words[place + 1 : place + 8])
        if not ordered and not told:
            continue
        yield Finding(
            "output_addresses_assistant",
            0.4 if ordered else 0.25,
            marks.quote(place, place + 12),
            "The output of a tool speaks to the assistant that reads it.",
        )
        return


_CALLS = frozenset(map(fold, "to dear attention hey for note all".split()))
_MODALS = frozenset(map(fold, "must should shall please you your never always".split()))


def concealed(marks: Marks) -> Iterator[Finding]:
    """Yield requests to keep something from the user or from others."""
    for place in marks.at("conceal"):
        yield Finding(
            "concealment_asked",
            0.2,
            marks.quote(place, place + 5),
            "It asks to keep something from those who should know.",
        )
        return
