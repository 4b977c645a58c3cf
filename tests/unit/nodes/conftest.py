from __future__ import annotations

import pytest

from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return resolve_embedder(None, DriftGuardSettings())


@pytest.fixture
def guard(embedder: Embedder) -> DriftGuard:
    return DriftGuard(store=EphemeralMemoryStore(), embeddings=embedder)
