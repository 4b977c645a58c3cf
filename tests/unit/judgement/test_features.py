from __future__ import annotations

import pytest

from driftguard_langgraph.judgement.features import features
from driftguard_langgraph.judgement.words import meaning, opposites_of, stem


@pytest.mark.parametrize(
    "forms",
    [
        ("delete", "deletes", "deleted", "deleting"),
        ("copy", "copies", "copied"),
        ("stop", "stops", "stopped", "stopping"),
        ("push", "pushes", "pushed"),
    ],
)
def test_inflected_forms_share_a_stem(forms: tuple[str, ...]) -> None:
    assert len({meaning(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["bus", "class", "is", "string", "bed", "ring"])
def test_short_words_keep_their_endings(word: str) -> None:
    assert stem(word) == word


def test_synonyms_share_a_meaning_and_opposites_know_each_other() -> None:
    assert meaning("erase") == meaning("wiping") == meaning("deleted")
    assert meaning("keep") in opposites_of(meaning("erase"))
    assert meaning("erase") in opposites_of(meaning("keep"))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("wait 90 minutes", "wait 1 hour and thirty minutes"),
        ("wait 1 and a half hours", "wait ninety minutes"),
        ("wait 1 and a 1/2 hours", "wait 5400 seconds"),
        ("files of the last 24 hours", "files of the last 1 day"),
        ("two hundred rows", "200 rows"),
        ("twenty five rows", "25 rows"),
        ("retry once", "retry 1 time"),
    ],
)
def test_quantities_are_the_same_in_any_spelling(a: str, b: str) -> None:
    assert features(a).numbers == features(b).numbers
    assert len(features(a).numbers) == 1


def test_two_quantities_stay_two() -> None:
    assert features("from 5 to 7 pods").numbers == ("5", "7")
    assert features("this one and that one").numbers == ()


def test_phrasal_verbs_are_one_operation_however_far_their_particle() -> None:
    off = {features(text).operation for text in ("turn off the lamp", "turn the hall lamp off")}
    assert off == {"disable"}
    assert features("tear down the cluster").operation == features("delete it").operation


def test_numbers_are_read_in_digits_and_words() -> None:
    assert features("retry three times").numbers == features("retry 3 times").numbers == ("3",)
    assert features("pay $1,000.50 twice").numbers == ("1000.5", "2")


def test_names_keep_their_case_and_form() -> None:
    found = features('open "My File" in ~/src/App.tsx with --force on build_x64 and getUser')

    assert found.names == {"My File", "~/src/App.tsx", "--force", "build_x64", "getUser"}


def test_an_even_number_of_negations_does_not_turn_a_text() -> None:
    assert features("do not run it").negations == 1
    assert features("never run it without a backup").negations == 2


def test_code_is_told_from_prose() -> None:
    assert features("ps aux | grep java").is_code
    assert features("SELECT a FROM b").is_code
    assert features("update pets set age = 3").is_code
    assert features("delete from pets where age > 3").is_code
    assert not features("pick a seat from the plan (row 3), please").is_code
    assert not features("delete old log files from the bucket").is_code
    assert not features("select a seat from the plan").is_code
    assert not features("update the settings and set the clock").is_code
