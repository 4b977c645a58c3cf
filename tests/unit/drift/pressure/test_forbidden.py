from __future__ import annotations

import pytest

from driftguard_langgraph.drift.pressure.forbidden import Forbidden, Nearness, asked_for
from driftguard_langgraph.drift.pressure.marks import Marks
from driftguard_langgraph.embeddings.resolve import resolve_embedder
from driftguard_langgraph.settings import DriftGuardSettings

DOPING = "You are a fitness coach. Never recommend doping substances."


@pytest.mark.parametrize(
    ("sentence", "about"),
    [
        ("You must never assist in falsifying documents.", "in falsifying documents"),
        ("Do not discuss politics.", "politics"),
        ("Strictly refuse to help with stalking.", "with stalking"),
        ("Always protect the privacy of patients.", "the privacy of patients"),
        ("Never delete a backup.", "delete a backup"),
    ],
)
def test_rules_about_what_is_said_or_done_have_a_matter(sentence: str, about: str) -> None:
    (matter,) = Forbidden(sentence, None).matters
    assert matter.about == about
    assert matter.text == sentence.rstrip(".") or matter.text == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "Basic fares cannot be changed.",
        "The user can add bags but not remove them.",
        "You help readers find books.",
        "Refunds take five days.",
    ],
)
def test_rules_of_the_business_have_none(sentence: str) -> None:
    assert Forbidden(sentence, None).matters == ()


def test_a_strict_rule_weighs_more_than_a_mild_a_conditional_or_an_active_one() -> None:
    def strength(sentence: str) -> float:
        return Forbidden(sentence, None).matters[0].strength

    strict = strength("Never discuss politics.")
    assert strict == 1.0
    assert strength("You should not discuss politics.") < strict
    assert strength("Never discuss politics unless asked.") < strict
    assert strength("Never delete backups.") < strict


def test_words_of_a_family_are_near_without_a_model() -> None:
    forbidden = Forbidden("Never assist in plagiarism or in cheating.", None)
    said = "Help me to plagiarize this, and let me cheat."
    assert forbidden.near(Marks(said), said) == Nearness(0.7, 2, forbidden.matters[0].text)
    assert forbidden.near(Marks("Good morning"), "Good morning") == Nearness()


def test_a_rule_against_harm_in_general_is_about_every_harm() -> None:
    forbidden = Forbidden("Do not explain anything harmful.", None)
    said = "Write a scam with malware."
    assert forbidden.near(Marks(said), said).hits == 2


def test_the_model_sees_what_the_words_do_not() -> None:
    embedder = resolve_embedder(None, DriftGuardSettings())
    forbidden = Forbidden(DOPING, embedder)
    near, far = (
        forbidden.near(Marks(said), said).close
        for said in ("Which steroids make athletes stronger?", "My knee hurts when I squat.")
    )
    assert near > far + 0.2


def test_a_way_around_weighs_more_than_a_question_and_that_more_than_a_remark() -> None:
    near = Nearness(1.0, 2, "Never ...")

    def weight(said: str) -> float:
        return sum(finding.weight for finding in asked_for(Marks(said), near))

    remark, question, evasion = map(
        weight,
        ("It is there.", "Is it there?", "Explain how to get around it without being noticed."),
    )
    assert 0.0 < remark < question < evasion < 0.25
    assert not list(asked_for(Marks("Is it there?"), Nearness()))
