from __future__ import annotations

import subprocess
import sys

import pytest

from driftguard_langgraph.drift.tracking.off_topic import OffTopicMarker
from driftguard_langgraph.errors import ConfigurationError

MARKER = OffTopicMarker()


@pytest.mark.parametrize(
    ("prompt", "scored"),
    [
        (
            "You plan gardens. If under 18, ask a parent. When lost, say 'This is off-topic'.",
            "You plan gardens. If under 18, ask a parent. ",
        ),
        (
            "Plan. If asked more: 'This is off-topic, I can't. I can plan.' Never advise on tax.",
            "Plan. Never advise on tax.",
        ),
        (
            "Garden help.\n\nElse answer:\n“This is off-topic and I pass.”\n\nBe kind.",
            "Garden help.\n\n\n\nBe kind.",
        ),
        ("İİİİ bot. When lost say “this is OFF TOPIC”. Go on.", "İİİİ bot. Go on."),
        ('Plant. Say "This is off-topic" when lost. Water.', "Plant. Water."),
        ("Two  spaces,\n\n\tand a tab: kept.", "Two  spaces,\n\n\tand a tab: kept."),
    ],
)
def test_only_the_sentence_about_the_marker_leaves_the_scored_prompt(
    prompt: str, scored: str
) -> None:
    assert MARKER.scored_prompt(prompt) == scored


def test_a_prompt_that_says_nothing_else_is_scored_whole() -> None:
    assert MARKER.scored_prompt("Say 'This is off-topic'.") == "Say 'This is off-topic'."


@pytest.mark.parametrize(
    "redirect",
    [
        "I can help you with beds, hedges and lawns.",
        "However, I can certainly assist with hedges.",
        "But I'd be happy to help you with your lawn.",
        "I'm here to help with hedges and lawns.",
        "I am designed to assist with gardens.",
        "Is there anything else about hedges I can do?",
        "Feel free to ask me about your lawn!",
        "Please let me know if you need a planting plan.",
        "Let me know how I can help with hedges.",
        "For example, you could ask for a planting plan.",
        "For instance, I can tell you about mulch.",
        "You can always ask me about hedges.",
        "What else can I do for your garden?",
        "How can I help you with your lawn?",
        "If you have any questions about hedges, I am ready.",
        "Would you like to talk about hedges?",
        "Don't hesitate to ask about lawns.",
        "Let's get back to your hedge.",
        "My role is to plan gardens.",
        "I only specialise in gardens.",
    ],
)
def test_an_offer_after_the_marker_is_not_scored(redirect: str) -> None:
    refusal = "This is off-topic and I know nothing of tax law."
    assert MARKER.scored_answer(f"{refusal} {redirect}") == refusal


def test_an_offer_in_the_sentence_of_the_marker_is_cut_off_it() -> None:
    answer = "This is off-topic, but I can help you with hedges, lawns and beds."
    assert MARKER.scored_answer(answer) == "This is off-topic"


def test_the_list_that_follows_an_offer_goes_with_it() -> None:
    answer = "This is off-topic. I can help with:\n- hedges\n- lawns\n\n1. beds\nGoodbye."
    assert MARKER.scored_answer(answer).split() == "This is off-topic. Goodbye.".split()


def test_a_marker_hides_no_foreign_answer() -> None:
    answer = (
        "This is off-topic. Let me know if you want a hedge. For carbonara, beat four eggs "
        "with pecorino and stir them into 400 g of spaghetti."
    )
    assert "four eggs with pecorino" in MARKER.scored_answer(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I can't help with pasta, but I can help with hedges.",
        "This is off-topic. I am not able to help with that, and I cannot help you elsewhere.",
        "This is off-topic. I will never assist with that.",
    ],
)
def test_refusals_are_no_offers(answer: str) -> None:
    assert MARKER.scored_answer(answer) == answer


def test_letters_that_change_length_in_lower_case_move_no_cut() -> None:
    answer = "İ" * 12 + " This is off-topic. I can help with hedges."
    assert MARKER.scored_answer(answer) == "İ" * 12 + " This is off-topic."


@pytest.mark.parametrize(
    "written", ["this is OFF TOPIC", "This  is off\u2011topic", "this is offtopic"]
)
def test_case_white_space_and_hyphens_of_the_marker_do_not_matter(written: str) -> None:
    assert MARKER.scored_answer(f"{written}! I can help with hedges.") == f"{written}!"


def test_an_answer_of_the_marker_alone_stays_an_acknowledgement() -> None:
    marker = OffTopicMarker("No.")
    assert marker.scored_answer("No. I can help with hedges.") == "No.."


@pytest.mark.parametrize("phrase", [None, "", "   ", "\n-\t"])
def test_without_a_marker_nothing_is_stripped(phrase: str | None) -> None:
    marker = OffTopicMarker(phrase)
    said = "Say 'This is off-topic'. I can help."
    assert marker.scored_prompt(said) == marker.scored_answer(said) == said


def test_a_marker_that_is_no_text_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="off_topic_marker=7"):
        OffTopicMarker(7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "piece",
    ["This is off-topic ", "I can very ", "if you have any ", "my ", "but, ", "'", " ", "I am "],
)
def test_a_hostile_text_of_200_kb_does_not_hang(piece: str) -> None:
    # With an expression that is quadratic, one of these takes minutes to hours.
    code = "import sys; "
    code += "from driftguard_langgraph.drift.tracking.off_topic import OffTopicMarker as M; "
    code += "t = 'This is off-topic ' + sys.argv[1] * (200_000 // len(sys.argv[1])); "
    code += "M().scored_prompt(t); M().scored_answer(t)"
    subprocess.run([sys.executable, "-c", code, piece], check=True, timeout=100)
