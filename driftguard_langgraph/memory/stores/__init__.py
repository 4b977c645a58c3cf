"""Memory backends, and the choice among them by settings."""

from __future__ import annotations

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings


def open_store(settings: DriftGuardSettings) -> BaseMemoryStore:
    """Open the store that the settings name, ready to use.

    Args:
        settings: `storage_backend`, and where it lives.

    Raises:
        StoreError: It cannot be opened.
    """
    if settings.storage_backend == "memory":
        return EphemeralMemoryStore()
    return SqliteMemoryStore.open(settings.sqlite_filepath)
