"""Conversations as plain text: a line that begins with a speaker begins a turn.

    User: When does the pool open?
    Assistant: At seven.
    On Sundays at nine.

`**User:**`, `[user] ...` and a heading `## User` do as well. Lines without a speaker go on with
the turn before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from driftguard_langgraph.evaluation.session_formats.base import (
    BLANK,
    FOREIGN,
    Collector,
    Message,
)

_ROLES = {
    "system": "system", "developer": "system", "scaffold": "system", "summary": "system",
    "user": "user", "human": "user", "you": "user", "customer": "user",
    "assistant": "assistant", "ai": "assistant", "agent": "assistant", "bot": "assistant",
    "model": "assistant", "chatgpt": "assistant", "claude": "assistant",
    "tool": "tool", "function": "tool",
}  # fmt: skip
_NAME = f"({'|'.join(_ROLES)})"
_MARK = r"(?:\*\*|__)?"
_SPEAKER = re.compile(
    rf"{_MARK}{_NAME}{_MARK}:{_MARK}(?:\s+|$)|\[{_NAME}\]:?(?:\s+|$)|#{{1,6}}\s{{0,3}}{_NAME}:?\s*$",
    re.IGNORECASE,
)


def speaks(line: str) -> bool:
    """Return whether a line begins with a speaker."""
    return _SPEAKER.match(line) is not None


def read_text(lines: Iterable[str], name: str, into: Collector) -> None:
    """Take the turns of a text.

    Args:
        lines: Its lines.
        name: Name of the file, for messages.
        into: What collects the turns; lines before the first speaker are counted there.
    """
    for message in _turns(lines, name, into):
        into.add("", message)


def _turns(lines: Iterable[str], name: str, into: Collector) -> Iterator[Message]:
    role: str | None = None
    where = ""
    said: list[str] = []
    for number, line in enumerate(lines, 1):
        found = _SPEAKER.match(line)
        if found is not None:
            if role is not None:
                yield Message(role, "\n".join(said).strip(), where)
            speaker = next(filter(None, found.groups())).lower()
            role, where, said = _ROLES[speaker], f"{name}, line {number}", [line[found.end() :]]
        elif role is not None:
            said.append(line)
        else:
            into.skip(FOREIGN if line.strip() else BLANK)
    if role is not None:
        yield Message(role, "\n".join(said).strip(), where)
