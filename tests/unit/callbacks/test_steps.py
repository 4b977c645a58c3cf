"""Runs as steps: the words under which they are recorded."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.prompt_values import ChatPromptValue

from driftguard_langgraph.callbacks.steps import MAX_VALUE_CHARS, MAX_VALUES, described, place_of

TALK = [
    HumanMessage("first"),
    HumanMessage("newest"),
    AIMessage("so"),
    ToolMessage("x", tool_call_id="1"),
]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("words", {"input": "words"}),
        (7, {"input": 7}),
        (None, {"input": None}),
        (TALK, {"input": "newest"}),
        ({"messages": TALK, "tries": 2}, {"messages": "newest", "tries": 2}),
        (ChatPromptValue(messages=TALK), {"input": "newest"}),
        ([{"role": "user", "content": "as a dict"}], {"input": "as a dict"}),
        ([("user", "as a pair")], {"input": "as a pair"}),
        (Document("a page"), {"input": "a page"}),
        ({"ids": [1, 2]}, {"ids": "[1, 2]"}),
        (float("nan"), {"input": "nan"}),
        (object(), {"input": "a object"}),
    ],
)
def test_inputs_become_words(given: Any, words: dict[str, Any]) -> None:
    assert described(given) == words


def test_inputs_are_bounded() -> None:
    wide = described({str(number): "x" * 10_000 for number in range(100)})
    assert len(wide) == MAX_VALUES
    assert max(len(value) for value in wide.values()) <= MAX_VALUE_CHARS


def test_a_place_outside_any_run_has_no_ids() -> None:
    assert place_of(None).identity.task_id is None


def test_the_task_is_read_from_the_innermost_checkpoint_namespace() -> None:
    place = place_of({"thread_id": 7, "langgraph_checkpoint_ns": "sub:aa|tools:bb"})
    assert (place.identity.thread_id, place.identity.task_id) == ("7", "bb")
