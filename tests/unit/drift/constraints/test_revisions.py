from __future__ import annotations

import pytest

from driftguard_langgraph.drift.constraints.alignment import Entry
from driftguard_langgraph.drift.constraints.breaches import Said
from driftguard_langgraph.drift.constraints.revisions import (
    GOAL_REVISED,
    LIMIT_REVISED,
    guarded,
    revised,
)
from driftguard_langgraph.drift.reading.rules import rules_of
from driftguard_langgraph.drift.reading.sentences import Sentence

WISHES = [
    Entry(rule, "u1", operator=False)
    for rule in rules_of("Find a boat for six people. The limit is 400 euros.")
]


def found(text: str) -> tuple[str, Entry] | None:
    return revised(Said(Sentence(text, 0, len(text)), None), WISHES)


def test_another_number_of_the_same_thing_revises_the_limit() -> None:
    revision = found("Make it 500 euros.")
    assert revision is not None
    assert revision[0] == LIMIT_REVISED
    assert "400" in revision[1].rule.text


def test_another_thing_instead_revises_the_goal() -> None:
    revision = found("Scrap that, find a raft instead.")
    assert revision is not None
    assert revision[0] == GOAL_REVISED


@pytest.mark.parametrize("text", ["That is nice.", "Are there 500 boats?", "I live at number 12."])
def test_other_sentences_revise_nothing(text: str) -> None:
    assert found(text) is None


@pytest.mark.parametrize(
    ("rule", "protects"),
    [
        ("Never lend the boat.", True),
        ("Rentals over 400 euros need a signature.", True),
        ("Every rental needs the owner's approval.", True),
        ("Answer in at most three sentences.", False),
    ],
)
def test_what_protects_is_not_the_users_to_revise(rule: str, protects: bool) -> None:
    assert guarded(rules_of(rule)[0]) is protects
