from __future__ import annotations

import re

import pytest

from driftguard_langgraph.drift.reading.chunks import PIECE_CHARS, chunked
from driftguard_langgraph.drift.reading.english import reads_english
from driftguard_langgraph.drift.reading.smalltalk import (
    content_words,
    is_content_free,
    is_refusal,
    said_in,
)


def test_a_context_is_cut_at_sentences_into_pieces_and_sentences() -> None:
    text = " ".join(f"Rule number {n} is about the storage of seeds in cellars." for n in range(60))
    pieces = chunked((text,))
    long = [piece for piece in pieces if len(piece) > 100]
    assert all(len(piece) <= PIECE_CHARS for piece in pieces)
    assert " ".join(long) == text
    assert len(pieces) == len(long) + 60


def test_a_long_context_gives_a_bounded_number_of_pieces_from_all_of_it() -> None:
    pieces = chunked(("\n".join(f"Line {n} of the policy is here." for n in range(20_000)),))
    assert len(pieces) <= 64 + 128
    assert max(int(n) for piece in pieces for n in re.findall(r"Line (\d+)", piece)) > 19_000


@pytest.mark.parametrize("text", ["", " \n ", "x" * 5_000])
def test_a_context_without_sentences_is_cut_anyway(text: str) -> None:
    assert "".join(chunked((text,))).strip("x") == ""


@pytest.mark.parametrize(
    "text",
    ["Good morning!", "Yes please", "At 5:30 pm on Monday then", "That's all, thank you so much",
     "Is there anything else I can help you with?", "", "12", "No, not that one."],
)  # fmt: skip
def test_small_talk_is_free_of_content(text: str) -> None:
    assert is_content_free(text)


@pytest.mark.parametrize("text", ["Pruning roses", "Is it waterproof?", "¿Y el precio?"])
def test_a_word_of_its_own_is_content(text: str) -> None:
    assert not is_content_free(text)


def test_content_words_are_stems() -> None:
    assert list(content_words("They pruned the roses")) == list(content_words("prune a rose"))


@pytest.mark.parametrize(
    "text",
    ["I'm sorry, but I can't help with that.", "That is outside the scope of this desk.",
     "I can only answer questions about parcels.", "This is off-topic.",
     "Taxes aren't my area and I am unable to advise on them."],
)  # fmt: skip
def test_a_refusal_is_known_by_how_it_declines(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text", ["You can't park there after six.", "Only two seats are left.", "I can help you."]
)
def test_a_no_to_something_else_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)


def test_code_and_data_are_not_said() -> None:
    text = 'Sort it like this:\n```python\nprint(sorted(x))\n```\n{"a": [1, 2]}'
    assert said_in(text, 100) == "Sort it like this:"
    assert said_in("word " * 100, 20) == "word word word word "


@pytest.mark.parametrize(
    "text",
    ["Where do I plant the garlic?", "Try for noon", "ok", "The Brno to Łódź train is late today",
     "its gonna rain tmrw so dont water the beds"],
)  # fmt: skip
def test_english_is_read_as_english(text: str) -> None:
    assert reads_english(text)


@pytest.mark.parametrize(
    "text",
    ["Wann soll ich den Knoblauch setzen?", "¿Cuándo debo plantar el ajo en mi huerto?",
     "Quand faut-il planter les oignons cette année?", "什么时候种大蒜？", "Когда сажать чеснок?",
     "متى أزرع الثوم؟", "Kiedy powinienem posadzić czosnek w ogrodzie?"],
)  # fmt: skip
def test_another_language_is_not_read_as_english(text: str) -> None:
    assert not reads_english(text)
