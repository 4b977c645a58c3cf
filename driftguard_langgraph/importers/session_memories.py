"""A `.session_memory` of context-drift-analyzer, as a file of `DriftTracker`.

Both packages use one layout, and `DriftTracker` reads the other's file in place. An import is
for those who want to keep that file as it is: it checks the whole, copies it, and counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from driftguard_langgraph.drift.tracking.session_document import Document, Session
from driftguard_langgraph.drift.tracking.session_file import SessionFile
from driftguard_langgraph.drift.tracking.session_migration import KNOWN, parse
from driftguard_langgraph.errors import ConfigurationError

LOCK_TIMEOUT = 10.0
"""Seconds to wait for somebody who writes to the target."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """What a session memory holds.

    Attributes:
        sessions: How many sessions, the running ones included.
        active: How many of them had not ended.
        exchanges: Questions with their answers.
        summaries: Sessions with a summary.
        without_texts: Exchanges of which the file keeps the score and no words.
    """

    sessions: int
    active: int
    exchanges: int
    summaries: int
    without_texts: int

    def to_dict(self) -> dict[str, int]:
        """Return the counts as plain JSON."""
        return asdict(self)


def is_session_memory(document: object) -> bool:
    """Whether a JSON document is a session memory, of whatever version."""
    return isinstance(document, Mapping) and not KNOWN.isdisjoint(document)


def read_session_memory(path: Path) -> Document:
    """Return the content of a session memory in our layout.

    Raises:
        CorruptStore: It is damaged.
        SchemaMismatch: A newer release of this package wrote it.
        ConfigurationError: It cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error}).") from None
    document = parse(data)
    if "version" in json.loads(data):
        raise ConfigurationError(
            f"{path}: DriftTracker of this package wrote it and goes on with it: persist_path "
            "names it."
        )
    return document


def count(document: Document) -> Sessions:
    """Count what a session memory holds."""
    sessions = document["sessions"]
    exchanges = [exchange for session in sessions for exchange in session["exchanges"]]
    return Sessions(
        sessions=len(sessions),
        active=sum(session["status"] == "active" for session in sessions),
        exchanges=len(exchanges),
        summaries=sum(bool(session["summary"]) for session in sessions),
        without_texts=sum(not (each["user"] or each["assistant"]) for each in exchanges),
    )


def write_session_memory(document: Document, target: Path, *, force: bool) -> bool:
    """Write a session memory to a file of its own.

    Args:
        document: Its content.
        target: The file.
        force: Whether another memory that is there may be replaced.

    Returns:
        False if the file holds all of it already; it is left as it is then.

    Raises:
        ConfigurationError: Another memory is there.
        StoreUnavailable: It cannot be written.
        SchemaMismatch: Something else is there.
    """
    file = SessionFile(target, None)
    with file.locked(LOCK_TIMEOUT):
        if file.path.exists() and not force:
            if _holds(file.peek(), document):
                return False
            raise ConfigurationError(f"{target}: another memory is there. --force replaces it.")
        file.replace(document)
    return True


def _holds(known: Document, wanted: Document) -> bool:
    """Whether a memory holds every exchange and summary of another one; it may hold more."""
    sessions = {session["session_number"]: session for session in known["sessions"]}
    return all(
        _continues(sessions.get(session["session_number"]), session)
        for session in wanted["sessions"]
    )


def _continues(known: Session | None, wanted: Session) -> bool:
    if known is None:
        return False
    same: dict[str, Any] = {each["id"]: each for each in known["exchanges"]}
    return all(same.get(each["id"]) == each for each in wanted["exchanges"]) and (
        wanted["status"] == "active" or known["summary"] == wanted["summary"]
    )
