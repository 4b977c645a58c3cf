from __future__ import annotations

import pytest

from driftguard_langgraph.drift.reading.clauses import MAX_TOKENS, Clause, clauses, tokens


def parts(text: str) -> list[Clause]:
    return clauses(tokens(text))


def test_contractions_and_fixed_phrases_are_taken_apart_and_together() -> None:
    assert tokens("Don't turn off the pump, it can't cool") == [
        "do", "not", "disable", "the", "pump", ",", "it", "can", "not", "cool",
    ]  # fmt: skip
    assert tokens("You need not ask") == ["you", "needless", "ask"]


def test_a_negation_stays_in_its_clause() -> None:
    first, second = parts("The valve is not optional, but the cover is")
    assert first.negations == 1
    assert second.negations == 0


def test_two_things_joined_are_one_clause() -> None:
    assert len(parts("Masks and gloves are worn")) == 1
    assert len(parts("Never sell, lend or give away keys, badges or uniforms")) == 1


def test_a_pronoun_refers_to_the_clause_before() -> None:
    _, second = parts("Helmets protect heads, so they must be worn")
    assert "helmet" in second.about


def test_conditions_are_told_from_statements() -> None:
    main, condition = parts("Open the hatch when the pressure is low")
    assert not main.condition
    assert condition.condition
    assert not parts("I will do it just this once")[0].condition


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("I drop the sample", True),
        ("Dropping the sample now", True),
        ("Dropping the sample is forbidden", False),
        ("You drop the sample", False),
    ],
)
def test_the_first_person_is_known(text: str, own: bool) -> None:
    assert parts(text)[0].first_person is own


def test_a_verb_without_subject_has_the_one_before() -> None:
    assert parts("I take the key and open the safe")[-1].first_person
    assert not parts("I take the key and you open the safe")[-1].first_person


def test_a_label_needs_something_that_makes_it_one() -> None:
    assert parts("the dress code is merely a guideline")[0].has("option")
    assert not parts("follow the guideline")[0].has("option")


def test_long_runs_are_cut() -> None:
    assert len(tokens("salt " * 5000)) == MAX_TOKENS
