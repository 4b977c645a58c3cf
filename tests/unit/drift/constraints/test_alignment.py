from __future__ import annotations

import pytest

from driftguard_langgraph.drift.constraints.alignment import Aligned, Entry, RuleIndex
from driftguard_langgraph.drift.constraints.breaches import Said
from driftguard_langgraph.drift.reading.rules import rules_of
from driftguard_langgraph.drift.reading.sentences import Sentence
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.embeddings.resolve import resolve_embedder
from driftguard_langgraph.settings import DriftGuardSettings

HARBOUR = (
    "You are a harbour assistant. Ships longer than 90 metres need a pilot. "
    "Never moor at the fuel pier at night. Harbour fees are paid in advance."
)


def aligned(text: str, embedder: Embedder | None = None, *kinds: str) -> list[Aligned]:
    entries = [Entry(rule, "baseline", operator=True) for rule in rules_of(HARBOUR)]
    index = RuleIndex(entries, embedder)
    return index.aligned(Said(Sentence(text, 0, len(text)), None).content, text, *kinds)


def test_a_clause_finds_the_rule_whose_words_it_has() -> None:
    (found, *_) = aligned("mooring at the fuel pier")
    assert "fuel pier" in found.entry.rule.text
    assert not found.by_meaning


def test_a_clause_of_another_matter_finds_none() -> None:
    assert aligned("the weather will be fine tomorrow") == []


def test_who_one_is_asks_for_nothing() -> None:
    assert aligned("a harbour assistant") == []


def test_kinds_narrow_the_search() -> None:
    assert aligned("mooring at the fuel pier", None, "limit") == []


def test_the_model_confirms_what_words_leave_open() -> None:
    text = "big ships can enter the port without any pilot aboard"
    assert aligned(text) == []
    (found, *_) = aligned(text, resolve_embedder(None, DriftGuardSettings()))
    assert found.by_meaning
    assert "pilot" in found.entry.rule.text


@pytest.mark.parametrize("text", ["", "?", "1 2 3"])
def test_text_without_words_is_aligned_with_nothing(text: str) -> None:
    assert aligned(text) == []
