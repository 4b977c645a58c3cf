"""Messages as the real library writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from langchain_core.messages.tool import tool_call

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.formats.langchain import recognises
from driftguard_langgraph.evaluation.readers import read_batches
from driftguard_langgraph.evaluation.steps import Batch

MESSAGES: list[BaseMessage] = [
    SystemMessage("be brief"),
    HumanMessage("is the database up?"),
    AIMessage(
        "",
        tool_calls=[
            tool_call(name="ping", args={"host": "db"}, id="a"),
            tool_call(name="disk", args={}, id="b"),
        ],
    ),
    ToolMessage("unreachable", tool_call_id="a", status="error"),
    ToolMessage([{"type": "text", "text": "91% full"}], tool_call_id="b"),
    ChatMessage(content="let me see", role="critic"),
    AIMessageChunk(content="", tool_calls=[tool_call(name="ping", args={"host": "db2"}, id="c")]),
    RemoveMessage(id="m-1"),
    ToolMessage("Error: no such host", tool_call_id="c"),
    AIMessage("it is down"),
]

Written = Callable[[list[BaseMessage]], list[Any]]

FORMS: dict[str, Written] = {
    "messages_to_dict": messages_to_dict,
    "dumpd": lambda messages: [dumpd(message) for message in messages],
    "model_dump": lambda messages: [message.model_dump(mode="json") for message in messages],
}


def batches(path: Path, *entries: Any, **how: Any) -> list[Batch]:
    path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return list(read_batches(path, **how))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("arrange", ["object", "list", "lines"])
def test_every_form_is_read_in_every_arrangement(form: str, arrange: str, tmp_path: Path) -> None:
    written = FORMS[form](MESSAGES)
    arranged: dict[str, list[Any]] = {
        "object": [{"messages": written}],
        "list": [written],
        "lines": written,
    }
    entries = arranged[arrange]
    both, later = batches(tmp_path / "log.jsonl", *entries)
    assert [(step.action, step.feedback, step.failed) for step in both] == [
        ({"name": "ping", "args": {"host": "db"}}, "unreachable", True),
        ({"name": "disk", "args": {}}, "91% full", False),
    ]
    assert [(step.action, step.failed) for step in later] == [
        ({"name": "ping", "args": {"host": "db2"}}, True)
    ]


def test_a_call_whose_arguments_could_not_be_parsed_is_kept_as_words(tmp_path: Path) -> None:
    broken = AIMessage(
        "",
        invalid_tool_calls=[
            {
                "type": "invalid_tool_call",
                "id": "a",
                "name": "ping",
                "args": '{"host": ',
                "error": "cut",
            }
        ],
    )
    told = ToolMessage("bad arguments", tool_call_id="a", status="error")
    [[step]] = batches(tmp_path / "log.jsonl", messages_to_dict([broken, told]))
    assert step.action == 'ping({"host": )'


def test_results_may_come_after_the_turn_of_another_agent(tmp_path: Path) -> None:
    messages = [
        AIMessage("", tool_calls=[tool_call(name="ping", args={}, id="a")]),
        AIMessage("", tool_calls=[tool_call(name="disk", args={}, id="b")]),
        ToolMessage("ok", tool_call_id="a"),
        ToolMessage("ok", tool_call_id="b"),
    ]
    [both] = batches(tmp_path / "log.jsonl", messages_to_dict(messages))
    assert [step.tool for step in both] == ["ping", "disk"]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ([{"type": "ai", "content": ""}, {"no": "type"}], "message 1: a message must be"),
        ([{"type": "tool", "content": "x", "tool_call_id": "n"}], "answers the tool call 'n'"),
        ([{"type": "ai", "content": "", "tool_calls": [{"id": "a"}]}], "needs the 'name'"),
        ([{"type": "ai", "content": "", "tool_calls": ["ping"]}], "must be an object"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(
    entry: Any, problem: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidEpisode, match=problem):
        batches(tmp_path / "log.jsonl", entry)


def test_what_others_write_is_not_taken_for_langchain() -> None:
    openai = {"role": "assistant", "type": "message", "content": []}
    function = {"type": "function", "function": {"name": "f"}}
    for entry in (openai, function, {"type": "ai"}, [openai], {"messages": [openai]}, 7, None):
        assert not recognises(entry)
