"""What the readers of recorded conversations share: a message, and what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from driftguard_langgraph.evaluation.conversation import text_of

BLANK = "blank line"
BROKEN = "not JSON"
COMPACTED = "compact summary"
DUPLICATE = "seen before"
EMPTY = "no text"
FOREIGN = "no message"
INJECTED = "injected by the program"
INTERRUPTED = "interrupt marker"
META = "meta record"
OWN = "driftguard's own scaffold"
SIDECHAIN = "side chain"
"""Why something in a file is no turn of the conversation."""

_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a recorded conversation.

    Attributes:
        role: Who speaks, as the log says it.
        text: What is said.
        where: File and line (or entry) it was read from.
        message_id: Its id in the log, if it has one.
        calls: Tool calls that it makes, as the log has them.
    """

    role: str
    text: str
    where: str
    message_id: str | None = None
    calls: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as a monitor observes it."""
        known = {"id": self.message_id} if self.message_id is not None else {}
        calls = {"tool_calls": list(self.calls)} if self.calls else {}
        return {"role": self.role, "content": self.text, **known, **calls}


class Collector:
    """Takes the messages of one file, stream by stream, and counts what is none.

    Attributes:
        streams: Messages of every stream, in the order in which the streams begin.
        skipped: How often something was left out, by reason.
    """

    def __init__(self) -> None:
        self.streams: dict[str, list[Message]] = {}
        self.skipped: Counter[str] = Counter()

    def add(self, stream: str, message: Message) -> bool:
        """Take a message, or count it if it says and calls nothing; return whether it is taken."""
        taken = bool(message.text.strip() or message.calls)
        if taken:
            self.streams.setdefault(stream, []).append(message)
        else:
            self.skip(EMPTY)
        return taken

    def skip(self, reason: str) -> None:
        """Count something that is no turn of the conversation."""
        self.skipped[reason] += 1


class SessionReader(Protocol):
    """Reads the entries of one file."""

    def add(self, entry: Any, where: str) -> None:
        """Take one entry as parsed from JSON; what is no message of it is counted."""


@dataclass(frozen=True, slots=True)
class SessionFormat:
    """A way of writing a conversation down as JSON.

    Attributes:
        name: Its name in reports.
        recognises: Says whether an entry is of this format.
        open: Makes the reader of one file.
    """

    name: str
    recognises: Callable[[Any], bool]
    open: Callable[[Collector], SessionReader]


def kind_of(entry: Any) -> str:
    """Return the `type` of an entry or a block; empty if it has none."""
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    return kind if isinstance(kind, str) else ""


def spoken(
    role: str, content: Any, where: str, message_id: str | None, calls: Sequence[Any] = ()
) -> Iterator[Message]:
    """Yield the messages that a content of blocks holds.

    The results of tools that stand in a user's message are messages of the tool: what a tool
    returned must not pass for words of the user. Thoughts and pictures say nothing.

    Args:
        role: Who speaks.
        content: A string, or blocks as Anthropic's and OpenAI's APIs have them.
        where: File and line.
        message_id: Its id; further messages from it get `<id>#2` and so on.
        calls: Tool calls that stand beside the content.
    """
    ids = _numbered(message_id)
    made: list[Mapping[str, Any]] = [call for call in calls if isinstance(call, Mapping)]
    words: list[str] = []
    returned = False
    for block in content if isinstance(content, list) else [content]:
        kind = kind_of(block)
        if kind == "tool_result":
            returned = True
            yield Message("tool", text_of(block.get("content")), where, next(ids))
        elif kind == "tool_use":
            # LangChain keeps both the block and the call that it made of it.
            if not any(call.get("id") == block.get("id") for call in made):
                made.append({"name": block.get("name"), "args": block.get("input")})
        elif kind not in _THOUGHTS:
            words.append(_words(block))
    text = "\n".join(filter(None, words))
    if text or made or not returned:
        yield Message(role, text, where, next(ids), tuple(made))


def _words(block: Any) -> str:
    given = block.get("text", block.get("refusal")) if isinstance(block, Mapping) else block
    return given if isinstance(given, str) else ""


def _numbered(message_id: str | None) -> Iterator[str | None]:
    yield message_id
    number = 2
    while True:
        yield None if message_id is None else f"{message_id}#{number}"
        number += 1
