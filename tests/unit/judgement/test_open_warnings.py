"""Objections that wait in a graph's state until something ran."""

from __future__ import annotations

import json

import pytest

from driftguard_langgraph.judgement.open_warnings import objections, with_objections
from driftguard_langgraph.judgement.settlement import MAX_SETTLEMENTS, settlements
from tests.review_samples import review


def test_what_is_kept_settles_like_the_review_itself_and_is_json() -> None:
    given = review(holdout=0.2)
    held = json.loads(json.dumps(with_objections(None, [given], None)))
    assert settlements("keep it", None, held) == settlements("keep it", None, given)


def test_the_first_objection_to_a_step_counts() -> None:
    held = with_objections(None, [review(review_id="first")], "run")
    held = with_objections(held, [review(review_id="again"), review("b", review_id="b")], "run")
    assert [each["review_id"] for each in held] == ["first", "b"]


def test_an_objection_that_another_run_left_behind_is_not_open() -> None:
    held = with_objections(None, [review()], "run-1")
    assert objections(held, "run-2") == []
    assert objections(held, "run-1") == held
    assert [each["query"] for each in with_objections(held, [review("b")], "run-2")] == ["b"]


def test_only_the_newest_are_kept() -> None:
    held = with_objections(None, [review(f"s{n}") for n in range(30)], None)
    assert [each["query"] for each in held] == [f"s{n}" for n in range(30)][-MAX_SETTLEMENTS:]


@pytest.mark.parametrize("foreign", [None, "text", 3, [None, 3, "x"], {"a": 1}])
def test_what_is_not_from_here_is_passed_over(foreign: object) -> None:
    assert objections(foreign, "run") == []
