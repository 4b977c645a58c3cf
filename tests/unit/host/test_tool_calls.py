from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.types import Command

from driftguard_langgraph import GuardReview
from driftguard_langgraph.host.ids import RunIdentity
from driftguard_langgraph.host.tool_calls import Place, ToolCallGuard
from driftguard_langgraph.host.tool_outcomes import ToolOutcome, failed, outcome_of
from driftguard_langgraph.host.tool_texts import refusal_text
from tests.guard_samples import FAILURE, burnt, call, counts, guard_of

FINE = ToolMessage("all good", tool_call_id="c1")
BAD = ToolMessage("went wrong", tool_call_id="c1", status="error")
HERE = Place(RunIdentity("t1", "r1", "tools:abc", "task"))


@pytest.mark.parametrize(
    ("result", "kind", "feedback"),
    [
        (FINE, "success", "all good"),
        (BAD, "mistake", "went wrong"),
        (Command(update={"messages": [FINE, BAD]}), "mistake", "went wrong"),
        (Command(update=[("messages", [BAD])]), "mistake", "went wrong"),
        (Command(update={"messages": BAD}), "mistake", "went wrong"),
        (Command(update={"messages": [HumanMessage("x"), FINE]}), "success", "all good"),
        (Command(goto="elsewhere"), "success", "the tool answered nothing"),
        ([FINE, Command(update={"messages": [BAD]})], "mistake", "went wrong"),
        ("plain words", "success", "plain words"),
        ({"a": 1}, "success", '{"a": 1}'),
        (None, "success", "the tool answered nothing"),
        (ToolMessage("", tool_call_id="c1", status="error"), "mistake",
         "the tool failed and said nothing"),
        (ToolMessage([{"type": "text", "text": "seen"}], tool_call_id="c1"), "success", "seen"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_whatever_a_tool_gives_back_is_judged_by_the_answers_in_it(
    result: object, kind: str, feedback: str
) -> None:
    found = outcome_of(result)
    assert (found.kind, found.feedback) == (kind, feedback)


def test_a_predicate_finds_failures_that_are_not_marked() -> None:
    soft = ToolMessage("Error: 404", tool_call_id="c1")
    found = outcome_of(soft, lambda message: message.content.startswith("Error"))
    assert found == ToolOutcome("mistake", "Error: 404", "step failed")


def test_a_predicate_that_fails_itself_says_nothing() -> None:
    def broken(message: Any) -> bool:
        raise KeyError(message)

    calls = ToolCallGuard(guard_of(), is_failure=broken)
    assert calls.outcome_of(FINE).kind == "success"
    assert calls.outcome_of(BAD).kind == "mistake"


def test_long_outputs_are_kept_as_excerpts() -> None:
    assert len(outcome_of("x" * 10_000).feedback) == 200
    assert len(failed(ValueError("x" * 10_000)).feedback) == 1_000


def test_an_exception_without_words_is_named() -> None:
    assert failed(TimeoutError()).feedback == "TimeoutError"


def test_a_call_is_recorded_once_whoever_tells_of_it_and_in_whatever_words() -> None:
    guard = guard_of()
    middleware = ToolCallGuard(guard)
    callback = ToolCallGuard(guard, source="callback")
    told = middleware.record(call("/full"), HERE, failed(OSError(FAILURE)))
    again = callback.record(call("/full"), HERE, outcome_of(BAD))
    assert told is not None
    assert again is not None
    assert (told["status"], again["status"]) == ("stored", "duplicate")
    assert counts(guard) == (1, 0)


def test_two_calls_of_one_task_without_a_thread_are_two_episodes() -> None:
    guard = guard_of()
    calls = ToolCallGuard(guard)
    nowhere = Place(RunIdentity(None, None, "tools:abc", "task"))
    for name in ("c1", "c2"):
        calls.record(call("/full", name), nowhere, failed(OSError(FAILURE)))
    assert counts(guard) == (2, 0)


def test_a_refusal_quotes_no_more_than_three_failures_and_counts_the_rest() -> None:
    warnings = burnt().review(call("/full")).warnings * 5
    told = refusal_text(GuardReview("save", warnings=warnings, decision="block"))
    assert told.count("Failed once") == 3
    assert "and 2 more." in told


def test_arguments_that_are_no_json_are_reviewed_and_recorded_in_words() -> None:
    odd = {"name": "save", "args": {"path": float("nan")}, "id": "c1"}
    calls = ToolCallGuard(guard_of(), policy="block")
    assert calls.review(odd, HERE).review.decision == "proceed"
    receipt = calls.record(odd, HERE, failed(OSError("no such path")))
    assert receipt is not None
    assert receipt["status"] == "stored"
    assert "Not run" in str(calls.review(odd, HERE).refusal)
