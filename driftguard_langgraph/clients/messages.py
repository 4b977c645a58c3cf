"""Requests and replies of all vendors, read as one kind of message."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]

_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "aimessagechunk": "assistant",
    "tool": "tool", "function": "tool",
}  # fmt: skip
_SPOKEN = {"text", "input_text", "output_text", "refusal", None}


@dataclass(frozen=True, slots=True)
class Said:
    """One message.

    Attributes:
        role: Who speaks.
        content: What is said, without thoughts, images and tool results.
        tool_calls: Tool calls it makes, each `{"name", "args"}`.
    """

    role: Role
    content: str
    tool_calls: tuple[dict[str, Any], ...] = ()

    @property
    def digest(self) -> str:
        """Fingerprint of the message, however a vendor or the caller writes it down."""
        names = [call["name"] for call in self.tool_calls]
        return hashlib.sha256(
            json.dumps([self.role, self.content.strip(), names]).encode()
        ).hexdigest()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request tells the model.

    Attributes:
        messages: The conversation so far, without system messages.
        system: The system messages, as one text.
        previous: Id of the reply that the request goes on from; None if it says so itself.
        conversation: Id of the conversation that the request names.
        scope: Conversations of one scope are never taken for those of another.
    """

    messages: tuple[Said, ...]
    system: str = ""
    previous: str | None = None
    conversation: str | None = None
    scope: str = ""


@dataclass(slots=True)
class Reply:
    """What the model answered.

    Attributes:
        text: The words.
        calls: Its tool calls.
        reply_id: The vendor's id of the reply.
    """

    text: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    reply_id: str | None = None

    @property
    def said(self) -> Said:
        """The reply as a message."""
        return Said("assistant", self.text, tuple(self.calls))


def member(item: object, name: str) -> Any:
    """Return a field of a mapping or an object; None if it has none."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def spoken(content: object) -> str:
    """Return the words of a content: a text, or a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    return "".join(_block_text(block) for block in content)


def _block_text(block: object) -> str:
    if isinstance(block, str):
        return block
    if member(block, "type") not in _SPOKEN:
        return ""
    text = member(block, "text") or member(block, "refusal")
    return text if isinstance(text, str) else ""


def asked(
    items: object,
    *,
    system: object = None,
    previous: object = None,
    conversation: object = None,
    scope: str = "",
) -> Asked:
    """Read a request.

    Args:
        items: Its messages or items, or the text of its only message.
        system: Its system prompt, where that is no message.
        previous: Id of the reply it goes on from.
        conversation: Id of its conversation.
        scope: See `Asked`.
    """
    items = [{"role": "user", "content": items}] if isinstance(items, str) else items
    read = list(_all_said(items if isinstance(items, list | tuple) else ()))
    prompts = [spoken(system), *(each.content for each in read if each.role == "system")]
    return Asked(
        tuple(_merged(each for each in read if each.role != "system")),
        "\n\n".join(filter(None, prompts)),
        previous if isinstance(previous, str) else None,
        conversation if isinstance(conversation, str) else member(conversation, "id"),
        scope,
    )


def said_by_model(message: object) -> Reply:
    """Read a message of a model: OpenAI's chat message, Anthropic's or LangChain's."""
    content = member(message, "content")
    text = spoken(content) or spoken(member(message, "refusal"))
    return Reply(text, list(_calls(message, content)))


def said_in_output(output: object) -> Reply:
    """Read the output items of the Responses API."""
    read = list(_merged(_all_said(output if isinstance(output, list | tuple) else ())))
    answers = [each for each in read if each.role == "assistant"]
    text = "\n".join(each.content for each in answers if each.content)
    return Reply(text, [call for each in answers for call in each.tool_calls])


def _all_said(items: Iterable[object]) -> Iterator[Said]:
    for item in items:
        kind = member(item, "type")
        if kind in {"function_call", "custom_tool_call"}:
            args = member(item, "arguments") or member(item, "input")
            yield Said("assistant", "", ({"name": str(member(item, "name")), "args": args},))
        elif kind in {"function_call_output", "custom_tool_call_output"}:
            yield Said("tool", spoken(member(item, "output")))
        else:
            yield from _message(item)


def _message(item: object) -> Iterator[Said]:
    role = _ROLES.get(str(member(item, "role") or member(item, "type")).lower())
    if role is None:
        return
    content = member(item, "content")
    if role == "assistant":
        yield said_by_model(item).said
        return
    blocks = content if isinstance(content, list | tuple) else ()
    results = [each for each in blocks if member(each, "type") == "tool_result"]
    for result in results:
        yield Said("tool", spoken(member(result, "content")))
    text = spoken(content)
    if text or not results:
        yield Said(role, text)


def _calls(message: object, content: object) -> Iterator[dict[str, Any]]:
    calls = member(message, "tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        function = member(call, "function")
        args = member(call, "args")
        yield {
            "name": str(member(call, "name") or member(function, "name")),
            "args": args if args is not None else member(function, "arguments"),
        }
    if not calls and isinstance(content, list | tuple):
        for block in content:
            if member(block, "type") == "tool_use":
                yield {"name": str(member(block, "name")), "args": member(block, "input")}


def _merged(messages: Iterable[Said]) -> Iterator[Said]:
    """Join what an assistant says in several items, as one reply may be several items."""
    held: Said | None = None
    for message in messages:
        if held is not None and message.role == "assistant":
            text = "\n".join(filter(None, (held.content, message.content)))
            held = Said("assistant", text, (*held.tool_calls, *message.tool_calls))
            continue
        if held is not None:
            yield held
            held = None
        if message.role == "assistant":
            held = message
        else:
            yield message
    if held is not None:
        yield held
