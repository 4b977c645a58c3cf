"""What `doctor` looks at. Nothing here writes to the memory, creates or moves a file."""

from __future__ import annotations

import importlib.util
import os
import platform
import stat
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from driftguard_langgraph._version import __version__
from driftguard_langgraph.cli.console import counted
from driftguard_langgraph.cli.options import load_settings
from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import DriftGuardError
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
from driftguard_langgraph.memory.stores.json_store import damage as json_damage
from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
from driftguard_langgraph.memory.stores.records import EmbeddingSpace
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.memory.stores.sqlite_file import damage, is_database
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.normalizer import resolve_normalizer

PROBE = "Deleting the temp directories"
"""Text that is embedded and normalised to see that both work."""

JOURNALS = ("-wal", "-shm", "-journal")
"""Ends of the names of files that belong to a database and move with it."""

EXTRAS = {
    "anthropic": "anthropic",
    "mcp": "mcp",
    "openai": "langchain_openai",
    "opentelemetry": "opentelemetry",
    "plot": "matplotlib",
    "postgres": "psycopg",
    "prometheus": "prometheus_client",
    "sentence-transformers": "sentence_transformers",
    "spacy": "spacy",
}
"""Module that shows whether an extra is installed."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding.

    Attributes:
        name: What was looked at.
        ok: Whether it is as it should be.
        detail: What was found, and what to do if it is wrong.
    """

    name: str
    ok: bool
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain JSON."""
        return asdict(self)


def check_all(db: Path | None) -> list[Check]:
    """Look at everything; without valid settings only at what needs none.

    Args:
        db: SQLite file to look at instead of the settings' one.
    """
    checks = [_versions(), _extras()]
    try:
        settings = load_settings(db)
    except DriftGuardError as error:
        return [*checks, Check("settings", False, str(error))]
    checks.append(Check("settings", True, "valid"))
    embedder = _Probe(settings)
    return [
        *checks,
        *_memory(settings, embedder),
        _guarded("embedding", embedder.describe),
        _guarded("normaliser", lambda: _normaliser(settings)),
    ]


class _Probe:
    """The configured embedder, resolved when it is first needed."""

    def __init__(self, settings: DriftGuardSettings) -> None:
        self._settings = settings
        self._embedder: Embedder | None = None

    def embedder(self) -> Embedder:
        if self._embedder is None:
            self._embedder = resolve_embedder(None, self._settings)
        return self._embedder

    def describe(self) -> str:
        embedder = self.embedder()
        [vector] = embedder.embed([PROBE])
        length = float((vector * vector).sum()) ** 0.5
        return (
            f"{self._settings.embedding_backend}: {embedder.model_id}, {embedder.dimension} "
            f"dimensions; {PROBE!r} embedded, length {length:.3f}"
        )


def _guarded(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, True, look())
    except DriftGuardError as error:
        return Check(name, False, str(error))


def _versions() -> Check:
    hosts = ", ".join(f"{name} {version(name)}" for name in ("langgraph", "langchain-core"))
    return Check(
        "versions",
        True,
        f"driftguard-langgraph {__version__}, {hosts}, Python {platform.python_version()}",
    )


def _extras() -> Check:
    here = [extra for extra, module in EXTRAS.items() if importlib.util.find_spec(module)]
    missing = [extra for extra in EXTRAS if extra not in here]
    words = (
        f"{state}: {', '.join(names)}"
        for state, names in (("installed", here), ("not installed", missing))
        if names
    )
    return Check("extras", True, "; ".join(words))


def _normaliser(settings: DriftGuardSettings) -> str:
    label = resolve_normalizer(settings).label(PROBE)
    return f"{settings.normalizer} ({settings.language}): {PROBE!r} becomes {label!r}"


def _memory(settings: DriftGuardSettings, probe: _Probe) -> list[Check]:
    if settings.storage_backend == "memory":
        return [Check("memory", True, "in this process only: nothing is kept between commands")]
    if settings.storage_backend == "postgres":
        return _postgres(settings, probe)
    if settings.storage_backend == "json":
        return _file(settings.json_filepath, json_damage, JsonMemoryStore.open, probe)
    return _file(settings.sqlite_filepath, _database_damage, SqliteMemoryStore.open, probe)


def _database_damage(path: Path) -> str | None:
    """Say what is wrong with a memory file; one that the store would not replace is refused."""
    wrong = damage(path, thorough=True)
    if wrong is not None and not is_database(path):
        raise DriftGuardError(
            f"this is no database ({wrong}) and stays as it is: no memory can be kept in it. "
            "Name another file, with --db or DRIFTGUARD_SQLITE_FILEPATH."
        )
    return wrong


def _file(
    named: Path,
    damage_of: Callable[[Path], str | None],
    open_memory: Callable[[Path], BaseMemoryStore],
    probe: _Probe,
) -> list[Check]:
    path = named.expanduser()
    if not path.exists():
        return [_place(path)]
    size = path.stat().st_size
    checks = [Check("memory", True, f"{path}, {counted(size, 'byte')}"), _permissions(path)]
    if not checks[-1].ok:
        return checks
    sound = _guarded("schema", lambda: _schema(damage_of(path)))
    return [
        *checks,
        sound,
        *([_content(partial(open_memory, path), probe)] if sound.ok and size else []),
    ]


def _postgres(settings: DriftGuardSettings, probe: _Probe) -> list[Check]:
    begun = False

    def connect() -> PostgresMemoryStore:
        return PostgresMemoryStore.connect(settings.postgres_dsn.get_secret_value())

    def look() -> str:
        nonlocal begun
        with connect() as store:
            begun = store.schema_version() > 0
            where = store.location()
        return where if begun else f"{where}: not there yet, begins with the first use"

    found = _guarded("memory", look)
    return [found, *([_content(connect, probe)] if begun else [])]


def _place(path: Path) -> Check:
    parent = next(folder for folder in path.parents if folder.exists())
    if parent.is_dir() and os.access(parent, os.W_OK):
        return Check("memory", True, f"{path}: not there yet, begins with the first record")
    return Check("memory", False, f"{path}: cannot be created, {parent} is not writable")


def _permissions(path: Path) -> Check:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not path.is_file() or not os.access(path, os.R_OK | os.W_OK):
        return Check("permissions", False, f"{mode:04o}: not a file you can read and write")
    others = " (other users can read what is remembered: chmod 600)" if mode & 0o077 else ""
    return Check("permissions", True, f"{mode:04o}{others}")


def _schema(wrong: str | None) -> str:
    if wrong is not None:
        raise DriftGuardError(
            f"the file is damaged ({wrong}) and is left as it is. Put a copy of it in its place; "
            "or move it away, and an empty memory begins."
        )
    return "sound"


def _content(open_memory: Callable[[], BaseMemoryStore], probe: _Probe) -> Check:
    try:
        with open_memory() as store:
            names, space = store.namespaces(), store.space()
        embedder = probe.embedder()
        current = EmbeddingSpace(embedder.model_id, embedder.dimension)
    except DriftGuardError as error:
        return Check("content", False, str(error))
    listed = ", ".join("/".join(name) for name in names) or "none"
    if space is not None and space != current:
        return Check(
            "content",
            False,
            f"namespaces: {listed}; the vectors are of {space.model_id}, the embedding model is "
            f"{current.model_id}: re-embed (`guard.reembed()`) or set the old model",
        )
    return Check("content", True, f"namespaces: {listed}")
