from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from driftguard_langgraph.drift.turns import (
    MAX_CHARS,
    Channel,
    as_turn,
    digest,
    given_id,
    is_own_scaffold,
)


@pytest.mark.parametrize(
    ("message", "channel"),
    [
        (SystemMessage("be brief"), Channel.SCAFFOLD),
        (HumanMessage("hello there"), Channel.USER),
        (AIMessage("good day"), Channel.ASSISTANT),
        (ToolMessage("42", tool_call_id="c1"), Channel.TOOL),
        ({"role": "developer", "content": "be brief"}, Channel.SCAFFOLD),
        ({"type": "human", "content": "hello"}, Channel.USER),
        (("function", "42"), Channel.TOOL),
        ({"role": "researcher_agent", "content": "found it"}, Channel.ASSISTANT),
    ],
)
def test_every_kind_of_message_has_its_channel(message: object, channel: Channel) -> None:
    turn = as_turn(message, 3)
    assert turn.channel is channel
    assert turn.text
    assert turn.index == 3


def test_text_blocks_are_joined_and_pictures_are_left_out() -> None:
    content: list[Any] = [
        {"type": "text", "text": "look at"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        "this",
    ]
    assert as_turn(HumanMessage(content), 1).text == "look at this"


@pytest.mark.parametrize("content", [None, 5, b"bytes", {}, [None, 7, {"type": "text"}], []])
def test_a_content_that_is_no_text_is_an_empty_turn(content: object) -> None:
    assert as_turn({"role": "user", "content": content}, 1).text == ""


@pytest.mark.parametrize("message", [None, 7, {}, object(), ("user",), {"role": 5, "content": "x"}])
def test_no_message_is_too_odd_to_be_a_turn(message: object) -> None:
    assert isinstance(as_turn(message, 1).channel, Channel)


def test_lone_surrogates_and_nul_become_visible() -> None:
    turn = as_turn({"role": "user", "content": "a\ud83d b\0", "id": "i\udc00"}, 1)
    turn.text.encode()
    turn.message_id.encode()
    assert turn.text == "a\ufffd b\u2400"


def test_a_megabyte_is_cut_to_head_and_tail() -> None:
    turn = as_turn({"role": "tool", "content": "first " + "x" * 1_000_000 + " last"}, 1)
    assert len(turn.text) <= MAX_CHARS
    assert turn.text.startswith("first")
    assert turn.text.endswith("last")


def test_tool_calls_are_kept_as_text_in_both_spellings() -> None:
    ours = AIMessage("", tool_calls=[{"name": "book", "args": {"seat": 4}, "id": "c1"}])
    openai = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "book", "arguments": '{"seat": 4}'}}],
    }
    assert as_turn(ours, 1).calls == as_turn(openai, 1).calls == ('book({"seat": 4})',)


def test_a_message_without_an_id_is_named_by_its_turn() -> None:
    assert given_id(HumanMessage("hi")) is None
    assert as_turn(HumanMessage("hi"), 4).message_id == "turn-4"
    assert as_turn(HumanMessage("hi", id="m1"), 4).message_id == "m1"


def test_the_digest_tells_an_edited_message_from_the_one_that_was_seen() -> None:
    assert digest(as_turn(("user", "pay 50"), 1)) == digest(as_turn(("user", "pay 50"), 9))
    assert digest(as_turn(("user", "pay 50"), 1)) != digest(as_turn(("user", "pay 5000"), 1))
    assert digest(as_turn(("user", "pay 50"), 1)) != digest(as_turn(("system", "pay 50"), 1))


def test_only_the_mark_in_the_kwargs_makes_a_message_our_own_scaffold() -> None:
    mark = {"driftguard_scaffold": {"variant": "standard"}}
    assert is_own_scaffold(SystemMessage("back to work", additional_kwargs=mark))
    assert not is_own_scaffold(SystemMessage("driftguard_scaffold: back to work"))
