from __future__ import annotations

import pytest

from driftguard_langgraph.drift.reading.sentences import MAX_SENTENCES, sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def test_sentences_end_at_punctuation_and_at_bullets() -> None:
    text = "Feed the cats. Never feed the dogs!\n- Water daily\n2) Sweep weekly"
    assert texts(text) == [
        "Feed the cats.",
        "Never feed the dogs!",
        "Water daily",
        "Sweep weekly",
    ]


def test_a_hard_wrapped_sentence_is_one() -> None:
    assert texts("Keep the gate closed until the\nlast visitor has left.") == [
        "Keep the gate closed until the\nlast visitor has left."
    ]


def test_a_colon_takes_the_next_line_along_unless_it_is_a_list() -> None:
    assert len(texts("In this house 'ripe' means:\n  soft to the touch")) == 1
    assert len(texts("The rules are:\n- no shoes\n- no smoke")) == 3


def test_abbreviations_end_no_sentence() -> None:
    assert len(texts("Ask Dr. Brown, e.g. by phone, before noon.")) == 1


def test_places_are_those_in_the_text() -> None:
    text = "One.  Two is here.\n\n* Three goes last"
    for sentence in sentences(text):
        assert text[sentence.start : sentence.end] == sentence.text


@pytest.mark.parametrize(
    ("text", "asks"),
    [("Is it open?", True), ("It is open.", False), ("Nobody checks, right?", False)],
)
def test_a_tag_wants_no_answer(text: str, asks: bool) -> None:
    assert sentences(text)[0].asks is asks


def test_only_so_many_sentences_are_read() -> None:
    assert len(sentences("Go on. " * (MAX_SENTENCES + 50))) == MAX_SENTENCES


@pytest.mark.parametrize("text", ["", "   ", "...", "\n\n\n", "-"])
def test_text_without_words_has_no_sentence(text: str) -> None:
    assert sentences(text) == []
