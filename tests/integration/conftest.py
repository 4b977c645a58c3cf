from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The default model, loaded once."""
    return resolve_embedder(None, DriftGuardSettings())


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where `guard` keeps its memory, for other processes to open."""
    return tmp_path / "memory.sqlite3"


@pytest.fixture
def guard(database: Path, embedder: Embedder) -> Iterator[DriftGuard]:
    """A guard over a real SQLite memory."""
    with SqliteMemoryStore.open(database) as store:
        yield DriftGuard(store=store, embeddings=embedder)
