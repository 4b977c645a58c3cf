"""Conversations of Claude Code, and every log of `{"type", "message": {...}}` lines.

    {"type": "user", "sessionId": "s", "uuid": "u", "message": {"content": "fix the build"}}
    {"type": "assistant", "sessionId": "s", "message": {"id": "m", "content": [
        {"type": "text", "text": "On it."}, {"type": "tool_use", "name": "Bash", ...}]}}

Not turns of the conversation, and counted: side chains of sub-agents, meta records, summaries
of a compaction, what the program injects into the user's turns, and its notices. The lines of
one assistant message are one turn. What a tool returned is kept whole: a reminder in there
may be forged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from driftguard_langgraph.evaluation.formats import claude_code
from driftguard_langgraph.evaluation.session_formats.base import (
    COMPACTED,
    DUPLICATE,
    FOREIGN,
    INJECTED,
    META,
    SIDECHAIN,
    Collector,
    Message,
    SessionFormat,
    kind_of,
    spoken,
)
from driftguard_langgraph.evaluation.session_formats.injected import users_words

_SPEAKERS = frozenset({"user", "assistant", "system"})
_FLAGS = {
    "isSidechain": SIDECHAIN,
    "isCompactSummary": COMPACTED,
    "isMeta": META,
    "isApiErrorMessage": INJECTED,
}


def recognises(entry: Any) -> bool:
    """Return whether the entry is a line of such a log."""
    if not isinstance(entry, Mapping):
        return False
    speaks = isinstance(entry.get("message"), Mapping) and kind_of(entry) in _SPEAKERS
    return speaks or claude_code.recognises(entry)


class ClaudeCodeSession:
    """Reads the lines of sessions."""

    def __init__(self, into: Collector) -> None:
        self._into = into
        self._seen: set[str] = set()
        self._speaking: dict[str, str | None] = {}

    def add(self, entry: Any, where: str) -> None:
        """Read one line."""
        reason = self._no_turn(entry)
        if reason is not None:
            self._into.skip(reason)
            return
        stream = str(entry.get("sessionId") or "")
        answer = _id(entry["message"], "id") if entry["type"] == "assistant" else None
        said = list(self._said(entry, where))
        if answer is not None and self._speaking.get(stream) == answer and said:
            self._go_on(self._into.streams[stream], said.pop(0))
        taken = [self._into.add(stream, message) for message in said]
        if any(taken):
            self._speaking[stream] = answer

    def _no_turn(self, entry: Any) -> str | None:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("message"), Mapping):
            return FOREIGN
        if kind_of(entry) not in _SPEAKERS:
            return FOREIGN
        for flag, reason in _FLAGS.items():
            if entry.get(flag) is True:
                return reason
        known = _id(entry, "uuid")
        if known is not None and known in self._seen:
            return DUPLICATE
        self._seen.update([known] if known is not None else [])
        return None

    def _said(self, entry: Mapping[str, Any], where: str) -> Iterator[Message]:
        content = entry["message"].get("content")
        for message in spoken(entry["type"], content, where, _id(entry, "uuid")):
            if message.role != "user":
                yield message
                continue
            text, reason = users_words(message.text)
            if reason is None:
                yield replace(message, text=text)
            else:
                self._into.skip(reason)

    @staticmethod
    def _go_on(messages: list[Message], more: Message) -> None:
        """Put another line of an assistant message to the one before it."""
        last = messages[-1]
        text = "\n".join(filter(None, (last.text, more.text)))
        messages[-1] = replace(last, text=text, calls=(*last.calls, *more.calls))


CLAUDE_CODE = SessionFormat("claude-code", recognises, ClaudeCodeSession)


def _id(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None
