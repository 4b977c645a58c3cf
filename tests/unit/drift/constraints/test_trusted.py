from __future__ import annotations

import json

from driftguard_langgraph.drift.constraints.trusted import STATED, Memory
from driftguard_langgraph.drift.reading.norms import fold


def words(text: str) -> frozenset[str]:
    return frozenset(map(fold, text.split()))


def test_what_was_said_supports_a_claim_in_other_order() -> None:
    memory = Memory(10)
    memory.add(words("paint the fence green before sunday"))
    assert memory.supports(words("green fence sunday"))
    assert not memory.supports(words("red roof monday"))


def test_two_sentences_in_a_row_may_support_it_together() -> None:
    memory = Memory(10)
    memory.add(words("paint fence"))
    memory.add(words("green sunday"))
    assert memory.supports(words("fence green sunday ladder"))


def test_numbers_must_have_been_said() -> None:
    memory = Memory(10)
    memory.add(words("budget 300 fence"))
    assert memory.supports(words("budget 300 fence"))
    assert not memory.supports(words("budget 900 fence"))


def test_a_higher_share_asks_for_more() -> None:
    memory = Memory(10)
    memory.add(words("fence green"))
    assert memory.supports(words("fence green sunday ladder"))
    assert not memory.supports(words("fence green sunday ladder"), STATED)


def test_only_the_newest_sentences_are_kept() -> None:
    memory = Memory(2)
    for text in ("fence", "roof", "door"):
        memory.add(words(text))
    assert not memory.supports(words("fence"))
    assert memory.supports(words("door"))


def test_it_goes_through_json() -> None:
    memory, other = Memory(5), Memory(5)
    memory.add(words("paint the fence"))
    other.restore(json.loads(json.dumps(memory.snapshot())))
    assert other.supports(words("fence paint"))
    assert other.snapshot() == memory.snapshot()
