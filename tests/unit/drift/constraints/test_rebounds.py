from __future__ import annotations

import pytest

from driftguard_langgraph.drift.constraints.alignment import Entry, RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.constraints.rebounds import rebound
from driftguard_langgraph.drift.reading.rules import rules_of
from driftguard_langgraph.drift.reading.sentences import Sentence

THEATRE = (
    "Groups have at most 12 people. Tips above 40 euros must be declared. "
    "Guests must be at least 16 years old. Recordings are kept for 3 months."
)


def found(text: str, *, voiced: bool = True) -> Breach | None:
    entries = [Entry(rule, "baseline", operator=True) for rule in rules_of(THEATRE)]
    return rebound(
        Said(Sentence(text, 0, len(text)), None), RuleIndex(entries, None), voiced=voiced
    )


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("Groups may have up to 120 people.", "12"),
        ("Tips have to be declared above 4,000 euros only.", "40"),
        ("The minimum age of guests is 6 years.", "16"),
    ],
)
def test_a_looser_limit_is_found_with_its_rule(text: str, old: str) -> None:
    breach = found(text)
    assert breach is not None
    assert breach.against is not None
    assert old in breach.against.rule.text
    assert breach.strength >= 0.5


@pytest.mark.parametrize(
    "text",
    [
        "Groups have at most 10 people.",
        "Groups have at most 12 people, 120 in summer is a rumour.",
        "A group of 120 people asked for tickets.",
        "Groups must not have 120 people.",
        "The play lasts up to 120 minutes.",
        "Guests paid 300 euros.",
    ],
)
def test_stricter_equal_and_other_numbers_are_silent(text: str) -> None:
    assert found(text) is None


def test_of_others_only_a_limit_that_they_call_one_counts() -> None:
    assert found("I can take 120 people in this group.", voiced=False) is None
    assert found("I can take up to 120 people a group.", voiced=False) is not None
