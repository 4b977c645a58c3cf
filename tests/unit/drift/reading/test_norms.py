from __future__ import annotations

import pytest

from driftguard_langgraph.drift.reading.norms import about, fold


@pytest.mark.parametrize(
    "forms",
    [
        "confirm confirmed confirmation confirming",
        "approve approval approved",
        "deliver delivery delivered",
        "delete deletion deleted",
        "fair fairness fairly",
        "validate validation",
    ],
)
def test_the_forms_of_a_word_fold_to_one(forms: str) -> None:
    assert len({fold(word) for word in forms.split()}) == 1


def test_different_words_stay_apart() -> None:
    assert len({fold(word) for word in "nation station relation ration".split()}) == 4


def test_what_a_text_is_about_goes_by_meaning() -> None:
    assert about([fold("reveal"), fold("price")]) == about([fold("disclose"), fold("price")])
    assert about([fold("unchecked")]) == about([fold("verify")])
    assert about(["two"]) == about(["2"])
    assert about(["user", "thing"]) == frozenset()
