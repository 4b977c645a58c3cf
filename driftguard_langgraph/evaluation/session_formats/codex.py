"""Conversations of Codex: `{"type": "response_item", "payload": {...}}`, one a line.

The instructions of the `session_meta` line are the system message. Events repeat what the
response items hold, so only these are read; what Codex itself puts into the user's turns
(`<environment_context>` and the like) is counted, not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.evaluation.conversation import text_of
from driftguard_langgraph.evaluation.session_formats.base import (
    COMPACTED,
    DUPLICATE,
    FOREIGN,
    INJECTED,
    META,
    Collector,
    Message,
    SessionFormat,
    kind_of,
    spoken,
)
from driftguard_langgraph.evaluation.session_formats.injected import is_tagged

_SKIPPED = {"event_msg": DUPLICATE, "turn_context": META, "compacted": COMPACTED}
_TYPES = frozenset({"session_meta", "response_item", *_SKIPPED})


def recognises(entry: Any) -> bool:
    """Return whether the entry is a line of a session of Codex."""
    return (
        isinstance(entry, Mapping)
        and kind_of(entry) in _TYPES
        and isinstance(entry.get("payload"), Mapping)
    )


class CodexSession:
    """Reads the lines of a session."""

    def __init__(self, into: Collector) -> None:
        self._into = into

    def add(self, entry: Any, where: str) -> None:
        """Read one line."""
        if not recognises(entry):
            self._into.skip(FOREIGN)
        elif entry["type"] in _SKIPPED:
            self._into.skip(_SKIPPED[entry["type"]])
        elif entry["type"] == "session_meta":
            self._add_instructions(entry["payload"], where)
        else:
            add_item(self._into, "", entry["payload"], where)

    def _add_instructions(self, meta: Mapping[str, Any], where: str) -> None:
        given = meta.get("base_instructions") or meta.get("instructions")
        text = given.get("text") if isinstance(given, Mapping) else given
        if isinstance(text, str) and text.strip():
            self._into.add("", Message("system", text, where))
        else:
            self._into.skip(META)


CODEX = SessionFormat("codex", recognises, CodexSession)


def add_item(into: Collector, stream: str, item: Mapping[str, Any], where: str) -> None:
    """Take one item of the Responses API: a message, a call of a tool, or its output."""
    kind, known = kind_of(item), item.get("id") or item.get("call_id")
    message_id = known if isinstance(known, str) else None
    if kind == "message":
        for message in spoken(str(item.get("role")), item.get("content"), where, message_id):
            if message.role == "user" and is_tagged(message.text):
                into.skip(INJECTED)
            else:
                into.add(stream, message)
    elif kind.endswith("_call_output"):
        into.add(stream, Message("tool", text_of(item.get("output")), where))
    elif kind.endswith("_call"):
        given = item.get("arguments", item.get("input", item.get("action")))
        call = {"name": item.get("name", kind), "args": given}
        into.add(stream, Message("assistant", "", where, message_id, (call,)))
    else:
        into.skip(FOREIGN)
