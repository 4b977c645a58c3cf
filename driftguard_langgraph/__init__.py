"""Failure memory for LangGraph and LangChain agents.

An agent is warned before it repeats, in other words, a step that failed before. Start with
`DriftGuard` (the memory and its review) and `create_guard_review_node` (the same in a graph).

Names are imported on first use, so `import driftguard_langgraph` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftguard_langgraph._version import __version__
    from driftguard_langgraph.errors import (
        ConfigurationError,
        CorruptStore,
        DriftGuardError,
        EmbeddingError,
        GuardrailAcknowledgementRequired,
        GuardrailTriggered,
        InvalidEpisode,
        MissingExtra,
        SchemaMismatch,
        StoreError,
        StoreUnavailable,
    )
    from driftguard_langgraph.guard import DriftGuard
    from driftguard_langgraph.memory.stores.base import BaseMemoryStore
    from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
    from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore
    from driftguard_langgraph.memory.stores.langgraph import LangGraphMemoryStore
    from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
    from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
    from driftguard_langgraph.nodes.guard_review import create_guard_review_node
    from driftguard_langgraph.nodes.record_outcome import create_record_outcome_node
    from driftguard_langgraph.nodes.record_run_outcome import create_record_run_outcome_node
    from driftguard_langgraph.nodes.routing import create_route_on_review, route_on_review
    from driftguard_langgraph.nodes.state import DriftGuardState
    from driftguard_langgraph.nodes.workflow import create_planner_revise_graph
    from driftguard_langgraph.reviews import GuardReview, GuardWarning, Reinforcement, RelatedMemory
    from driftguard_langgraph.settings import DriftGuardSettings
    from driftguard_langgraph.types import Episode, Match
    from driftguard_langgraph.wrappers import areview_payload, guard_step, review_payload

__all__ = [
    "BaseMemoryStore",
    "ConfigurationError",
    "CorruptStore",
    "DriftGuard",
    "DriftGuardError",
    "DriftGuardSettings",
    "DriftGuardState",
    "EmbeddingError",
    "EphemeralMemoryStore",
    "Episode",
    "GuardReview",
    "GuardWarning",
    "GuardrailAcknowledgementRequired",
    "GuardrailTriggered",
    "InvalidEpisode",
    "JsonMemoryStore",
    "LangGraphMemoryStore",
    "Match",
    "MissingExtra",
    "PostgresMemoryStore",
    "Reinforcement",
    "RelatedMemory",
    "SchemaMismatch",
    "SqliteMemoryStore",
    "StoreError",
    "StoreUnavailable",
    "__version__",
    "areview_payload",
    "create_guard_review_node",
    "create_planner_revise_graph",
    "create_record_outcome_node",
    "create_record_run_outcome_node",
    "create_route_on_review",
    "guard_step",
    "review_payload",
    "route_on_review",
]

_HOMES = {
    "_version": ("__version__",),
    "errors": (
        "ConfigurationError",
        "CorruptStore",
        "DriftGuardError",
        "EmbeddingError",
        "GuardrailAcknowledgementRequired",
        "GuardrailTriggered",
        "InvalidEpisode",
        "MissingExtra",
        "SchemaMismatch",
        "StoreError",
        "StoreUnavailable",
    ),
    "guard": ("DriftGuard",),
    "memory.stores.base": ("BaseMemoryStore",),
    "memory.stores.ephemeral": ("EphemeralMemoryStore",),
    "memory.stores.json_store": ("JsonMemoryStore",),
    "memory.stores.langgraph": ("LangGraphMemoryStore",),
    "memory.stores.postgres": ("PostgresMemoryStore",),
    "memory.stores.sqlite": ("SqliteMemoryStore",),
    "nodes.guard_review": ("create_guard_review_node",),
    "nodes.record_outcome": ("create_record_outcome_node",),
    "nodes.record_run_outcome": ("create_record_run_outcome_node",),
    "nodes.routing": ("create_route_on_review", "route_on_review"),
    "nodes.state": ("DriftGuardState",),
    "nodes.workflow": ("create_planner_revise_graph",),
    "reviews": ("GuardReview", "GuardWarning", "Reinforcement", "RelatedMemory"),
    "settings": ("DriftGuardSettings",),
    "types": ("Episode", "Match"),
    "wrappers": ("areview_payload", "guard_step", "review_payload"),
}
"""Which module holds which public names."""

_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _HOME_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
