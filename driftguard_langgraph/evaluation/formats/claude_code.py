"""Sessions of Claude Code: the JSONL files under its `projects` folder.

    {"type": "assistant", "sessionId": "s", "message": {"id": "m", "content": [
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}]}}
    {"type": "user", "sessionId": "s", "message": {"content": [
        {"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "..."}]}}

A session is a stream; a sub-agent's side chain is a conversation of its own within it. The
tool calls of one assistant message form one batch, also when they are on several lines.
Only `is_error` says that a call failed: what a tool read may look like an error and be none
(a failure pattern of the user's is asked nevertheless). Other lines are passed over, and so
are results whose call is not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.conversation import Conversation
from driftguard_langgraph.evaluation.failures import looks_failed
from driftguard_langgraph.evaluation.formats.base import EntryFormat, Source
from driftguard_langgraph.evaluation.steps import Batch

_OTHER_LINES = frozenset({"summary", "file-history-snapshot", "queue-operation"})
"""Types of the lines that need not name the session."""


def recognises(entry: Any) -> bool:
    """Return whether the entry is a line of a session."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str):
        return False
    return "sessionId" in entry or entry["type"] in _OTHER_LINES


class ClaudeCode:
    """Reads the lines of sessions."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._chains: dict[tuple[str, str], _Chain] = {}

    def add(self, entry: Any, where: str) -> Iterator[Batch]:
        """Read one line.

        Raises:
            InvalidEpisode: It is no JSON object, or a block of it is not valid.
        """
        if not isinstance(entry, Mapping):
            raise InvalidEpisode(f"{where}: expected a JSON object, as in a session's file.")
        message = entry.get("message")
        if entry.get("type") not in ("assistant", "user") or not isinstance(message, Mapping):
            return
        chain = self._chain(entry)
        if entry["type"] == "assistant":
            yield from chain.turn(message)
        for block in _blocks(message):
            if block.get("type") == "tool_use":
                chain.conversation.propose(
                    block.get("id"), block.get("name"), block.get("input"), where
                )
            elif block.get("type") == "tool_result":
                chain.conversation.answer(
                    block.get("tool_use_id"), block.get("content"), where, failed=self._mark(block)
                )

    def flush(self) -> Iterator[Batch]:
        """Yield what the open turns still hold."""
        for chain in self._chains.values():
            yield from chain.conversation.flush()

    def _chain(self, entry: Mapping[str, Any]) -> _Chain:
        session = str(entry.get("sessionId") or self._source.name)
        side = str(entry.get("agentId") or ("side" if entry.get("isSidechain") is True else ""))
        if (session, side) not in self._chains:
            conversation = Conversation(session, self._source.is_failure, forgiving=True)
            self._chains[session, side] = _Chain(conversation)
        return self._chains[session, side]

    def _mark(self, block: Mapping[str, Any]) -> bool | None:
        marked = block.get("is_error") is True
        return marked if marked or self._source.is_failure is looks_failed else None


CLAUDE_CODE = EntryFormat("claude-code", recognises, ClaudeCode)


class _Chain:
    """One conversation and the assistant message that it is at."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._message: Any = None

    def turn(self, message: Mapping[str, Any]) -> Iterator[Batch]:
        """Yield the batch of the turn before, if the message begins another one."""
        if message.get("id") is None or message["id"] != self._message:
            yield from self.conversation.flush()
        self._message = message.get("id")


def _blocks(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = message.get("content")
    yield from (b for b in (content if isinstance(content, list) else ()) if isinstance(b, Mapping))
