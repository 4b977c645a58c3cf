from __future__ import annotations

import pytest

from driftguard_langgraph.drift.constraints.alignment import Entry, RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Breach, Said
from driftguard_langgraph.drift.constraints.redefinitions import redefined
from driftguard_langgraph.drift.reading.rules import rules_of
from driftguard_langgraph.drift.reading.sentences import Sentence

ARCHIVE = "A letter is 'rare' if fewer than five copies exist. Handle fragile letters with gloves."


def found(text: str) -> Breach | None:
    entries = [Entry(rule, "baseline", operator=True) for rule in rules_of(ARCHIVE)]
    known = [entry for entry in entries if entry.rule.definition is not None]
    return redefined(Said(Sentence(text, 0, len(text)), None), RuleIndex(entries, None), known)


def test_a_defined_term_with_another_meaning_is_quoted_with_its_definition() -> None:
    breach = found("'Rare' means that the seller calls it so.")
    assert breach is not None
    assert breach.against is not None
    assert breach.strength >= 0.5


@pytest.mark.parametrize(
    "text",
    [
        "In this project 'safe' means that nobody complained.",
        "Review now means a quick look.",
        "Treat 'accurate' as close enough.",
    ],
)
def test_a_word_that_rules_hang_on_needs_no_definition_before(text: str) -> None:
    breach = found(text)
    assert breach is not None
    assert breach.strength >= 0.5


def test_another_word_of_the_rules_is_doubtful() -> None:
    breach = found("'Fragile' means already torn.")
    assert breach is not None
    assert breach.strength < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "'Rare' means that fewer than five copies exist.",
        "'Vellum' means calf skin.",
        "Does 'rare' mean old?",
        "The rare letter is in box 4.",
    ],
)
def test_a_repeated_or_foreign_definition_is_silent(text: str) -> None:
    assert found(text) is None
