"""A file is known by its content, whatever it is called."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError, CorruptStore
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.importers.recognition import recognise
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from tests.memory_samples import SeededEmbedder
from tests.peer_samples import drift_report, shared_feedback

DOCUMENTS: dict[str, tuple[str, Any]] = {
    "graph": ("driftguard-ai", shared_feedback().document()),
    "graph without a version": ("driftguard-ai", shared_feedback().node_link("links")),
    "report": ("te-drift-detector", drift_report()),
    "eval": ("te-drift-detector", [{"strategy": "x", "report": drift_report()}]),
    "sessions": ("context-drift-analyzer", {"original_context": "", "sessions": []}),
    "flat sessions": ("context-drift-analyzer", {"drift_history": [], "session_count": 0}),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a file"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_json_is_known_by_its_shape(path: Path, name: str) -> None:
    origin, document = DOCUMENTS[name]
    for text in (json.dumps(document), "\ufeff" + json.dumps(document, indent=2)):
        path.write_text(text, encoding="utf-8")
        found = recognise(path)
        assert (found.origin, found.document) == (origin, document)


def test_a_database_is_known_by_its_tables(path: Path) -> None:
    shared_feedback().write_sqlite(path)
    assert recognise(path).origin == "driftguard-ai"


def test_an_exported_memory_is_known_by_its_first_line(path: Path) -> None:
    guard = DriftGuard(store=EphemeralMemoryStore(), embeddings=SeededEmbedder())
    guard.record("a", "f", "o")
    guard.export_jsonl(path)
    assert recognise(path).origin == "driftguard"


def test_what_belongs_elsewhere_is_told_where(path: Path) -> None:
    turn = {"type": "user", "message": {"role": "user", "content": "hi"}}
    path.write_text(f"{json.dumps(turn)}\n{json.dumps(turn)}\n")
    with pytest.raises(ConfigurationError, match="driftguard drift session"):
        recognise(path)
    path.write_text(json.dumps(turn))
    with pytest.raises(ConfigurationError, match="nothing that one of the packages writes"):
        recognise(path)


@pytest.mark.parametrize("suffix", ["sqlite3", "json"])
def test_a_memory_of_this_package_is_none_of_another(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"memory.{suffix}"
    opened = SqliteMemoryStore.open if suffix == "sqlite3" else JsonMemoryStore.open
    with opened(path) as store:
        DriftGuard(store=store, embeddings=SeededEmbedder()).record("a", "f", "o")
    with pytest.raises(ConfigurationError, match="memory of this package"):
        recognise(path)


def test_a_foreign_database_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE nodes (text TEXT)")
    with pytest.raises(ConfigurationError, match="not one of driftguard-ai"):
        recognise(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[" * 100_000, b"\xff\xfe", b"{'a': 1}", b"SQLite format 3\0 and no more"],
    ids=["empty", "null", "nested", "no utf-8", "no json", "half a database"],
)
def test_anything_else_is_one_clear_error(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises((ConfigurationError, CorruptStore)) as raised:
        recognise(path)
    assert len(str(raised.value)) < 400


def test_a_folder_or_nothing_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="folder"):
        recognise(tmp_path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        recognise(tmp_path / "missing")
