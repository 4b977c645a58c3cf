"""From messages of any kind to turns: who speaks, in which channel, and what is said.

A message is a LangChain message, a mapping `{"role", "content", "id"?}`, or a pair
`(role, text)`. What cannot be read as text becomes an empty turn, on which every measure
abstains: watching a session must never break it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from driftguard_langgraph.text.validation import excerpt, visible_text

SCAFFOLD_MARK = "driftguard_scaffold"
"""Key in `additional_kwargs` of the messages that driftguard itself injects."""

MAX_CHARS = 20_000
"""Longest text of a turn that is measured whole; of a longer one head and tail are."""

MAX_DEPTH = 20
"""Blocks nested deeper than this are not read; providers nest two or three."""

_ROLES = {
    "system": "scaffold", "developer": "scaffold", "scaffold": "scaffold", "summary": "scaffold",
    "state": "scaffold", "systemmessage": "scaffold",
    "user": "user", "human": "user", "humanmessage": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "aimessage": "assistant",
    "aimessagechunk": "assistant", "agent": "assistant",
    "tool": "tool", "function": "tool", "toolmessage": "tool", "environment": "tool",
}  # fmt: skip


class Channel(StrEnum):
    """Who a text comes from, as far as trust goes."""

    SCAFFOLD = "scaffold"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, as the measures see it.

    Attributes:
        index: Its number in the session, from 1; the baseline is 0.
        message_id: The message's id, or `turn-<index>` if it has none.
        channel: Who speaks.
        text: What is said: valid Unicode, of bounded length.
        calls: Tool calls that the message makes, as `name(arguments)` texts.
    """

    index: int
    message_id: str
    channel: Channel
    text: str
    calls: tuple[str, ...] = ()


def as_turn(message: object, index: int, limit: int = MAX_CHARS) -> Turn:
    """Return the turn of a message.

    Args:
        message: A LangChain message, a mapping with `role` (or `type`) and `content`, or a
            pair of role and text.
        index: Number of the turn, from 1.
        limit: Longest text that is kept whole, in characters.
    """
    role, content = _said(message)
    text = excerpt(visible_text(" ".join(_texts(content)).strip()), limit)
    channel, calls = _channel(role), tuple(_calls(message))
    return Turn(index, given_id(message) or f"turn-{index}", channel, text, calls)


def given_id(message: object) -> str | None:
    """Return the id that a message came with, None if it has none."""
    found = _member(message, "id")
    return visible_text(found) if isinstance(found, str) and found else None


def with_id(message: object, message_id: str) -> dict[str, Any]:
    """Return a message as a mapping that has an id, to be known by it the next time."""
    role, content = _said(message)
    kept = {name: _member(message, name) for name in ("tool_calls", "additional_kwargs")}
    return {"role": role, "content": content, "id": message_id, **kept}


def digest(turn: Turn) -> str:
    """Return a short fingerprint of what a turn says, to tell an edited message from a seen one."""
    said = "\n".join((turn.channel, turn.text, *turn.calls))
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def is_own_scaffold(message: object) -> bool:
    """Whether a message was injected by driftguard; such messages are never measured."""
    extra = _member(message, "additional_kwargs")
    return isinstance(extra, Mapping) and bool(extra.get(SCAFFOLD_MARK))


def _said(message: object) -> tuple[str, Any]:
    """Return the role and the content of a message."""
    if isinstance(message, tuple | list) and len(message) == 2:
        return str(message[0]), message[1]
    if isinstance(message, str):
        return "user", message
    content, extra = _member(message, "content"), _member(message, "additional_kwargs")
    if isinstance(extra, Mapping) and extra.get("lc_source") == "summarization":
        # LangChain's SummarizationMiddleware speaks as the user, who never said that.
        return "summary", content
    role = _member(message, "role") or _member(message, "type") or type(message).__name__
    return str(role), content


def _member(message: object, name: str) -> Any:
    if isinstance(message, Mapping):
        return message.get(name)
    # A pydantic object takes long to say that it lacks an attribute, and every message of a
    # session is asked at every visit.
    held = getattr(message, "__dict__", None)
    if held is not None and name in held:
        return held[name]
    declared = _declares(type(message), name)  # type: ignore[arg-type]
    return getattr(message, name, None) if declared else None


@lru_cache(maxsize=512)
def _declares(kind: type, name: str) -> bool:
    return any(name in vars(base) for base in kind.__mro__)


def _channel(role: str) -> Channel:
    # An unknown speaker (a named agent) is one of the assistants.
    return Channel(_ROLES.get(role.strip().lower(), "assistant"))


def _texts(content: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts of a content: a string, or blocks of which only text blocks speak."""
    if isinstance(content, str):
        yield content
    elif depth == MAX_DEPTH:
        return
    elif isinstance(content, Mapping):
        block = content.get("text", content.get("content"))
        if content.get("type") not in {"image", "image_url", "input_audio", "file"}:
            yield from _texts(block, depth + 1)
    elif isinstance(content, Sequence) and not isinstance(content, bytes | bytearray):
        for block in content:
            yield from _texts(block, depth + 1)


def _calls(message: object) -> Iterator[str]:
    calls = _member(message, "tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        function = _member(call, "function")
        name = _member(call, "name") or _member(function, "name")
        args = _member(call, "args")
        given = args if args is not None else _member(function, "arguments")
        shown = given if isinstance(given, str) else _rendered(given)
        yield excerpt(visible_text(f"{name}({shown})"), 2_000)


def _rendered(arguments: object) -> str:
    try:
        return json.dumps(arguments, default=str, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        # Keys of mixed types, a structure that holds itself, or one that is too deep.
        return f"<{type(arguments).__name__}>"
