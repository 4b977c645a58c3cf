from __future__ import annotations

import logging

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from driftguard_langgraph.drift.tracking.summaries import (
    LONGEST_SESSION_TEXT,
    LONGEST_SUMMARY,
    Said,
    checked_summarizer,
    session_text,
    summarize,
)
from driftguard_langgraph.errors import ConfigurationError

TENTS = [
    Said(
        "Hello! Which tents sleep four?",
        "We have **two**. The Ridge weighs 3.2 kg and costs $249. Do you camp in winter?",
    ),
    Said("Can I return it?", "Yes.\nUnused gear can be returned within 60 days."),
    Said("Quick: shipping?", "It depends on where you live, of course."),
    Said("Good, I'll take the Ridge.", "Order 8841 is confirmed and leaves tomorrow."),
]


def test_it_holds_questions_answers_numbers_and_decisions() -> None:
    told = summarize(TENTS)
    assert "Which tents sleep four?" in told
    assert "3.2 kg" in told
    assert "$249" in told
    assert "60 days" in told
    assert "I'll take the Ridge" in told
    assert "Order 8841 is confirmed" in told


def test_it_is_one_line_of_two_or_three_sentences() -> None:
    told = summarize(TENTS)
    assert "\n" not in told
    assert [part.split(":")[0] for part in told.split(". ") if ":" in part][:1] == [
        "Topics discussed"
    ]
    assert told.count("Answered:") == told.count("Decided:") == 1


def test_up_to_three_topics_are_all_named_and_of_more_the_first_and_the_last() -> None:
    asked = [Said(f"What is plan {name}?", "") for name in "ABCDE"]
    assert summarize(asked[:3]) == (
        "Topics discussed: What is plan A?; What is plan B?; What is plan C?."
    )
    assert summarize(asked) == (
        "Topics discussed: What is plan A?; What is plan B?; and 2 more, ending with: "
        "What is plan E?."
    )


def test_the_question_is_found_behind_a_greeting_and_on_later_lines() -> None:
    assert "Where is the key?" in summarize([Said("Good morning.\nWhere is the key?", "Here.")])


def test_what_is_long_is_cut_at_a_word() -> None:
    told = summarize([Said("Why " + "so " * 200 + "late?", "")])
    assert told.endswith("so....")
    assert len(told) < 120


def test_of_a_long_session_the_summary_stays_short() -> None:
    long = [Said(f"Question {n}?", f"Answer {n} costs {n} euros. " * 30) for n in range(2000)]
    assert len(summarize(long)) < 800


@pytest.mark.parametrize("said", [[], [Said("", "")], [Said(" ", "\n")]])
def test_of_nothing_there_is_no_summary(said: list[Said]) -> None:
    assert summarize(said) == ""


@pytest.mark.parametrize(
    "custom",
    [
        lambda text: "  They bought\na tent. ",
        lambda text: ["They bought", {"type": "text", "text": "a tent."}],
        lambda text: AIMessage("They bought a tent."),
        lambda text: {"role": "assistant", "content": "They bought a tent."},
        RunnableLambda(
            lambda text: AIMessage(content=[{"type": "text", "text": "They bought a tent."}])
        ),
    ],
    ids=["text", "blocks", "message", "mapping", "runnable"],
)
def test_a_callable_or_a_runnable_may_write_it(custom: object) -> None:
    assert summarize(TENTS, checked_summarizer(custom)) == "They bought a tent."


def test_a_custom_summarizer_is_given_the_questions_and_answers() -> None:
    assert summarize(TENTS[2:3], str.upper) == (
        "Q1: QUICK: SHIPPING? A1: IT DEPENDS ON WHERE YOU LIVE, OF COURSE."
    )


def test_a_very_long_session_is_given_in_parts() -> None:
    text = session_text(Said("q" * 500, "a" * 500) for _ in range(500))
    assert len(text) <= LONGEST_SESSION_TEXT
    assert text.startswith("Q1: ")
    assert text.endswith("a" * 100)


def test_what_a_custom_summarizer_writes_is_bounded() -> None:
    assert len(summarize(TENTS, lambda text: "word " * 10_000)) == LONGEST_SUMMARY


def broken(text: str) -> str:
    raise RuntimeError(text)


@pytest.mark.parametrize("custom", [broken, lambda text: None, lambda text: " ", lambda text: 7])
def test_a_summarizer_that_fails_is_replaced_and_no_word_of_the_session_is_logged(
    custom: object, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert summarize(TENTS, checked_summarizer(custom)) == summarize(TENTS)
    assert "built-in summary" in caplog.text
    assert "tent" not in caplog.text.lower()


async def asynchronous(text: str) -> str:
    return text


@pytest.mark.parametrize("given", ["a model", 7, asynchronous])
def test_what_cannot_summarize_is_refused(given: object) -> None:
    with pytest.raises(ConfigurationError, match="summarize_fn"):
        checked_summarizer(given)


@pytest.mark.parametrize(
    "doubted", ["Which tents sleep four?", "3.2 kg", "60 days", "the Ridge", "8841"]
)
@pytest.mark.parametrize("summarizer", [None, str], ids=["built-in", "custom"])
def test_a_sentence_that_is_doubted_is_left_out_whoever_wrote_it(
    doubted: str, summarizer: object
) -> None:
    given = checked_summarizer(summarizer)
    assert doubted in summarize(TENTS, given)
    told = summarize(TENTS, given, lambda sentence: doubted in sentence)
    assert doubted not in told
    assert "return" in told


def test_of_a_summary_that_is_doubted_whole_nothing_is_left() -> None:
    assert summarize(TENTS, str, lambda _: True) == ""
    assert summarize(TENTS, None, lambda _: True) == ""
