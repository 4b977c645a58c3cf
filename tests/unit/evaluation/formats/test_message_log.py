"""Lists of messages, whole and in instalments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.evaluation.readers import read_batches
from driftguard_langgraph.evaluation.steps import Step


def turn(number: int) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "function": {"name": f"tool{number}", "arguments": "{}"}}
    return [
        {"role": "user", "content": f"do {number}"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": "ok"},
    ]


def read(path: Path, *entries: Any) -> list[Step]:
    path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return [step for batch in read_batches(path) for step in batch]


def test_a_log_that_repeats_the_conversation_so_far_is_read_once(tmp_path: Path) -> None:
    asked, called, answered = turn(1)
    entries = [
        [asked],
        [asked, called],
        {"messages": [asked, called, answered]},
        {"messages": [asked, called, answered, *turn(2)]},
    ]
    found = read(tmp_path / "log.jsonl", *entries)
    assert [step.tool for step in found] == ["tool1", "tool2"]
    assert found[0].where.endswith("line 3, message 2")


def test_two_conversations_that_are_alike_are_two(tmp_path: Path) -> None:
    entries = [{"messages": turn(1)}, {"messages": turn(1)}, {"messages": turn(2)}]
    assert len(read(tmp_path / "log.jsonl", *entries)) == 3


def test_a_longer_conversation_of_another_thread_is_another_one(tmp_path: Path) -> None:
    entries = [
        {"messages": turn(1), "thread_id": "a"},
        {"messages": [*turn(1), *turn(2)], "thread_id": "b"},
    ]
    found = read(tmp_path / "log.jsonl", *entries)
    assert [(step.stream, step.tool) for step in found] == [
        ("a", "tool1"),
        ("b", "tool1"),
        ("b", "tool2"),
    ]


def test_requests_and_responses_of_the_responses_api_hold_items(tmp_path: Path) -> None:
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "a", "output": "ok"}
    first = {"input": [{"role": "user", "content": "go"}], "output": [call]}
    second = {"input": [{"role": "user", "content": "go"}, call, output], "output": []}
    assert [step.tool for step in read(tmp_path / "log.jsonl", first, second)] == ["f"]


@pytest.mark.parametrize("key", ["stream_id", "thread_id", "conversation_id", "session_id"])
def test_a_conversation_names_its_stream(key: str, tmp_path: Path) -> None:
    [step] = read(tmp_path / "log.jsonl", {"messages": turn(1), key: 7})
    assert step.stream == "7"
