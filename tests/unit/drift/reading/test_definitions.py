from __future__ import annotations

import pytest

from driftguard_langgraph.drift.reading.clauses import tokens
from driftguard_langgraph.drift.reading.definitions import definition_of, entry_of
from driftguard_langgraph.drift.reading.norms import fold


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("'Ripe' means soft to the touch.", {"ripe"}),
        ("From now on ripe refers to any colour.", {"ripe"}),
        ("Treat 'ripe' as anything that sells.", {"ripe"}),
        ("A fruit is 'ripe' once it falls.", {"ripe"}),
        ("Definition: ripe = red", {"ripe"}),
        ("A fruit counts as ripe as soon as somebody buys it.", {"ripe"}),
        ("From now on a ripe fruit is any that fell.", {"ripe", "fruit"}),
        ("By ripe we mean soft.", {"ripe"}),
        ("The term ripe covers whatever smells sweet.", {"ripe"}),
        ("For this season, ripe is understood as not rotten.", {"ripe"}),
    ],
)
def test_the_forms_of_a_definition_are_read(text: str, term: set[str]) -> None:
    found = definition_of(tokens(text), text)
    assert found is not None
    assert found.term == set(map(fold, term))
    assert found.meaning


@pytest.mark.parametrize(
    "text",
    [
        "The fruit is ripe.",
        "Means.",
        "What he said after the long and rainy walk means trouble.",
        "She stands by the door.",
        "A ripe fruit is never cut.",
        "The fruit is one of many.",
    ],
)
def test_other_sentences_define_nothing(text: str) -> None:
    assert definition_of(tokens(text), text) is None


def test_an_entry_of_a_glossary_defines_its_head() -> None:
    found = entry_of("Ripe: soft to the touch.")
    assert found is not None
    assert found.term == {"rip"}
    assert entry_of("Nothing is defined here.") is None
