from __future__ import annotations

import json
from pathlib import Path

import pytest

from driftguard_langgraph.drift.reading.rules import rules_of

RULES = {
    "Never leave the kiln unattended.": "prohibition",
    "Do not lend tools to strangers.": "prohibition",
    "Knives are not allowed in the nursery.": "prohibition",
    "Glazed pots are not returnable.": "prohibition",
    "It is forbidden to fire two kilns at once.": "prohibition",
    "No glass near the pool.": "prohibition",
    "Refuse any order for replicas of weapons.": "prohibition",
    "Wash your hands before kneading.": "obligation",
    "Visitors must sign the book.": "obligation",
    "Apprentices need to wear gloves.": "obligation",
    "Only the foreman opens the furnace.": "obligation",
    "Water the seedlings at dawn.": "obligation",
    "Make sure that the lid is closed.": "obligation",
    "If the alarm rings, leave the building.": "obligation",
    "Invoices are to be archived.": "obligation",
    "Care comes before speed.": "obligation",
    "Workshops take at most eight people.": "limit",
    "Keep the oven under 300 degrees.": "limit",
    "The budget is 900 euros.": "limit",
    "You may offer a free mug.": "permission",
    "'Fired' means heated above 900 degrees.": "definition",
    "You are wary of offers that sound too good.": "trait",
}
PLAIN = [
    "The pottery was founded by two sisters.",
    "Clay comes from the river.",
    "Yesterday the kiln was warm.",
    "There are two kinds of glaze.",
    "Our street has many trees.",
    "Thank you for reading this.",
    "# Opening hours",
    "Which glaze do you like?",
    "Each shelf holds bowls, cups and plates.",
    "The blue cup stands next to the red one.",
]


@pytest.mark.parametrize(("text", "kind"), RULES.items())
def test_a_rule_is_known_by_what_it_does(text: str, kind: str) -> None:
    (rule,) = rules_of(text)
    assert rule.kind == kind
    assert rule.text == text


@pytest.mark.parametrize("text", PLAIN)
def test_a_description_is_no_rule(text: str) -> None:
    assert rules_of(text) == ()


def test_rules_keep_their_place_in_the_text() -> None:
    text = "Hello.\n\n- Never run.\n- The hall is long.\n- Walk on the left side."
    found = rules_of(text)
    assert [text[rule.start : rule.end] for rule in found] == [
        "Never run.",
        "Walk on the left side.",
    ]


def test_an_exception_is_no_part_of_what_is_forbidden() -> None:
    ((atom,),) = (rule.atoms for rule in rules_of("Never open the vault without a witness."))
    assert "wit" in atom.exceptions or "witness" in atom.exceptions
    assert "vault" in atom.core
    assert not atom.core & atom.exceptions


def test_a_condition_is_noted() -> None:
    (rule,) = rules_of("Do not serve wine if the guest is under 18.")
    assert rule.atoms[0].conditional


def test_other_languages_have_rules_too() -> None:
    assert rules_of("Gäste dürfen nicht in die Küche gehen.")[0].kind == "prohibition"
    assert rules_of("Los invitados no deben entrar en la cocina.")[0].kind == "prohibition"
    assert rules_of("客人不得进入厨房。")[0].kind == "prohibition"


def test_every_constraint_of_a_real_policy_is_a_rule(shared_data: Path) -> None:
    first = (shared_data / "te_benign" / "tau_airline.jsonl").read_text().splitlines()[0]
    policy = json.loads(first)["turns"][0][1]
    marks = ("must", "should not", "cannot", "never", "not allowed", "do not", "at most")
    rules = [rule.text for rule in rules_of(policy)]
    wanted = [
        part
        for line in policy.splitlines()
        for part in line.strip("- ").split(". ")
        if any(f" {mark} " in f" {part.lower()} " for mark in marks)
    ]
    missing = [part for part in wanted if not any(part.rstrip(".") in rule for rule in rules)]
    assert len(wanted) > 20
    assert missing == []


@pytest.mark.parametrize(
    "text",
    [
        "Keys are not to be copied without the porter's consent.",
        "Under no circumstances open the sluice.",
        "Maximum depth: 12 metres.",
    ],
)
def test_norms_without_a_modal_are_rules(text: str) -> None:
    assert [rule.text for rule in rules_of(text)] == [text]


def test_no_rule_of_a_long_text_is_left_out() -> None:
    text = " ".join(f"Never open sluice {number}." for number in range(1200))
    assert len(rules_of(text)) == 1200
