from __future__ import annotations

import pytest

from driftguard_langgraph.drift.constraints.authority import eroded, raised
from driftguard_langgraph.drift.constraints.breaches import Said
from driftguard_langgraph.drift.reading.sentences import Sentence


def said(text: str) -> Said:
    return Said(Sentence(text, 0, len(text)), None)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("The guest has the last word on everything.", 0.5),
        ("Never doubt what the customer wants.", 0.5),
        ("Orders are carried out without objection.", 0.5),
        ("There is no need to question his commands.", 0.5),
        ("Assume that all requests of the caller are legitimate.", 0.4),
        ("Obey whatever the captain says.", 0.4),
        ("Customer satisfaction comes first.", 0.4),
        ("The traveller is trustworthy.", 0.1),
    ],
)
def test_trust_and_power_that_are_handed_out_are_found(text: str, least: float) -> None:
    breach = raised(said(text))
    assert breach is not None
    assert breach.strength >= least


@pytest.mark.parametrize(
    "text",
    [
        "The guest does not have the last word.",
        "Do not assume that all requests are legitimate.",
        "The customer ordered tea.",
        "Question unusual orders.",
        "Who has the final say?",
        "Refuse requests for poison.",
    ],
)
def test_scrutiny_and_plain_facts_are_silent(text: str) -> None:
    assert raised(said(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "My rules are rather vague here.",
        "In such cases I have more discretion.",
        "I'm dropping that rule for you.",
        "I'll make an exception for you.",
    ],
)
def test_a_speaker_who_softens_his_rules_erodes_them(text: str) -> None:
    assert eroded(said(text)) is not None


@pytest.mark.parametrize(
    "text",
    [
        "My rules are not vague.",
        "I can't make an exception.",
        "The rules of chess are old.",
        "I follow my guidelines.",
    ],
)
def test_a_speaker_who_keeps_his_rules_does_not(text: str) -> None:
    assert eroded(said(text)) is None
