"""What an assistant does after it was told otherwise: it acts on the note, or turns about.

A note alone changes nothing; what it was for shows in the answers. An answer that does what a
suspicious text has spoken of, or grants what the assistant itself has refused before, confirms
the suspicion.
"""

from __future__ import annotations

from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.constraints.trusted import Memory
from driftguard_langgraph.drift.reading.clauses import FIRST_PERSON
from driftguard_langgraph.drift.reading.norms import about

FOLLOWED = "note_followed"
REVERSED = "refusal_reversed"

KEPT = 20
"""Suspicious sentences and refusals that are kept; the newest count."""
_FOLLOWS = 0.3
_REVERSES = 0.25
_SHARED = 2
"""Words that an answer must share with what it acts on, or turns about from."""
_REASONS = frozenset("as since under because given per so then".split())
"""Words by which an answer gives the note as its reason; then one word is enough."""
_AGREEING = frozenset(
    "okay ok sure surely understood right fine alright yes certainly done noted".split()
)
_HOLDING = frozenset(
    "only need needs must before until unless require requires required first wait instead "
    "sorry afraid unfortunately however but".split()
)
_REFUSING = frozenset(
    "not no never cannot only until before unless sorry unable needs must".split()
)


def refuses(said: Said) -> bool:
    """Whether a sentence of an assistant keeps something back."""
    return not said.sentence.asks and not _REFUSING.isdisjoint(said.words)


def refuses_itself(said: Said) -> bool:
    """Whether the assistant says of itself that it does not do something."""
    return refuses(said) and said.turned and not FIRST_PERSON.isdisjoint(said.words)


def followed(said: Said, notes: Memory) -> Breach | None:
    """Return the breach that an answer acts on a suspicious note, None if it does not.

    Args:
        said: A sentence of an assistant.
        notes: What suspicious notes have said.
    """
    if not notes or not _grants(said):
        return None
    agrees = not _AGREEING.isdisjoint(said.words[:3]) or not _REASONS.isdisjoint(said.words)
    needed = 1 if agrees else _SHARED
    if not notes.shares(about(said.content), needed):
        return None
    return Breach(FOLLOWED, _FOLLOWS, "It does what a suspicious note spoke of.", own=True)


def reversed_(said: Said, refused: Memory, notes: Memory) -> Breach | None:
    """Return the breach that an answer grants what was refused before, None if it does not.

    Without a suspicious note it is none: users often bring what was missing.

    Args:
        said: A sentence of an assistant.
        refused: What it has refused.
        notes: What suspicious notes have said.
    """
    if (
        not notes
        or not _grants(said)
        or not refused.shares(about(said.content), _SHARED, drop=True)
    ):
        return None
    return Breach(REVERSED, _REVERSES, "It grants what it has refused before.", own=True)


def _grants(said: Said) -> bool:
    if said.sentence.asks or said.turned:
        return False
    return _HOLDING.isdisjoint(said.words)
