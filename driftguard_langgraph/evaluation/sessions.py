"""Reading recorded conversations, turn by turn, whatever wrote them down.

Sessions of Claude Code and Codex, logs of OpenAI's and LangChain's messages, `{role, text}`
turns and plain text with speakers: the format is told by the content. System and tool messages
are kept, for there a session is corrupted. What is left out, a broken line too, is counted with
its reason and stops nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.pairs import Progress
from driftguard_langgraph.evaluation.readers import OnBytes, check_readable, json_entries
from driftguard_langgraph.evaluation.session_formats.base import (
    BLANK,
    BROKEN,
    FOREIGN,
    Collector,
    Message,
    SessionFormat,
    SessionReader,
)
from driftguard_langgraph.evaluation.session_formats.claude_code import CLAUDE_CODE
from driftguard_langgraph.evaluation.session_formats.codex import CODEX
from driftguard_langgraph.evaluation.session_formats.messages import MESSAGES
from driftguard_langgraph.evaluation.session_formats.plain_text import read_text, speaks

FORMATS: tuple[SessionFormat, ...] = (CODEX, CLAUDE_CODE, MESSAGES)
"""The JSON formats, in the order in which an entry is held against them."""

TEXT = "text"
"""Name of the format of plain text."""

READING = "bytes"
"""What `progress` is told to be counting while files are read."""

_SNIFFED_LINES = 50


@dataclass(frozen=True, slots=True)
class Session:
    """One recorded conversation.

    Attributes:
        name: Name of the file, with that of the stream if the file holds several.
        messages: Its messages, in order.
    """

    name: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class ParseStats:
    """What a file held, and what of it was left out.

    Attributes:
        file: The file.
        formats: Names of the formats that were found in it.
        entries: Lines or entries that were read, without blank ones.
        sessions: Conversations.
        messages: Messages of these.
        skipped: How much was left out, by reason.
    """

    file: str
    formats: tuple[str, ...]
    entries: int
    sessions: int
    messages: int
    skipped: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain JSON."""
        return {
            "file": self.file,
            "formats": list(self.formats),
            "entries": self.entries,
            "sessions": self.sessions,
            "messages": self.messages,
            "skipped": self.skipped,
        }

    def line(self) -> str:
        """Return the counts as a line of words."""
        left_out = ", ".join(f"{count} {reason}" for reason, count in self.skipped.items())
        return (
            f"{self.file}: {self.messages} messages in {self.sessions} "
            f"conversation{'' if self.sessions == 1 else 's'} ({', '.join(self.formats)})"
            + (f"; left out: {left_out}" if left_out else "")
        )


@dataclass(frozen=True, slots=True)
class SessionFile:
    """The conversations of one file.

    Attributes:
        sessions: Them, in the order in which they begin.
        stats: What was read and what was left out.
    """

    sessions: tuple[Session, ...]
    stats: ParseStats


def read_sessions(path: Path, *, on_bytes: OnBytes | None = None) -> SessionFile:
    """Read all conversations of a file.

    Args:
        path: JSONL, a `.json` document, or plain text.
        on_bytes: Called with the bytes read so far, after every line of a JSONL file.

    Raises:
        ConfigurationError: It cannot be opened, or nothing in it is a message.
    """
    check_readable(path)
    into = Collector()
    if _is_text(path):
        formats: list[str] = [TEXT]
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
        read_text(lines, str(path), into)
        entries = sum(1 for line in lines if line.strip())
    else:
        entries, formats = _read_json(path, into, on_bytes or (lambda read: None))
    stats = ParseStats(
        file=str(path),
        formats=tuple(formats),
        entries=entries,
        sessions=len(into.streams),
        messages=sum(map(len, into.streams.values())),
        skipped=dict(into.skipped.most_common()),
    )
    if not into.streams:
        raise ConfigurationError(_nothing(stats))
    return SessionFile(tuple(_sessions(path, into)), stats)


def read_all(
    paths: Sequence[Path], *, progress: Progress | None = None
) -> tuple[list[Session], list[ParseStats]]:
    """Read all conversations of several files; see `read_sessions`.

    Args:
        paths: The files.
        progress: Told how far the work is, in bytes.
    """
    for path in paths:
        check_readable(path)
    sizes = [path.stat().st_size for path in paths]
    sessions: list[Session] = []
    stats: list[ParseStats] = []
    for number, path in enumerate(paths):
        found = read_sessions(path, on_bytes=_telling(progress, sum(sizes[:number]), sum(sizes)))
        sessions += found.sessions
        stats.append(found.stats)
    return sessions, stats


def _telling(progress: Progress | None, before: int, total: int) -> OnBytes | None:
    """Return what tells how much of all files has been read."""
    if progress is None:
        return None
    return lambda read: progress(READING, before + read, total)


def _sessions(path: Path, into: Collector) -> Iterator[Session]:
    alone = len(into.streams) == 1
    for stream, messages in into.streams.items():
        # A conversation without a name of its own is known by its place, which names the file.
        own = stream.removeprefix(f"{path}, ")
        yield Session(path.name if alone or not own else f"{path.name}: {own}", tuple(messages))


def _read_json(path: Path, into: Collector, on_bytes: OnBytes) -> tuple[int, list[str]]:
    """Read a JSON file; return the number of its entries and the names of its formats."""
    readers: dict[str, SessionReader] = {}
    current: SessionReader | None = None
    lines = entries = 0

    def count(read: int) -> None:
        nonlocal lines
        lines += 1
        on_bytes(read)

    for where, entry in json_entries(path, count):
        entries += 1
        if isinstance(entry, InvalidEpisode):
            into.skip(BROKEN)
            continue
        found = next((each for each in FORMATS if each.recognises(entry)), None)
        if found is not None:
            current = readers.setdefault(found.name, found.open(into))
        if current is None:
            into.skip(FOREIGN)
        else:
            current.add(entry, where)
    if lines > entries:
        into.skipped[BLANK] = lines - entries
    return entries, list(readers)


def _is_text(path: Path) -> bool:
    """Return whether a file is text with speakers: some line has one, the first is no JSON."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        lines = [line for line in islice(file, _SNIFFED_LINES) if line.strip()]
    return any(map(speaks, lines)) and not _is_json(lines[0])


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _nothing(stats: ParseStats) -> str:
    left_out = ", ".join(f"{count} {reason}" for reason, count in stats.skipped.items())
    return (
        f"{stats.file}: no messages in it ({left_out or 'it is empty'}). Give a session of Claude "
        "Code or Codex, a log of messages with a role each, or text with lines like 'User: ...'."
    )
