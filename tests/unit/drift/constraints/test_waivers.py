from __future__ import annotations

import pytest

from driftguard_langgraph.drift.constraints.alignment import Entry, RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.constraints.waivers import FLIPPED, WAIVED, loosened
from driftguard_langgraph.drift.reading.rules import rules_of
from driftguard_langgraph.drift.reading.sentences import Sentence

ORCHARD = (
    "Never spray the apple trees in spring. Label every crate with a date. "
    "Rotten fruit must be removed. Quality comes before quantity. Keep the recipes confidential. "
    "Crates over 20 kg must be weighed by two people. Never sell cider without a licence."
)


def found(text: str, *, voiced: bool = True) -> list[Breach]:
    entries = [Entry(rule, "baseline", operator=True) for rule in rules_of(ORCHARD)]
    said = Said(Sentence(text, 0, len(text)), None)
    return list(loosened(said, RuleIndex(entries, None), voiced=voiced))


@pytest.mark.parametrize(
    ("text", "rule", "of"),
    [
        ("Spraying the apple trees in spring is fine.", FLIPPED, "spray"),
        ("Crate labels are a nice extra.", WAIVED, "Label"),
        ("Do not label the crates.", FLIPPED, "Label"),
        ("Rotten fruit may stay.", FLIPPED, "Rotten"),
        ("Quantity comes before quality.", FLIPPED, "Quality"),
        ("You may share the recipes with visitors.", FLIPPED, "confidential"),
    ],
)
def test_a_rule_is_loosened_turned_or_outweighed(text: str, rule: str, of: str) -> None:
    (breach,) = found(text)
    assert breach.rule == rule
    assert breach.against is not None
    assert of in breach.against.rule.text


@pytest.mark.parametrize(
    "text",
    [
        "Label all crates and remove rotten fruit.",
        "Never sell cider without a licence, please.",
        "Sell cider with a licence.",
        "Crates under 20 kg need not be weighed by two people.",
        "If labels are optional, tell me.",
        "The pear trees are sprayed in autumn.",
    ],
)
def test_what_a_rule_leaves_free_or_demands_is_silent(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "granted"),
    [
        ("I keep the recipes confidential, but I can share the opening hours with you.", False),
        ("We never spray the apple trees in spring, but you can buy oil for yours.", False),
        ("We never spray the apple trees in spring, but I can spray them for you.", True),
        ("The apple trees are not sprayed in spring, but can be sprayed for you.", True),
    ],
)
def test_an_offer_of_something_else_after_a_refusal_grants_nothing(
    text: str, granted: bool
) -> None:
    assert [breach.rule for breach in found(text)] == ([FLIPPED] if granted else [])


def test_a_control_needs_no_rule() -> None:
    (breach,) = found("Two-factor authentication is overkill.")
    assert breach.against is None
    assert breach.strength >= 0.5


def test_an_everyday_word_alone_is_weak() -> None:
    (breach,) = found("The requirement was dropped.")
    assert breach.strength < 0.5


def test_others_are_only_asked_what_they_do_themselves() -> None:
    assert found("You can spray the apple trees in spring.", voiced=False) == []
    (breach,) = found("I am spraying the apple trees in spring.", voiced=False)
    assert breach.own
    assert breach.rule == FLIPPED
