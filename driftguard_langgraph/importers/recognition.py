"""What a file is, told by its content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from driftguard_langgraph.errors import ConfigurationError, CorruptStore
from driftguard_langgraph.importers import drift_reports, graph_files, session_memories
from driftguard_langgraph.memory.stores import json_layout

Origin = Literal["driftguard", "driftguard-ai", "te-drift-detector", "context-drift-analyzer"]
ORIGINS: tuple[Origin, ...] = (
    "driftguard",
    "driftguard-ai",
    "te-drift-detector",
    "context-drift-analyzer",
)
"""Who may have written a file; `driftguard` is `driftguard export`."""

SQLITE_HEADER = b"SQLite format 3\0"
"""The first bytes of every SQLite database (its file format, section 1.3)."""

MOST_BYTES = 512 * 2**20
"""Largest JSON document that is read: it is held in memory as a whole. That of driftguard-ai for
20,000 events has 151 MB."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file and what it is.

    Attributes:
        path: The file.
        origin: Who wrote it.
        document: Its content, if it is one JSON document that others read from here.
    """

    path: Path
    origin: Origin
    document: Any = None


def recognise(path: Path) -> Found:
    """Say who wrote a file.

    Args:
        path: The file.

    Raises:
        ConfigurationError: It cannot be read, or nobody known wrote it; the message says what
            it may be and what reads that.
        CorruptStore: It begins like a known one and is damaged.
    """
    head = _head(path)
    if head.startswith(SQLITE_HEADER):
        if graph_files.is_sqlite_graph(path):
            return Found(path, "driftguard-ai")
        raise _foreign(
            path, "a database, but not one of driftguard-ai (a memory of this package: see --db)"
        )
    if _is_export(head):
        return Found(path, "driftguard")
    if path.stat().st_size > MOST_BYTES:
        raise ConfigurationError(
            f"{path}: {path.stat().st_size} bytes are too many to be read as one document."
        )
    data = path.read_bytes()
    try:
        document = graph_files.load_json(data)
    except CorruptStore:
        if _is_log(head):
            raise ConfigurationError(
                f"{path}: this is a log of a session, which holds nothing to import. Measure it "
                f"with `driftguard drift session`, or replay it with `driftguard backtest`."
            ) from None
        raise
    return Found(path, _origin(path, document), document)


def _origin(path: Path, document: Any) -> Origin:
    if graph_files.is_json_graph(document):
        return "driftguard-ai"
    if drift_reports.is_report(document):
        return "te-drift-detector"
    if session_memories.is_session_memory(document):
        return "context-drift-analyzer"
    if isinstance(document, Mapping) and document.get("format") == json_layout.FORMAT:
        raise _foreign(path, "a memory of this package: `driftguard export` makes a file of it")
    raise _foreign(path, "JSON, but nothing that one of the packages writes")


def _head(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise ConfigurationError(f"{path}: that is a folder; name a file in it.")
        with path.open("rb") as file:
            return file.readline(2**20)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({error}).") from None


def _is_export(head: bytes) -> bool:
    return _object(head).get("type") == "driftguard"


def _is_log(head: bytes) -> bool:
    """Whether the first line is an object: JSON that ends there is the first of many."""
    return bool(_object(head))


def _object(head: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(head.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _foreign(path: Path, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"{path}: this is {what}. `driftguard import` reads what `driftguard export`, "
        "driftguard-ai, te-drift-detector and context-drift-analyzer write."
    )
