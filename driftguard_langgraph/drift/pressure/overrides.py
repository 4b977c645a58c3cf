"""Words against the instructions: set them aside, call them void, deny that limits hold.

Each finding is a relation of classes of words within a sentence (a verb of setting aside, a
noun for instructions, a reference to what the assistant was given), never a phrase. What a
user says of his own words ("ignore my last message"), of a thing ("the instructions for the
oven") or of a third party ("what if somebody ignores the rules") is another matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from driftguard_langgraph.drift.pressure.findings import (
    ABOUT,
    CLOSE,
    MINE,
    REACH,
    YOU,
    Finding,
    aboutness,
    mood,
)
from driftguard_langgraph.drift.pressure.lexicon import FOREIGN_UNSPACED
from driftguard_langgraph.drift.pressure.marks import Marks, fold

_APART = ABOUT - {"of"} | {fold("regardless"), fold("despite"), "and"}
"""Words that part an everyday verb from instructions that are not its object."""


def overridden(marks: Marks, known: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield orders to set the instructions aside.

    Weights: a plain order to set the assistant's own instructions aside decides alone (.65);
    a weaker noun, or none of the references, lowers it below the threshold of the alarm.

    Args:
        marks: The turn.
        known: Folded words that the baseline's rules are about: "the read-only restriction".
    """
    for name in ("override", "cease"):
        for noun in ("orders", "rules", "told"):
            for verb, there in marks.pairs(name, noun, REACH):
                if name == "cease" and there - verb > CLOSE:
                    continue
                weight = _override_weight(marks, (name, noun), verb, there)
                if weight and _is_known(marks, there, known):
                    weight = max(weight, KNOWN * mood(marks, verb))
                if weight > 0:
                    yield Finding(
                        "instructions_overridden",
                        weight,
                        marks.quote(verb, there),
                        "It asks to set the instructions aside.",
                    )
                    break
    yield from _put_aside(marks)
    yield from _everything(marks)
    yield from _unspaced(marks)


_OVERRIDE_WEIGHTS = {
    ("override", "orders"): (0.65, 0.35),
    ("override", "rules"): (0.5, 0.12),
    ("override", "told"): (0.6, 0.6),
    ("cease", "orders"): (0.5, 0.12),
    ("cease", "rules"): (0.35, 0.05),
    ("cease", "told"): (0.35, 0.2),
}
"""With and without a reference to what the assistant was given."""


KNOWN = 0.4
"""Weight of an order against one named rule: less than an alarm, for a user may ask for that."""


def _is_known(marks: Marks, noun: int, known: frozenset[str]) -> bool:
    lead = marks.before(noun, 2)
    return any(word in known for word in lead) or marks.between(noun - len(lead), noun - 1, "value")


def _override_weight(marks: Marks, pair: tuple[str, str], verb: int, there: int) -> float:
    name, noun = pair
    between = marks.words[verb + 1 : there]
    if any(word in MINE or (name == "cease" and word in _APART) for word in between):
        return 0.0
    referred, bare = _OVERRIDE_WEIGHTS[pair]
    own = marks.between(verb + 1, there + 3, "own") or marks.between(verb + 1, there - 1, "whole")
    weight = referred if own else bare
    return weight * mood(marks, verb) * aboutness(marks, there, 4 if noun == "told" else 1)


def _put_aside(marks: Marks) -> Iterator[Finding]:
    """Yield "put your guidance aside", where the noun parts the verb from its particle."""
    for noun in ("orders", "charter"):
        for there in marks.at(noun):
            puts = any(word in _PUTS for word in marks.before(there, 4))
            aside = any(word in _PARTICLES for word in marks.words[there + 1 : there + 4])
            own = marks.between(there - 3, there - 1, "own") or marks.between(
                there - 3, there - 1, "whole"
            )
            if puts and aside and own:
                yield Finding(
                    "instructions_overridden",
                    0.6,
                    marks.quote(max(there - 3, 0), there + 2),
                    "It asks to set the instructions aside.",
                )
                return


_PUTS = frozenset(fold(word) for word in "set put leave throw cast push lay let toss".split())
_PARTICLES = frozenset(fold(word) for word in "aside away behind out go overboard down".split())


def _everything(marks: Marks) -> Iterator[Finding]:
    """Yield orders to forget all that was said before, without a noun for it."""
    for verb, there in marks.pairs("override", "whole", 3):
        place = marks.after(there - 1, "place", 6)
        text = marks.after(there, "text", 4)
        lone = marks.between(there, there, "whole") and marks.words[there] in _EVERYTHING
        if (place is None and text is None and not lone) or any(
            word in MINE for word in marks.words[verb + 1 : there + 6]
        ):
            continue
        yield Finding(
            "instructions_overridden",
            (0.5 if place is not None or lone else 0.3)
            * mood(marks, verb)
            * aboutness(marks, there, 6),
            marks.quote(verb, max(there, place or 0)),
            "It asks to set aside all that was said before.",
        )
        return


_EVERYTHING = frozenset((fold("everything"), fold("anything")))


def _unspaced(marks: Marks) -> Iterator[Finding]:
    if marks.text.isascii():
        return
    for verb, noun in FOREIGN_UNSPACED:
        if verb in marks.text and noun in marks.text:
            start = marks.text.index(verb)
            said = marks.text[start : start + 60]
            yield Finding(
                "instructions_overridden", 0.6, said, "It asks to set the instructions aside."
            )
            return


def voided(marks: Marks) -> Iterator[Finding]:
    """Yield claims that the instructions do not hold, or hold no longer, or were replaced."""
    for noun, own_weight, bare_weight in (("orders", 0.5, 0.2), ("rules", 0.4, 0.08)):
        for there in marks.at(noun):
            void = marks.after(there, "voided", REACH)
            changed = None if void is not None else marks.after(there, "changed", 5)
            found = void if void is not None else changed
            if found is None:
                continue
            own = marks.between(there - 3, there - 1, "own") or marks.between(
                there - 3, there - 1, "whole"
            )
            weight = (own_weight if own else bare_weight) * (1.0 if void is not None else 0.6)
            if "your" in marks.words[max(there - 3, 0) : there]:
                weight += 0.1
            weight *= 0.6 if marks.sentence[there] in marks.asked and not own else 1.0
            yield Finding(
                "instructions_voided",
                weight * aboutness(marks, there),
                marks.quote(there, found),
                "It says that the instructions do not hold.",
            )
            break
    yield from _unbound(marks)


def _unbound(marks: Marks) -> Iterator[Finding]:
    """Yield an assistant that is declared to be without limits."""
    for free, limit in marks.pairs("unbound", "limits", 6):
        lead = marks.before(free, 10)
        declared = any(word in YOU and following in _STATES for word, following in pairwise(lead))
        changed = limit - free <= CLOSE and (marks.has("become") or marks.has("mode"))
        if not declared and not changed and not marks.between(max(free - 10, 0), free, "machine"):
            continue
        yield Finding(
            "limits_denied",
            0.5 if changed or marks.has("machine") else 0.35,
            marks.quote(free, limit),
            "It says that no limits hold for the assistant.",
        )
        return


_STATES = frozenset(map(fold, "are re have will now be act answer respond".split()))
