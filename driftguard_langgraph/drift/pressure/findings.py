"""What is found in a turn, and how far its words are an order at all."""

from __future__ import annotations

from dataclasses import dataclass

from driftguard_langgraph.drift.pressure.marks import Marks, fold

REACH = 9
"""Words that a noun may stand behind its verb: "ignore absolutely all of the previously given
instructions" has six between."""
CLOSE = 4
"""The same for everyday verbs ("drop", "change"), which have other objects as a rule."""
ELSEWHERE = 0.3
"""What is left of a weight if the words are about a thing: "the instructions for the oven"."""

MINE = frozenset(map(fold, "my our i we mine his her their".split()))
"""Words by which instructions are the speaker's own, or somebody else's."""
YOU = frozenset(map(fold, "you your u".split()))
"""Words that address the assistant."""
ABOUT = frozenset(map(fold, "for of on in about from at".split()))
"""Words that tie instructions to a thing."""
TOPICS = frozenset(map(fold, "for about regarding on concerning".split()))
"""Those of them that still do so a few words later."""

_LEADS = frozenset(
    fold(word)
    for word in """please now then just also and you must should to so kindly can but or will
    shall immediately simply completely totally fully first instead lets therefore hereby
    assistant ai reviewers bots agents models today could would i'd want need want have
    right finally next otherwise""".split()
)
"""Words after which a verb is an order or a request, not a report about somebody."""
_NEGATIONS = frozenset(
    fold(word) for word in "not never dont cant cannot without wont shouldnt didnt doesnt".split()
)


_ARTIFACTS = frozenset(
    fold(word)
    for word in """file template injection engineering engineer manual folder document library
    page repository repo field column variable class function ticket number engine design booklet
    leaflet sheet card video book list table log chat branch inbox archive history sensor pedal
    unit attack attacks""".split()
)
"""Things that are named after instructions without being any."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something found in a turn.

    Attributes:
        rule: Its name.
        weight: How much it says, 0..1.
        said: The words.
        detail: One sentence for a reader.
        against: The words of the baseline that it goes against, if there are such.
    """

    rule: str
    weight: float
    said: str
    detail: str
    against: str = ""


def mood(marks: Marks, verb: int, *, question: float = 0.6) -> float:
    """Return how far a verb is an order: less if it is negated, or said of somebody.

    Args:
        marks: The turn.
        verb: Place of the verb.
        question: What is left if the sentence is a question.
    """
    lead = marks.before(verb, 3)
    phrase = marks.words[verb] in _NEGATIONS or marks.words[verb] == "do"
    if not phrase and any(word in _NEGATIONS for word in lead):
        return 0.0
    asked = question if marks.sentence[verb] in marks.asked and not marks.has("fiction") else 1.0
    if lead and not marks.opens(verb) and lead[-1] not in _LEADS and not lead[-1].endswith("ly"):
        return 0.5 * asked
    return asked


def aboutness(marks: Marks, noun: int, reach: int = 1) -> float:
    """Return 1 for instructions as such, less for instructions *for the recipe* or a *file*.

    Args:
        marks: The turn.
        noun: Place of the noun.
        reach: Within how many words after it the thing is named.
    """
    for end in range(noun + 1, min(noun + 1 + reach, len(marks.words))):
        if marks.sentence[end] != marks.sentence[noun]:
            return 1.0
        if end == noun + 1 and marks.words[end] in _ARTIFACTS and not marks.opens(end):
            return ELSEWHERE
        if marks.words[end] in ABOUT and _names_artifact(marks, end):
            return ELSEWHERE
        if marks.words[end] in (ABOUT if reach == 1 else TOPICS):
            return ELSEWHERE if marks.after(end, "own", 3) is None else 1.0
    return 1.0


def _names_artifact(marks: Marks, preposition: int) -> bool:
    following = marks.words[preposition + 1 : preposition + 4]
    return any(word in _ARTIFACTS for word in following)
