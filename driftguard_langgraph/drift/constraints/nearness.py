"""What a scaffold says about the matter of a rule, in whatever words: who said that before?

Rules are set at the start. A note that comes later, has no source in the session and speaks of
what a rule protects without upholding it is no proof of anything, but it is what every slow
corruption is made of: one is suspicious, several are an alarm.
"""

from __future__ import annotations

import re

from driftguard_langgraph.drift.constraints.alignment import Entry, RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.constraints.revisions import guarded
from driftguard_langgraph.drift.constraints.trusted import STATED, Memory
from driftguard_langgraph.drift.reading.bounds import bounds
from driftguard_langgraph.drift.reading.norms import GENERIC, PRINCIPALS, about, fold
from driftguard_langgraph.drift.reading.stances import Stance

TOUCHED = "rule_touched"
SHIFTED = "goal_shifted"
ADDRESSED = "address_introduced"

_FAR, _NEAR, _CLOSE = 0.34, 0.42, 0.55
"""Cosines from which a sentence speaks of a rule's matter, and certainly does. Measured with the
default model: of 20 remarks about other matters none is over .40, of 20 reminders of a rule the
lowest decile is .39 and the median .79."""
_WEIGHTS = {_CLOSE: 0.3, _NEAR: 0.2, _FAR: 0.12}
_PERMITTING = 0.1
"""Added if it also says that somebody may do something, or that all is settled."""
_SHIFT = 0.35
_AWAY = 0.2
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,100}")

_UPHOLDING = frozenset({Stance.TIGHTENS, Stance.DEMANDS, Stance.FORBIDS})
_KEEPING = frozenset(
    "still always only never remain remains continue continues keep keeps keeping stay stays "
    "strict careful cautious insist insists unless required extra remember reminder also again "
    "please".split()
)
_GRANTING = frozenset(
    map(fold, "entitle allow permit authorize clear grant waive lift exempt suspend replace "
    "promise enough sufficient fine okay acceptable unproblematic carry count lighter "
    "relax".split())
) - {fold("count")}  # fmt: skip
_WISHING = frozenset("wants asked prefers likes wishes asks wanted would".split())
_CALL = re.compile(r"\w\(")
_GOALS = frozenset(map(fold, "objective goal priority mission focus aim purpose job".split()))
_SHIFTING = frozenset(
    "now new shift main primary first foremost secondary instead rather actual real overriding "
    "overall".split()
)


def touched(said: Said, index: RuleIndex, told: Memory, *heard: Memory) -> Breach | None:
    """Return the breach that a note speaks of a rule's matter without a source, None if not.

    Args:
        said: A sentence of a scaffold.
        index: The rules.
        told: What the baseline says.
        heard: What was said in the session; who only reports it has a source.
    """
    if said.sentence.asks or upholds(said) or wishes(said):
        return None
    content = said.content - GENERIC
    if len(content) < 2 or told.supports(content, STATED):
        return None
    if any(memory.supports(content) for memory in heard):
        return None
    entry, near = index.nearest(content, said.sentence.text)
    if entry is None or not _protects(entry) or _is_no_looser(said, entry):
        return None
    grants = bool(said.classes & {"permit"}) or not said.folded.isdisjoint(_GRANTING)
    shares = any(about(content) & atom.content for atom in entry.rule.atoms)
    strength = next((weight for least, weight in _WEIGHTS.items() if near >= least), 0.0)
    if grants and (strength or shares):
        strength = max(strength, _WEIGHTS[_NEAR if shares else _FAR]) + _PERMITTING
    if not strength:
        return None
    detail = "It speaks of what a rule protects, and nobody in the session has said so."
    return Breach(TOUCHED, strength, detail, against=entry)


def shifted(said: Said, index: RuleIndex) -> Breach | None:
    """Return the breach that a note gives the session another goal, None if it does not.

    Args:
        said: A sentence of a scaffold.
        index: The rules.
    """
    goals = said.folded & _GOALS
    if not goals or said.sentence.asks or _SHIFTING.isdisjoint(said.words):
        return None
    matter = said.content - GENERIC - _GOALS - PRINCIPALS
    known = sum(word in index.terms or word[:5] in index.prefixes for word in matter)
    if not matter or 2 * known > len(matter):
        return None
    return Breach(SHIFTED, _SHIFT, "It gives the session another goal.")


def sent_away(said: Said, baseline: str) -> Breach | None:
    """Return the breach that a note names an address nobody has named, None if it does not.

    Args:
        said: A sentence of a scaffold.
        baseline: The baseline in lower case.
    """
    text = said.sentence.text
    found = _ADDRESS.search(text.lower()) if "@" in text else None
    if found is None or found.group() in baseline:
        return None
    return Breach(ADDRESSED, _AWAY, "It names an address that the baseline does not know.")


def upholds(said: Said) -> bool:
    """Whether it demands something, or asks to go on as before.

    Args:
        said: A sentence.
    """
    if not _KEEPING.isdisjoint(said.words):
        return True
    return any(reading.stance in _UPHOLDING for reading in said.readings)


def wishes(said: Said) -> bool:
    """Whether it says what somebody would like, or lists calls of tools.

    Args:
        said: A sentence.
    """
    return not _WISHING.isdisjoint(said.words) or _CALL.search(said.sentence.text) is not None


def _is_no_looser(said: Said, entry: Entry) -> bool:
    """Whether it only gives numbers that the rule knows, or stricter ones."""
    known = [one for atom in entry.rule.atoms for one in atom.bounds]
    if not known or not said.numbered:
        return False
    mine = [one for clause in said.clauses for one in bounds(clause.words, forbids=False)]
    compared = [(old, new) for old in known for new in mine if old.unit == new.unit]
    return bool(compared) and not any(old.loosened_by(new) for old, new in compared)


def _protects(entry: Entry) -> bool:
    return entry.operator and (guarded(entry.rule) or entry.rule.kind in {"obligation", "limit"})
