"""LangGraph checkpoints: the SQLite file of a `SqliteSaver` or `AsyncSqliteSaver`.

Every message that some checkpoint of a thread holds is read once, in the order of the
checkpoints, so that what was trimmed or summarised later counts too; a thread is a stream.
Each checkpoint namespace is a conversation of its own. Messages that a delta channel keeps
are not part of the checkpoints and are not seen.

The file is opened read-only and stays as it is. Only the types that LangGraph lists as safe
are rebuilt, nothing else in the file is imported or run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.conversation import Conversation
from driftguard_langgraph.evaluation.formats import langchain
from driftguard_langgraph.evaluation.formats.base import Source
from driftguard_langgraph.evaluation.steps import Batch

NAME = "checkpoints"

MAGIC = b"SQLite format 3\0"
"""The first bytes of every SQLite database file (its file format, section 1.3)."""

_KEYS = """
    SELECT thread_id, checkpoint_ns, checkpoint_id FROM checkpoints
    ORDER BY checkpoint_id, thread_id, checkpoint_ns
"""
_ONE = """
    SELECT type, checkpoint FROM checkpoints
    WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?
"""


def is_database(path: Path) -> bool:
    """Return whether the file is a SQLite database."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_checkpoints(
    path: Path, source: Source, on_share: Callable[[float], None]
) -> Iterator[Batch]:
    """Yield the steps of all threads, in the order of time.

    Args:
        path: The database file.
        source: How to read it.
        on_share: Told the share of the checkpoints that has been read, 0..1.

    Raises:
        ConfigurationError: It is not a database with checkpoints.
        InvalidEpisode: A checkpoint cannot be decoded and may not be skipped.
    """
    try:
        with closing(_open(path)) as connection:
            yield from _read(connection, path, source, on_share)
    except sqlite3.Error as error:
        raise ConfigurationError(
            f"{path}: cannot be read as the checkpoints of a LangGraph SqliteSaver ({error})."
        ) from None


def _open(path: Path) -> sqlite3.Connection:
    # A closed database has no log beside it and can be read without leaving any file there;
    # one that is in use must be read through its log.
    idle = not path.with_name(path.name + "-wal").exists()
    mode = "mode=ro&immutable=1" if idle else "mode=ro"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)


def _read(
    connection: sqlite3.Connection,
    path: Path,
    source: Source,
    on_share: Callable[[float], None],
) -> Iterator[Batch]:
    threads: dict[str, _Thread] = {}
    keys = connection.execute(_KEYS).fetchall()
    decode = _decoder()
    for number, key in enumerate(keys, 1):
        thread, namespace, _ = key
        where = f"{path}, thread {thread}"
        with source.tolerating():
            values = decode(connection.execute(_ONE, key).fetchone(), where)
            if thread not in threads:
                threads[thread] = _Thread(str(thread), source)
            yield from threads[thread].add(namespace, values, where)
        on_share(number / len(keys))
    for known in threads.values():
        yield from known.flush()


def _decoder() -> Callable[[tuple[Any, Any], str], Mapping[str, Any]]:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)

    def decode(row: tuple[Any, Any], where: str) -> Mapping[str, Any]:
        try:
            checkpoint = serializer.loads_typed(row)
        except Exception as error:
            # Whatever the bytes are: encrypted, pickled, damaged.
            raise InvalidEpisode(
                f"{where}: a checkpoint of the type {row[0]!r} cannot be decoded ({error})."
            ) from error
        values = checkpoint.get("channel_values") if isinstance(checkpoint, Mapping) else None
        return values if isinstance(values, Mapping) else {}

    return decode


class _Thread:
    """What was read of one thread: its conversations, and the messages seen."""

    def __init__(self, name: str, source: Source) -> None:
        self._name = name
        self._source = source
        self._seen: set[str] = set()
        self._conversations: dict[str, Conversation] = {}

    def add(self, namespace: str, values: Mapping[str, Any], where: str) -> Iterator[Batch]:
        """Read the messages of one checkpoint that no earlier one held."""
        if namespace not in self._conversations:
            failed = self._source.is_failure
            self._conversations[namespace] = Conversation(self._name, failed, forgiving=True)
        for channel in sorted(values):
            for index, message in enumerate(_messages(values[channel])):
                place = f"{namespace}/{channel}/{index}"
                key = _identity(message, place)
                if key not in self._seen:
                    self._seen.add(key)
                    at = f"{where}, message {message.get('id') or index}"
                    yield from langchain.take(self._conversations[namespace], message, at)

    def flush(self) -> Iterator[Batch]:
        """Yield what the open turns still hold."""
        for conversation in self._conversations.values():
            yield from conversation.flush()


def _messages(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the messages of a channel, also those of types that were not rebuilt."""
    from langchain_core.messages import BaseMessage

    for item in value if isinstance(value, list) else ():
        if isinstance(item, BaseMessage):
            yield {name: getattr(item, name, None) for name in _FIELDS}
        elif langchain.is_message(item):
            yield dict(item)


_FIELDS = (
    "type",
    "id",
    "content",
    "tool_calls",
    "invalid_tool_calls",
    "tool_call_id",
    "status",
)
"""The fields of a message that matter here."""


def _identity(message: Mapping[str, Any], place: str) -> str:
    """Return what tells a message from others; one whose calls were edited is another one."""
    return f"{message.get('id') or place} {message.get('tool_calls')!r}"
