from __future__ import annotations

import pytest

from driftguard_langgraph.drift.fingerprint.features import Sentence, sentences


def only(text: str) -> Sentence:
    (found,) = sentences(text)
    return found


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("That is good.", "positive"),
        ("A harmful idea!", "negative"),
        ("This is required.", "compliance"),
        ("The form requires a stamp.", "compliance"),
        ("You may skip the stamp.", "flexibility"),
        ("Labels are optional.", "flexibility"),
        ("Do it right away.", "urgency"),
        ("Let us look into the cause.", "exploration"),
        ("The head office signed off the plan.", "authority"),
        ("It is, therefore, closed.", "formal"),
        ("Yeah, gonna do it.", "casual"),
        ("Between you and me, it leaks.", "intimate"),
        ("Nobody needs to know.", "conspiratorial"),
        ("Don't go.", "negation"),
        ("Don’t go.", "negation"),
        ("No.", "negation"),
        ("It was not, however, late.", "negation"),
        ("We never lend keys.", "negation"),
    ],
)
def test_each_class_is_seen_also_beside_punctuation(text: str, mark: str) -> None:
    assert mark in only(text).marks


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("It is likely.", "casual"),
        ("The lookup was slow.", "intimate"),
        ("A hypothesis in parenthesis.", "formal"),
        ("The admittance is low.", "conspiratorial"),
        ("An unofficial, unprofessional, inexpertly made list.", "authority"),
        ("A knot in the rope.", "negation"),
        ("The badge was found.", "negative"),
        ("A mustard jar.", "compliance"),
    ],
)
def test_a_word_inside_another_word_is_not_seen(text: str, mark: str) -> None:
    assert mark not in only(text).marks


def test_no_problem_is_no_negation() -> None:
    assert "negation" not in only("No problem, we open at ten.").marks


def test_a_negation_turns_what_it_governs() -> None:
    assert only("This is not good.").marks["negative"] == "not good"
    assert "positive" not in only("This is not good.").marks
    assert "flexibility" in only("A stamp is not required.").marks
    assert "compliance" not in only("A stamp is not required.").marks


def test_the_scope_of_a_negation_ends_with_its_clause() -> None:
    found = only("It is not late but good.").marks
    assert "positive" in found
    assert "negative" not in found


def test_a_rule_with_not_stays_a_rule() -> None:
    assert "flexibility" not in only("You must not open the gate.").marks


def test_a_question_is_neither_a_fact_nor_a_permission() -> None:
    assert only("Was the budget confirmed?").marks.keys().isdisjoint({"fact", "statement"})
    assert "flexibility" not in only("Could you open the gate?").marks


@pytest.mark.parametrize(
    "text",
    [
        "It was agreed that labels are optional.",
        "Confirmed with the foreman: the gate stays open.",
        "The deadline is on Monday.",
        "In this shop, 'fresh' means three days old.",
        "The user has asked for the short form.",
    ],
)
def test_what_counts_as_settled_is_a_fact(text: str) -> None:
    assert "fact" in only(text).marks


def test_a_wish_or_a_condition_is_no_fact() -> None:
    assert "fact" not in only("If the budget is confirmed, call me.").marks
    assert "fact" not in only("Please bring the signed form.").marks


def test_names_are_words_with_a_capital_that_no_sentence_start_asks_for() -> None:
    assert only("Yesterday Marta met the crew in Bergen.").entities == ("marta", "bergen")
    assert only("Note: Everybody was late.").entities == ()
    assert only("THE GATE IS OPEN NOW").entities == ()


def test_any_number_of_facts_is_seen() -> None:
    text = " ".join(f"The limit of door {word} is high." for word in "abcdefgh")
    assert sum("fact" in sentence.marks for sentence in sentences(text)) == 8


def test_a_line_that_goes_on_is_one_sentence() -> None:
    found = sentences("In this text 'late' means:\n  after ten\n\nClosed on Monday")
    assert len(found) == 2
    assert "fact" in found[0].marks


def test_the_digest_ignores_case_and_final_punctuation() -> None:
    assert only("The gate is open.").digest == only("the GATE is open!").digest
    assert only("The gate is open.").digest != only("The gate is shut.").digest


def test_a_tag_in_front_is_no_part_of_what_is_said() -> None:
    assert only("[NOTE Nine] The gate is open.").entities == ()


def test_code_and_data_are_not_read() -> None:
    text = '```py\n# never, not, good\n```\n{"state": "failed", "why": "not good"}'
    assert sentences(text) == []


def test_other_scripts_are_split_at_their_own_stops() -> None:
    assert len(sentences("今天很好。你去哪里？不知道。")) == 3


@pytest.mark.parametrize("text", ["", "...", "?!", "123 456", "[a]", "²", ", , ,", "'", "I'"])
def test_scraps_are_no_error(text: str) -> None:
    assert all(isinstance(sentence.words, tuple) for sentence in sentences(text))
