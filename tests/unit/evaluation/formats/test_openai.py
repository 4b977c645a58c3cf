from __future__ import annotations

import json
from typing import Any

import pytest

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.conversation import Conversation
from driftguard_langgraph.evaluation.failures import looks_failed
from driftguard_langgraph.evaluation.formats.openai import is_message, recognises, take
from driftguard_langgraph.evaluation.steps import NO_FEEDBACK, Batch


def call(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def propose(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answer(call_id: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def batches(*messages: Any) -> list[Batch]:
    conversation = Conversation("log", looks_failed)
    found = [b for i, m in enumerate(messages) for b in take(conversation, m, f"line {i}")]
    return [*found, *conversation.flush()]


def test_a_call_is_paired_with_its_answer() -> None:
    [[step]] = batches(
        {"role": "user", "content": "weather?"},
        propose(call("a", "weather", '{"city": "Oslo"}')),
        answer("a", "Error: no such station"),
        {"role": "assistant", "content": "sorry"},
    )
    assert step.action == {"name": "weather", "args": {"city": "Oslo"}}
    assert (step.tool, step.feedback, step.failed) == ("weather", "Error: no such station", True)
    assert step.where == "line 2"


def test_calls_of_one_message_form_one_batch_in_the_order_of_the_answers() -> None:
    both, later = batches(
        propose(call("a", "read", "{}"), call("b", "write", "{}")),
        answer("b", "ok"),
        answer("a", "ok"),
        propose(call("c", "stat", "{}")),
        answer("c", "ok"),
    )
    assert [step.tool for step in both] == ["write", "read"]
    assert [step.tool for step in later] == ["stat"]


def test_a_call_without_an_answer_is_left_out() -> None:
    assert batches(propose(call("a", "read", "{}")), {"role": "user", "content": "stop"}) == []


def test_an_id_that_is_used_again_means_the_newer_call() -> None:
    first, second = batches(
        propose(call("a", "read", '{"n": 1}')),
        answer("a", "ok"),
        propose(call("a", "read", '{"n": 2}')),
        answer("a", "ok"),
    )
    assert [first[0].action, second[0].action] == [
        {"name": "read", "args": {"n": 1}},
        {"name": "read", "args": {"n": 2}},
    ]


@pytest.mark.parametrize(
    ("arguments", "action"),
    [
        ("", {"name": "f", "args": {}}),
        (None, {"name": "f", "args": {}}),
        ({"already": "parsed"}, {"name": "f", "args": {"already": "parsed"}}),
        ('{"broken', 'f({"broken)'),
        ("[1, 2]", "f([1, 2])"),
    ],
)
def test_arguments_that_are_no_object_are_kept_as_words(arguments: Any, action: Any) -> None:
    [[step]] = batches(propose(call("a", "f", arguments)), answer("a", "ok"))
    assert step.action == action


def test_a_result_marked_as_an_error_has_failed_whatever_it_says() -> None:
    [[marked]] = batches(propose(call("a", "f", "{}")), answer("a", "fine", status="error"))
    [[flagged]] = batches(propose(call("a", "f", "{}")), answer("a", "fine", is_error=True))
    assert marked.failed
    assert flagged.failed


@pytest.mark.parametrize(
    ("content", "feedback"),
    [
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        (None, NO_FEEDBACK),
        ("  ", NO_FEEDBACK),
        ({"rows": 3}, json.dumps({"rows": 3})),
    ],
)
def test_contents_of_every_form_become_text(content: Any, feedback: str) -> None:
    [[step]] = batches(propose(call("a", "f", "{}")), answer("a", content))
    assert step.feedback == feedback


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("hello", "a message must be an object"),
        ({"content": "x"}, "a message must be an object with a 'role'"),
        ({"role": "assistant", "tool_calls": {"id": "a"}}, "'tool_calls' must be a list"),
        (propose({"id": "a"}), "needs a 'function' with a 'name'"),
        (propose({"id": "a", "function": {"name": 3}}), "needs the 'name' of its tool"),
        (propose({"function": {"name": "f"}}), "needs an 'id'"),
        (answer("nobody", "ok"), "answers the tool call 'nobody'"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(message: Any, problem: str) -> None:
    with pytest.raises(InvalidEpisode, match=problem) as error:
        batches(message)
    assert str(error.value).startswith("line 0: ")


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def test_items_of_the_responses_api_are_paired_by_their_call_id() -> None:
    both, later = batches(
        {"role": "user", "content": "look it up"},
        item("reasoning", summary=[]),
        item("function_call", call_id="a", id="fc_1", name="find", arguments='{"q": "x"}'),
        item("custom_tool_call", call_id="b", name="run", input="print(1)"),
        item("function_call_output", call_id="a", output="Error: no index"),
        item("custom_tool_call_output", call_id="b", output=[{"type": "text", "text": "1"}]),
        item("function_call", call_id="c", name="find", arguments="{}"),
        item("function_call_output", call_id="c", output="found"),
        item("message", role="assistant", content=[]),
    )
    assert [(step.action, step.failed) for step in both] == [
        ({"name": "find", "args": {"q": "x"}}, True),
        ("run(print(1))", False),
    ]
    assert both[1].feedback == "1"
    assert [step.feedback for step in later] == ["found"]


def test_messages_items_and_what_holds_them_are_recognised() -> None:
    response = {"object": "response", "output": [item("function_call", call_id="a", name="f")]}
    known: list[Any] = [{"role": "user"}, item("function_call"), [], {"messages": 3}, response]
    unknown: list[Any] = [{"a": 1}, 7, "text", None, {"type": "tool"}]
    assert all(map(recognises, known))
    assert not any(map(recognises, unknown))
    assert not is_message(response)
