"""Message logs of OpenAI's APIs.

Chat Completions: an assistant message proposes `tool_calls` (`id`, `function.name`,
`function.arguments` as a JSON string); messages of the role `tool` answer them by
`tool_call_id`. The next message of another role ends the turn.

    {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "ping", ...}}]}
    {"role": "tool", "tool_call_id": "a", "content": "Error: unreachable"}

Responses: items `function_call` (`call_id`, `name`, `arguments`) and `function_call_output`
(`call_id`, `output`), and the same for `custom_tool_call`. Items of other types are passed
over. A result marked with `"status": "error"` or `"is_error": true` has failed; all others
are judged by their text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.conversation import Conversation
from driftguard_langgraph.evaluation.formats.base import EntryFormat
from driftguard_langgraph.evaluation.formats.message_log import MessageLog, messages_of
from driftguard_langgraph.evaluation.steps import Batch

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})


def is_message(entry: Any) -> bool:
    """Return whether the entry is one message or one item of a response."""
    if not isinstance(entry, Mapping):
        return False
    kind = entry.get("type")
    return "role" in entry or (isinstance(kind, str) and (kind in _CALLS or kind in _OUTPUTS))


def recognises(entry: Any) -> bool:
    """Return whether the entry is a message or holds messages."""
    return is_message(entry) or messages_of(entry) is not None or _names_messages(entry)


def take(conversation: Conversation, message: Any, where: str) -> Iterator[Batch]:
    """Put one message into a conversation; yield the batch that it ends.

    Raises:
        InvalidEpisode: It is not a message, or answers a call that was not made.
    """
    kind = message.get("type") if isinstance(message, Mapping) else None
    if isinstance(kind, str) and "role" not in message:
        yield from _take_item(conversation, kind, message, where)
        return
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise InvalidEpisode(f"{where}: a message must be an object with a 'role'.")
    if message["role"] == "tool":
        _answer(conversation, message, "tool_call_id", "content", where)
        return
    yield from conversation.flush()
    if message["role"] == "assistant":
        _propose_all(conversation, message.get("tool_calls") or [], where)


OPENAI = EntryFormat("openai", recognises, partial(MessageLog, take=take, is_message=is_message))


def _names_messages(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "messages" in entry


def _take_item(
    conversation: Conversation, kind: str, item: Mapping[str, Any], where: str
) -> Iterator[Batch]:
    if kind in _CALLS:
        # Calls that follow each other were made at once; one that follows a result was not.
        yield from conversation.flush()
        conversation.propose(item.get("call_id"), item.get("name"), item.get(_CALLS[kind]), where)
    elif kind in _OUTPUTS:
        _answer(conversation, item, "call_id", "output", where)


def _answer(
    conversation: Conversation, message: Mapping[str, Any], key: str, content: str, where: str
) -> None:
    marked = message.get("status") == "error" or message.get("is_error") is True
    conversation.answer(
        message.get(key), message.get(content), where, failed=True if marked else None
    )


def _propose_all(conversation: Conversation, calls: Any, where: str) -> None:
    if not isinstance(calls, list):
        raise InvalidEpisode(f"{where}: 'tool_calls' must be a list.")
    for call in calls:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise InvalidEpisode(f"{where}: a tool call needs a 'function' with a 'name'.")
        conversation.propose(call.get("id"), function.get("name"), function.get("arguments"), where)
