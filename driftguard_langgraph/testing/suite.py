"""All checks in one class, and the function that makes it for a store."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.testing.checks.counting import CountingChecks
from driftguard_langgraph.testing.checks.embedding import EmbeddingChecks
from driftguard_langgraph.testing.checks.erasing import ErasingChecks
from driftguard_langgraph.testing.checks.handles import HandleChecks
from driftguard_langgraph.testing.checks.namespaces import NamespaceChecks
from driftguard_langgraph.testing.checks.processes import ProcessChecks
from driftguard_langgraph.testing.checks.recording import RecordingChecks
from driftguard_langgraph.testing.checks.runs import RunChecks
from driftguard_langgraph.testing.checks.searching import SearchingChecks
from driftguard_langgraph.testing.checks.transactions import TransactionChecks
from driftguard_langgraph.testing.checks.twins import TwinChecks
from driftguard_langgraph.testing.places import Capability, Factory


class MemoryStoreSuite(
    RecordingChecks,
    NamespaceChecks,
    CountingChecks,
    SearchingChecks,
    EmbeddingChecks,
    TransactionChecks,
    ErasingChecks,
    RunChecks,
    HandleChecks,
    ProcessChecks,
    TwinChecks,
):
    """What every memory store must do; see `memory_store_suite`."""


def memory_store_suite(
    factory: Factory, capabilities: Collection[Capability] = ()
) -> type[MemoryStoreSuite]:
    """Return a class of tests for a store; bind it to a name that begins with `Test`.

    Args:
        factory: Opens the store that lives at a folder, set up: the same memory whenever
            the folder is the same. What it returns is used as a context manager, which
            gives the store and closes it at its end; a store is one. For `cross_process` it
            has to be a function of a module: other processes import it.
        capabilities: What the store can do beyond what every store must; see `Capability`.

    Raises:
        ConfigurationError: An unknown capability, or a factory that cannot be called.
    """
    known = get_args(Capability)
    if isinstance(capabilities, str) or not set(capabilities) <= set(known):
        raise ConfigurationError(f"capabilities={capabilities!r} must be some of {known}.")
    if not callable(factory):
        raise ConfigurationError(f"factory={factory!r} must be a function that opens a store.")
    members = {"factory": staticmethod(factory), "capabilities": frozenset(capabilities)}
    return type("Suite", (MemoryStoreSuite,), members)
