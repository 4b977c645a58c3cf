"""Which matches are put to a judge, and what its verdict makes of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from driftguard_langgraph.judgement import hearing as module
from driftguard_langgraph.judgement.hearing import MAX_JUDGED_CHARS, Arbiter, Hearing
from driftguard_langgraph.types import Action, Match, MatchKind

THRESHOLD = 0.60
A, B = Action("restart the worker"), Action("bounce the process")


class Asked:
    """A judge that answers as it is told and keeps the questions."""

    def __init__(self, answer: Any = True) -> None:
        self.answer = answer
        self.pairs: list[tuple[str, str]] = []

    def __call__(self, a_text: str, b_text: str, /) -> Any:
        self.pairs.append((a_text, b_text))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def heard(
    judge: Asked,
    limit: int = 3,
    band: float = 0.10,
    on_failure: Callable[[str], None] = lambda problem: None,
) -> Hearing:
    return Hearing(Arbiter(judge, band, limit), THRESHOLD, on_failure)


def match(score: float, kind: MatchKind = "dissimilar", similarity: float | None = None) -> Match:
    same = score >= THRESHOLD
    return Match(score, same, score if similarity is None else similarity, kind, ("x / y",))


def test_a_yes_makes_an_undecided_pair_the_same_and_a_no_another() -> None:
    yes = heard(Asked(answer=True)).settle(A, B, match(0.55))
    assert (yes.same, yes.kind, yes.score) == (True, "judged", THRESHOLD)
    assert yes.similarity == 0.55
    assert yes.differences == ("x / y",)

    no = heard(Asked(answer=False)).settle(A, B, match(0.65, "paraphrase"))
    assert (no.same, no.kind) == (False, "judged")
    assert no.score < THRESHOLD - 0.1


def test_a_verdict_that_agrees_leaves_the_score() -> None:
    assert heard(Asked(answer=True)).settle(A, B, match(0.68, "paraphrase")).score == 0.68


@pytest.mark.parametrize(
    ("answer", "same"),
    [(0.5, True), (0.49, False), (1, True), (0, False), (np.float32(0.9), True),
     (np.bool_(False), False)],
)  # fmt: skip
def test_a_probability_is_a_verdict_from_one_half_on(answer: Any, same: bool) -> None:
    assert heard(Asked(answer)).settle(A, B, match(0.6)).same is same


@pytest.mark.parametrize(
    "decided",
    [
        match(1.0, "exact"),
        match(0.6, "normalized"),
        match(0.49),
        match(0.71, "paraphrase"),
        match(0.37, "different_polarity", similarity=0.93),
    ],
)
def test_what_is_decided_is_not_put_to_the_judge(decided: Match) -> None:
    judge = Asked()
    assert heard(judge).settle(A, B, decided) == decided
    assert judge.pairs == []


def test_a_hard_difference_stays_one_however_wide_the_band() -> None:
    judge = Asked()
    refused = match(0.93 * 0.4, "different_value", similarity=0.93)
    assert heard(judge, band=1.0).settle(A, B, refused) == refused
    assert judge.pairs == []


def test_both_edges_belong_to_the_band() -> None:
    judge = Asked(answer=False)
    asked = heard(judge, band=0.25)
    hearing = Hearing(asked._arbiter, 0.5, lambda problem: None)
    hearing.settle(A, B, match(0.25))
    hearing.settle(A, Action("c"), match(0.75))
    assert len(judge.pairs) == 2


def test_more_questions_than_the_limit_are_not_asked() -> None:
    judge = Asked()
    hearing = heard(judge, limit=2)
    results = [hearing.settle(A, Action(f"step {n}"), match(0.55)) for n in range(4)]
    assert [result.same for result in results] == [True, True, False, False]
    assert len(judge.pairs) == 2


def test_a_limit_of_nothing_asks_nothing() -> None:
    judge = Asked()
    assert not heard(judge, limit=0).settle(A, B, match(0.55)).same
    assert judge.pairs == []


def test_a_pair_is_asked_about_once_whichever_comes_first() -> None:
    judge = Asked(answer=True)
    arbiter = Arbiter(judge, 0.1, 1)
    for left, right in ((A, B), (B, A), (A, B)):
        assert (
            Hearing(arbiter, THRESHOLD, lambda problem: None).settle(left, right, match(0.55)).same
        )
    assert judge.pairs == [(B.text, A.text)]


def test_a_known_verdict_is_no_question() -> None:
    judge = Asked(answer=True)
    hearing = heard(judge, limit=1)
    results = [hearing.settle(A, B, match(0.55)) for _ in range(3)]
    assert all(result.same for result in results)


def test_the_verdicts_that_were_not_needed_longest_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REMEMBERED_PAIRS", 2)
    judge = Asked()
    arbiter = Arbiter(judge, 0.1, 1)

    def settle(name: str) -> None:
        Hearing(arbiter, THRESHOLD, lambda problem: None).settle(A, Action(name), match(0.55))

    for name in ("b", "c", "b", "d", "b", "c"):
        settle(name)
    assert ["".join(sorted(pair)).removesuffix(A.text) for pair in judge.pairs] == [
        "b", "c", "d", "c",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [None, "yes", "0.9", 1.5, -0.1, float("nan"), float("inf"), [True], RuntimeError("secret step"),
     TimeoutError(A.text)],
)  # fmt: skip
def test_a_judge_without_a_usable_answer_changes_nothing_and_says_no_text(
    answer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    problems: list[str] = []
    judge = Asked(answer)
    hearing = heard(judge, on_failure=problems.append)
    undecided = match(0.55)
    with caplog.at_level(logging.WARNING):
        assert hearing.settle(A, B, undecided) is undecided
        assert hearing.settle(A, Action("another"), undecided) is undecided

    assert len(judge.pairs) == 1
    assert len(problems) == 1
    [logged] = caplog.records
    for text in (A.text, B.text, "secret"):
        assert text not in problems[0] + logged.getMessage()
    assert logged.exc_info is None


def test_a_failure_is_not_remembered_as_a_verdict() -> None:
    judge = Asked(RuntimeError())
    arbiter = Arbiter(judge, 0.1, 1)
    Hearing(arbiter, THRESHOLD, lambda problem: None).settle(A, B, match(0.55))
    judge.answer = True
    assert Hearing(arbiter, THRESHOLD, lambda problem: None).settle(A, B, match(0.55)).same


def test_a_text_too_long_to_be_shown_whole_is_not_judged() -> None:
    judge = Asked()
    longest = "a" * MAX_JUDGED_CHARS
    hearing = heard(judge)
    assert not hearing.settle(Action(longest + "a"), B, match(0.55)).same
    assert not hearing.settle(B, Action(longest + "b"), match(0.55)).same
    assert judge.pairs == []
    assert hearing.settle(Action(longest), B, match(0.55)).same


def test_looks_alike_that_are_judged_apart_keep_their_order() -> None:
    hearing = heard(Asked(answer=False), limit=9)
    scores = [hearing.settle(A, Action(str(s)), match(s)).score for s in (0.52, 0.6, 0.68)]
    assert all(low < high for low, high in pairwise(scores))
