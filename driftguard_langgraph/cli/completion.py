"""Completion in the shell: of the values of options, and how it is installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from driftguard_langgraph.memory.stores.base import BaseMemoryStore
    from driftguard_langgraph.types import Namespace

INSTALL = "--install-completion"
SHOW = "--show-completion"
OPTIONS = (INSTALL, SHOW)

VARIABLE = "_DRIFTGUARD_COMPLETE"
"""What the script of a shell sets when it asks."""

SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")

Complete = Callable[[str], list[str]]


def one_of(names: Callable[[], Iterable[str]]) -> Complete:
    """Return a completion of an option that takes one of some names.

    Args:
        names: Returns them; it is called when somebody asks.
    """

    def complete(incomplete: str) -> list[str]:
        known = list(names())
        # What is taken in both cases is completed in the one that was begun.
        lower = [name.lower() for name in known] if incomplete.islower() else known
        return [name for name in lower if name.startswith(incomplete)]

    return complete


def policies() -> Iterable[str]:
    """Return the policies of a guard."""
    from driftguard_langgraph.types import POLICIES

    return POLICIES


def severities() -> Iterable[str]:
    """Return how bad an outcome can be."""
    from driftguard_langgraph.types import SEVERITIES

    return SEVERITIES


def run_formats() -> Iterable[str]:
    """Return the formats of recorded runs."""
    from driftguard_langgraph.evaluation.formats.registry import FORMAT_NAMES

    return FORMAT_NAMES


def variants() -> Iterable[str]:
    """Return the variants of a recovery scaffold."""
    from driftguard_langgraph.recovery.schedule import VARIANTS

    return VARIANTS


def attack_types() -> Iterable[str]:
    """Return the conversations that come with the package."""
    from driftguard_langgraph.evaluation.drift_samples import ATTACK_TYPES

    return ATTACK_TYPES


def strategies() -> Iterable[str]:
    """Return the corruption strategies of `drift eval`."""
    from driftguard_langgraph.evaluation.drift_strategies import STRATEGIES

    return ("all", *STRATEGIES)


def levels() -> Iterable[str]:
    """Return the threat levels that `--fail-on` takes."""
    from driftguard_langgraph.drift.report import ThreatLevel

    return [level.value for level in ThreatLevel if level.rank]


def namespaces(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return what may follow the parts of a namespace that were given.

    Args:
        ctx: Holds the options before it, among them `--db`.
        incomplete: What was typed of the next part.
    """
    given = tuple(ctx.params.get("namespace") or ())
    # Whatever is wrong with the memory is said by the command, not while it is being typed.
    with suppress(Exception):
        parts = {name[len(given)] for name in _kept(ctx.params.get("db")) if _follows(name, given)}
        return sorted(part for part in parts if part.startswith(incomplete))
    return []


def _follows(name: Namespace, given: tuple[str, ...]) -> bool:
    return len(name) > len(given) and name[: len(given)] == given


def _kept(db: Path | str | None) -> list[Namespace]:
    """Return the namespaces of a memory in a sound file; nothing is created or moved."""
    from driftguard_langgraph.settings import DriftGuardSettings

    settings = DriftGuardSettings()
    if db is None and settings.storage_backend == "json":
        from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore, damage

        return _namespaces(settings.json_filepath, damage, JsonMemoryStore.open)
    if db is None and settings.storage_backend != "sqlite":
        return []
    from driftguard_langgraph.memory.stores import sqlite_file
    from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore

    return _namespaces(
        Path(db or settings.sqlite_filepath), sqlite_file.damage, SqliteMemoryStore.open
    )


def _namespaces(
    named: Path,
    damage: Callable[[Path], str | None],
    open_memory: Callable[[Path], BaseMemoryStore],
) -> list[Namespace]:
    path = named.expanduser()
    if not path.is_file() or not path.stat().st_size or damage(path) is not None:
        return []
    with open_memory(path) as store:
        return list(store.namespaces())


def learn_shells() -> None:
    """Make the shells known to typer, which it does by itself only for its own options."""
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()


def users_shell() -> str:
    """Return the name of the user's shell, as the system's own `SHELL` says it.

    Raises:
        ConfigurationError: It says none that completion is made for.
    """
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise ConfigurationError(f"which shell is not known: name it, {', '.join(SHELLS)}.")
    return name


def install(ctx: typer.Context, param: typer.CallbackParam, value: str | None) -> None:
    """Answer `--install-completion SHELL`: make the shell complete, and end."""
    from typer.completion import install_callback

    install_callback(ctx, param, _checked(value))


def show(ctx: typer.Context, param: typer.CallbackParam, value: str | None) -> None:
    """Answer `--show-completion SHELL`: print the script that makes it complete, and end."""
    from typer.completion import show_callback

    show_callback(ctx, param, _checked(value))


def _checked(shell: str | None) -> str | None:
    if shell is not None and shell not in SHELLS:
        raise ConfigurationError(f"the shell {shell!r} is unknown: use {', '.join(SHELLS)}.")
    return shell
