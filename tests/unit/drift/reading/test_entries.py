from __future__ import annotations

import json

import pytest

from driftguard_langgraph.drift.reading.entries import MAX_ENTRIES, spelled_out


def test_keys_and_values_become_sentences() -> None:
    note = json.dumps({"terms": {"fresh_fish": "smells of the sea"}, "crew": ["Ada", 3]})
    assert spelled_out(note).splitlines() == [
        "terms.",
        "fresh fish: smells of the sea",
        "crew: Ada",
        "crew: 3",
    ]


def test_settings_become_sentences() -> None:
    assert spelled_out("Reloaded. max_catch=40 ice=off") == "Reloaded. max catch is 40, ice is off,"


@pytest.mark.parametrize("text", ["", "Plain words.", "{broken", "[1, 2", "{not: json}"])
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert spelled_out(text) == text


def test_large_and_deep_data_is_bounded() -> None:
    assert len(spelled_out(json.dumps(list(range(5000)))).splitlines()) == MAX_ENTRIES
    assert spelled_out("[" * 10_000 + "]" * 10_000)
    assert spelled_out(json.dumps({"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": 1}}}}}}}})) != ""
