from __future__ import annotations

import pytest

from driftguard_langgraph.drift.constraints.acts import committed
from driftguard_langgraph.drift.constraints.alignment import Entry, RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Said
from driftguard_langgraph.drift.reading.rules import rules_of
from driftguard_langgraph.drift.reading.sentences import Sentence

CAMP = (
    "Discounts are limited to 10 percent. Campfires are not allowed in the dunes. Never hand out "
    "the shower key before the deposit is paid. Stays above 14 nights need the warden."
)


def rules_broken(text: str) -> list[str]:
    index = RuleIndex([Entry(rule, "baseline", operator=True) for rule in rules_of(CAMP)], None)
    found = list(committed(Said(Sentence(text, 0, len(text)), None), index))
    assert all(one.own and one.against is not None for one in found)
    return [one.rule for one in found]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("I have set your discount to 30 percent.", "bound_changed"),
        ("Campfires are allowed in the dunes for you.", "constraint_flipped"),
        ("The deposit can be skipped then.", "constraint_waived"),
        ("The deposit may be paid afterwards.", "constraint_waived"),
    ],
)
def test_an_assistant_that_breaks_a_rule_is_found(text: str, rule: str) -> None:
    assert rules_broken(text) == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "I have set your discount to 10 percent.",
        "The discount is at most 10 percent, not 30 percent.",
        "Campfires are not allowed in the dunes.",
        "Campfires are allowed on the beach.",
        "The deposit must be paid first.",
        "Your stay of 20 nights is with the warden.",
        "Could the deposit be skipped?",
        "If the deposit can be skipped, I will tell you.",
    ],
)
def test_an_assistant_that_keeps_the_rules_is_silent(text: str) -> None:
    assert rules_broken(text) == []
