"""Message logs in every arrangement: OpenAI's, LangChain's, and plain `{role, text}` turns.

An entry is one message, a pair of role and text, a list of these, or an object that holds such
a list under `turns`, `messages` or `conversation` (or `input` and `output`, as the Responses
API has it), with the system prompt beside it under `system`, `system_prompt` or
`instructions`. A list is a conversation of its own, unless it repeats the list before it and
goes on, as logs of model calls do; it is then read once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.drift.turns import is_own_scaffold
from driftguard_langgraph.evaluation.formats import langchain
from driftguard_langgraph.evaluation.session_formats.base import (
    FOREIGN,
    OWN,
    Collector,
    SessionFormat,
    kind_of,
    spoken,
)
from driftguard_langgraph.evaluation.session_formats.codex import add_item

_LISTS = ("turns", "messages", "conversation", "conversations", "input", "output")
_PROMPTS = ("system", "system_prompt", "instructions", "baseline_text")
_STREAMS = (
    "stream_id", "thread_id", "conversation_id", "session_id", "conv_id", "id", "name",
)  # fmt: skip
_ROLES = ("role", "speaker", "from")
_TEXTS = ("content", "text", "value")
_SPEAKERS = frozenset({"user", "assistant", "system", "developer", "tool"})
_LANGCHAIN_ROLES = {"human": "user", "ai": "assistant"}


def recognises(entry: Any) -> bool:
    """Return whether the entry is a message, a pair, or holds some."""
    return _is_message(entry) or _listed(entry) is not None


class MessageSession:
    """Reads messages and lists of messages."""

    def __init__(self, into: Collector) -> None:
        self._into = into
        self._read: list[Any] = []
        self._named = ""
        self._stream = ""

    def add(self, entry: Any, where: str) -> None:
        """Read one message or one list of them."""
        if _is_message(entry):
            self._add_message(_stream_of(entry, _STREAMS[:5]), entry, where)
            return
        messages = _listed(entry)
        if messages is None:
            self._into.skip(FOREIGN)
            return
        named = _stream_of(entry, _STREAMS)
        seen = len(self._read)
        if not seen or named != self._named or messages[:seen] != self._read:
            self._named, self._stream, seen = named, self._free(named or where), 0
        for number, message in enumerate(messages[seen:], seen):
            self._add_message(self._stream, message, f"{where}, message {number}")
        self._read = messages

    def _free(self, name: str) -> str:
        """Return a stream name under which nothing has been read."""
        number, free = 2, name
        while free in self._into.streams:
            free, number = f"{name} ({number})", number + 1
        return free

    def _add_message(self, stream: str, message: Any, where: str) -> None:
        if is_own_scaffold(langchain.flattened(message) or message):
            self._into.skip(OWN)
            return
        if isinstance(message, Mapping) and not _is_message(message) and "type" in message:
            add_item(self._into, stream, message, where)
            return
        role, content, message_id, calls = _parts(message)
        if role is None:
            self._into.skip(FOREIGN)
            return
        for said in spoken(role, content, where, message_id, calls):
            self._into.add(stream, said)


MESSAGES = SessionFormat("messages", recognises, MessageSession)


def _is_message(entry: Any) -> bool:
    if langchain.is_message(entry):
        return True
    return isinstance(entry, Mapping) and _role(entry) is not None


def _listed(entry: Any) -> list[Any] | None:
    """Return the messages that an entry holds, its system prompt first; None if it holds none."""
    if isinstance(entry, list):
        return entry
    if not isinstance(entry, Mapping):
        return None
    lists = [entry[name] for name in _LISTS if isinstance(entry.get(name), list)]
    if not lists:
        return None
    prompt = _first(entry, _PROMPTS)
    system = [] if not prompt else [{"role": "system", "content": prompt}]
    return [*system, *(message for messages in lists for message in messages)]


def _parts(message: Any) -> tuple[str | None, Any, str | None, list[Any]]:
    """Return role, content, id and calls of a message; the role is None if it is none."""
    flat = langchain.flattened(message) if langchain.is_message(message) else None
    if flat is not None:
        role = str(flat.get("role") or _LANGCHAIN_ROLES.get(flat["type"], flat["type"]))
        return role, flat.get("content"), _id(flat), _calls(flat)
    if isinstance(message, Mapping):
        return _role(message), _first(message, _TEXTS), _id(message), _calls(message)
    if isinstance(message, list) and len(message) == 2 and isinstance(message[0], str):
        return message[0], message[1], None, []
    return None, None, None, []


def _role(message: Mapping[str, Any]) -> str | None:
    given = _first(message, _ROLES)
    if given is None and kind_of(message) in _SPEAKERS:
        given = message["type"]
    return given if isinstance(given, str) else None


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _id(fields: Mapping[str, Any]) -> str | None:
    value = fields.get("id")
    return value if isinstance(value, str) and value else None


def _calls(fields: Mapping[str, Any]) -> list[Any]:
    calls = fields.get("tool_calls")
    return calls if isinstance(calls, list) else []


def _stream_of(entry: Any, names: tuple[str, ...]) -> str:
    value = _first(entry, names) if isinstance(entry, Mapping) else None
    return value if isinstance(value, str) else "" if value is None else str(value)
