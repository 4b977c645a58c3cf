"""Logs of messages, in every arrangement: what OpenAI's and LangChain's have in common.

An entry is one message, a list of messages, or an object that holds such a list under
`messages` (or, as in requests and responses of OpenAI's Responses API, `input` and
`output`). A list is a conversation of its own; its stream is its `stream_id` (else
`thread_id`, `conversation_id` or `session_id`, else the file). A log that repeats the
conversation so far in every entry, as logs of model calls do, is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.conversation import Conversation
from driftguard_langgraph.evaluation.formats.base import Source
from driftguard_langgraph.evaluation.steps import Batch

Take = Callable[[Conversation, Any, str], Iterator[Batch]]
"""Puts one message into a conversation and yields the batch that it ends."""

_LISTS = ("messages", "input", "output")
_STREAMS = ("stream_id", "thread_id", "conversation_id", "session_id")


class MessageLog:
    """Reads conversations of messages.

    Args:
        source: The file.
        take: Reads one message.
        is_message: Tells a message from an object that holds messages.
    """

    def __init__(self, source: Source, take: Take, is_message: Callable[[Any], bool]) -> None:
        self._source = source
        self._take = take
        self._is_message = is_message
        self._loose = Conversation(source.name, source.is_failure)
        self._stream: str | None = None
        self._read: list[Any] = []
        self._listed = Conversation(source.name, source.is_failure)

    def add(self, entry: Any, where: str) -> Iterator[Batch]:
        """Read one message or one list of them.

        Raises:
            InvalidEpisode: It is neither, or a message is not valid and may not be skipped.
        """
        if self._is_message(entry):
            yield from self._end_of_list()
            yield from self._take(self._loose, entry, where)
            return
        yield from self._loose.flush()
        messages = messages_of(entry)
        if messages is None:
            raise InvalidEpisode(f"{where}: expected a message, or a list of 'messages'.")
        stream = _stream_of(entry, self._source.name)
        if not self._goes_on(stream, messages):
            yield from self._end_of_list()
            self._listed = Conversation(stream, self._source.is_failure)
            self._stream = stream
        start, self._read = len(self._read), messages
        for index, message in enumerate(messages[start:], start):
            with self._source.tolerating():
                yield from self._take(self._listed, message, f"{where}, message {index}")

    def flush(self) -> Iterator[Batch]:
        """Yield what the open conversations still hold."""
        yield from self._end_of_list()
        yield from self._loose.flush()

    def _goes_on(self, stream: str, messages: list[Any]) -> bool:
        seen = len(self._read)
        longer = stream == self._stream and len(messages) > seen
        return longer and messages[:seen] == self._read

    def _end_of_list(self) -> Iterator[Batch]:
        self._stream, self._read = None, []
        yield from self._listed.flush()


def messages_of(entry: Any) -> list[Any] | None:
    """Return the messages that an entry holds, None if it is no container of messages."""
    if isinstance(entry, list):
        return entry
    if not isinstance(entry, Mapping):
        return None
    lists = [entry[name] for name in _LISTS if isinstance(entry.get(name), list)]
    return [message for messages in lists for message in messages] if lists else None


def _stream_of(entry: Any, name: str) -> str:
    fields = entry if isinstance(entry, Mapping) else {}
    return str(next((fields[key] for key in _STREAMS if fields.get(key) is not None), name))
