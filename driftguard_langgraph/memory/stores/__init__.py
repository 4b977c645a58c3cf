"""Memory backends, and the choice among them by settings."""

from __future__ import annotations

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
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
    if settings.storage_backend == "json":
        return JsonMemoryStore.open(settings.json_filepath)
    if settings.storage_backend == "postgres":
        return PostgresMemoryStore.open(settings.postgres_dsn.get_secret_value())
    return SqliteMemoryStore.open(settings.sqlite_filepath, durability=settings.sqlite_durability)
