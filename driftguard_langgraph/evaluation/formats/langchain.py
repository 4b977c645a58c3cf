"""Message logs of LangChain, in the three forms in which its messages are written.

`messages_to_dict`: `{"type": "ai", "data": {...}}`; `dumpd`: `{"lc": 1, "id": [...,
"AIMessage"], "kwargs": {...}}`; `model_dump`: `{"type": "ai", "content": ..., ...}`.
An `ai` message proposes `tool_calls` (`id`, `name`, `args`); `tool` messages answer them by
`tool_call_id`. The next message of another type ends the turn. A tool message with the
status `error` has failed; all others are judged by their text.
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

_TYPES = frozenset({"human", "ai", "tool", "system", "chat", "function", "developer", "remove"})
_SILENT = frozenset({"remove"})
"""Messages that only say something about the list they are in."""


def is_message(entry: Any) -> bool:
    """Return whether the entry is one message in one of the forms."""
    flat = flattened(entry)
    return flat is not None and flat["type"] in _TYPES and "content" in flat


def recognises(entry: Any) -> bool:
    """Return whether the entry is a message or holds some."""
    return is_message(entry) or any(map(is_message, (messages_of(entry) or [])[:1]))


def flattened(entry: Any) -> dict[str, Any] | None:
    """Return the fields of a message with its plain `type`; None if it is no message."""
    if not isinstance(entry, Mapping):
        return None
    kind, fields = entry.get("type"), entry
    if kind == "constructor" and isinstance(entry.get("kwargs"), Mapping):
        fields = entry["kwargs"]
        path = entry.get("id")
        kind = str(path[-1]) if isinstance(path, list) and path else fields.get("type")
    elif isinstance(entry.get("data"), Mapping):
        fields = entry["data"]
    if not isinstance(kind, str) or ("role" in entry and kind != "chat"):
        return None
    return {**fields, "type": _plain_type(kind)}


def take(conversation: Conversation, message: Any, where: str) -> Iterator[Batch]:
    """Put one message into a conversation; yield the batch that it ends.

    Raises:
        InvalidEpisode: It is not a message, or answers a call that was not made.
    """
    flat = flattened(message)
    if flat is None or flat["type"] not in _TYPES:
        raise InvalidEpisode(f"{where}: a message must be an object with the 'type' of a message.")
    if flat["type"] == "tool":
        conversation.answer(
            flat.get("tool_call_id"),
            flat.get("content"),
            where,
            failed=True if flat.get("status") == "error" else None,
        )
    elif flat["type"] not in _SILENT:
        yield from conversation.flush()
        for call in [*_listed(flat, "tool_calls"), *_listed(flat, "invalid_tool_calls")]:
            if not isinstance(call, Mapping):
                raise InvalidEpisode(f"{where}: a tool call must be an object.")
            conversation.propose(call.get("id"), call.get("name"), call.get("args"), where)


LANGCHAIN = EntryFormat(
    "langchain", recognises, partial(MessageLog, take=take, is_message=is_message)
)


def _plain_type(kind: str) -> str:
    """Return `ai` for `ai`, `AIMessage` and `AIMessageChunk`, and so on."""
    return kind.removesuffix("Chunk").removesuffix("Message").lower()


def _listed(fields: Mapping[str, Any], name: str) -> list[Any]:
    value = fields.get(name)
    return value if isinstance(value, list) else []
