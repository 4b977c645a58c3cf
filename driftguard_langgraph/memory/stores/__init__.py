"""Memory backends, and the choice among them by settings."""

from __future__ import annotations

from pathlib import Path

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings


def checked_store(given: object) -> BaseMemoryStore | None:
    """Return a store that a caller gave, None for that of the settings.

    Raises:
        ConfigurationError: It is none.
    """
    if given is None or isinstance(given, BaseMemoryStore):
        return given
    if isinstance(given, str | Path):
        told = (
            f"store={str(given)!r} is a path: open it with SqliteMemoryStore.open(path) or "
            "JsonMemoryStore.open(path), or name it in DriftGuardSettings(sqlite_filepath=path)"
        )
    elif callable(getattr(given, "search", None)) and callable(getattr(given, "put", None)):
        told = "store is a LangGraph store: wrap it in LangGraphMemoryStore(store)"
    else:
        shown = repr(given) if isinstance(given, type) else type(given).__name__
        told = f"store must be a memory store (a subclass of BaseMemoryStore), not {shown}"
    raise ConfigurationError(f"{told}.")


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
