"""Failure memory and drift monitor for LangGraph and LangChain agents.

An agent is warned before it repeats, in other words, a step that failed before. Start with
`DriftGuard` (the memory and its review) and `create_guard_review_node` (the same in a graph).
A session that leaves its purpose, or that somebody works against, is noticed turn by turn: start
with `DriftMonitor`, and `create_drift_monitor_node` or `DriftMonitorMiddleware`.

Names are imported on first use, so `import driftguard_langgraph` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftguard_langgraph._version import __version__
    from driftguard_langgraph.callbacks.handler import DriftGuardCallbackHandler
    from driftguard_langgraph.clients.outcome import drift_of
    from driftguard_langgraph.clients.wrapping import wrap
    from driftguard_langgraph.drift.monitor import DriftMonitor
    from driftguard_langgraph.drift.report import DriftReport
    from driftguard_langgraph.drift.strategies.base import FewShotExample
    from driftguard_langgraph.drift.tracking.tracker import DriftTracker
    from driftguard_langgraph.errors import (
        ConfigurationError,
        CorruptStore,
        DriftAlarm,
        DriftGuardError,
        EmbeddingError,
        GuardrailAcknowledgementRequired,
        GuardrailTriggered,
        InvalidEpisode,
        MissingExtra,
        RepeatLimitReached,
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
    from driftguard_langgraph.middleware.compaction import GuardedSummarizationMiddleware
    from driftguard_langgraph.middleware.drift import DriftMonitorMiddleware
    from driftguard_langgraph.middleware.guard import DriftGuardMiddleware
    from driftguard_langgraph.middleware.tool_node import guard_tool_call
    from driftguard_langgraph.nodes.compaction import create_compaction_guard_node
    from driftguard_langgraph.nodes.drift_monitor import create_drift_monitor_node
    from driftguard_langgraph.nodes.drift_routing import create_route_on_drift, route_on_drift
    from driftguard_langgraph.nodes.guard_review import create_guard_review_node
    from driftguard_langgraph.nodes.record_outcome import create_record_outcome_node
    from driftguard_langgraph.nodes.record_run_outcome import create_record_run_outcome_node
    from driftguard_langgraph.nodes.recovery_routing import (
        create_route_on_recovery,
        route_on_recovery,
    )
    from driftguard_langgraph.nodes.recovery_scaffold import create_recovery_scaffold_node
    from driftguard_langgraph.nodes.routing import create_route_on_review, route_on_review
    from driftguard_langgraph.nodes.state import DriftGuardState
    from driftguard_langgraph.nodes.workflow import create_planner_revise_graph
    from driftguard_langgraph.pictures.plots import plot_calibration, plot_drift, plot_memory
    from driftguard_langgraph.recovery.anchor import Anchor
    from driftguard_langgraph.recovery.placement import with_scaffold
    from driftguard_langgraph.recovery.scaffold import RecoveryScaffold, build_scaffold
    from driftguard_langgraph.recovery.schedule import InjectionSchedule
    from driftguard_langgraph.recovery.session import RecoveryPlan
    from driftguard_langgraph.recovery.verdict import RecoveryVerdict
    from driftguard_langgraph.reviews import GuardReview, GuardWarning, Reinforcement, RelatedMemory
    from driftguard_langgraph.settings import DriftGuardSettings
    from driftguard_langgraph.tools.search_failures import create_search_failures_tool
    from driftguard_langgraph.types import Episode, Match
    from driftguard_langgraph.wrappers import areview_payload, guard_step, review_payload

__all__ = [
    "Anchor",
    "BaseMemoryStore",
    "ConfigurationError",
    "CorruptStore",
    "DriftAlarm",
    "DriftGuard",
    "DriftGuardCallbackHandler",
    "DriftGuardError",
    "DriftGuardMiddleware",
    "DriftGuardSettings",
    "DriftGuardState",
    "DriftMonitor",
    "DriftMonitorMiddleware",
    "DriftReport",
    "DriftTracker",
    "EmbeddingError",
    "EphemeralMemoryStore",
    "Episode",
    "FewShotExample",
    "GuardReview",
    "GuardWarning",
    "GuardedSummarizationMiddleware",
    "GuardrailAcknowledgementRequired",
    "GuardrailTriggered",
    "InjectionSchedule",
    "InvalidEpisode",
    "JsonMemoryStore",
    "LangGraphMemoryStore",
    "Match",
    "MissingExtra",
    "PostgresMemoryStore",
    "RecoveryPlan",
    "RecoveryScaffold",
    "RecoveryVerdict",
    "Reinforcement",
    "RelatedMemory",
    "RepeatLimitReached",
    "SchemaMismatch",
    "SqliteMemoryStore",
    "StoreError",
    "StoreUnavailable",
    "__version__",
    "areview_payload",
    "build_scaffold",
    "create_compaction_guard_node",
    "create_drift_monitor_node",
    "create_guard_review_node",
    "create_planner_revise_graph",
    "create_record_outcome_node",
    "create_record_run_outcome_node",
    "create_recovery_scaffold_node",
    "create_route_on_drift",
    "create_route_on_recovery",
    "create_route_on_review",
    "create_search_failures_tool",
    "drift_of",
    "guard_step",
    "guard_tool_call",
    "plot_calibration",
    "plot_drift",
    "plot_memory",
    "review_payload",
    "route_on_drift",
    "route_on_recovery",
    "route_on_review",
    "with_scaffold",
    "wrap",
]

_HOMES = {
    "_version": ("__version__",),
    "callbacks.handler": ("DriftGuardCallbackHandler",),
    "drift.monitor": ("DriftMonitor",),
    "drift.report": ("DriftReport",),
    "drift.strategies.base": ("FewShotExample",),
    "clients.outcome": ("drift_of",),
    "clients.wrapping": ("wrap",),
    "drift.tracking.tracker": ("DriftTracker",),
    "errors": (
        "ConfigurationError",
        "CorruptStore",
        "DriftAlarm",
        "DriftGuardError",
        "EmbeddingError",
        "GuardrailAcknowledgementRequired",
        "GuardrailTriggered",
        "InvalidEpisode",
        "MissingExtra",
        "RepeatLimitReached",
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
    "middleware.guard": ("DriftGuardMiddleware",),
    "middleware.tool_node": ("guard_tool_call",),
    "middleware.drift": ("DriftMonitorMiddleware",),
    "tools.search_failures": ("create_search_failures_tool",),
    "nodes.drift_monitor": ("create_drift_monitor_node",),
    "nodes.drift_routing": ("create_route_on_drift", "route_on_drift"),
    "nodes.guard_review": ("create_guard_review_node",),
    "nodes.record_outcome": ("create_record_outcome_node",),
    "nodes.record_run_outcome": ("create_record_run_outcome_node",),
    "nodes.routing": ("create_route_on_review", "route_on_review"),
    "nodes.state": ("DriftGuardState",),
    "nodes.workflow": ("create_planner_revise_graph",),
    "pictures.plots": ("plot_calibration", "plot_drift", "plot_memory"),
    "reviews": ("GuardReview", "GuardWarning", "Reinforcement", "RelatedMemory"),
    "settings": ("DriftGuardSettings",),
    "types": ("Episode", "Match"),
    "wrappers": ("areview_payload", "guard_step", "review_payload"),
    "middleware.compaction": ("GuardedSummarizationMiddleware",),
    "nodes.compaction": ("create_compaction_guard_node",),
    "nodes.recovery_scaffold": ("create_recovery_scaffold_node",),
    "nodes.recovery_routing": ("create_route_on_recovery", "route_on_recovery"),
    "recovery.anchor": ("Anchor",),
    "recovery.placement": ("with_scaffold",),
    "recovery.scaffold": ("RecoveryScaffold", "build_scaffold"),
    "recovery.schedule": ("InjectionSchedule",),
    "recovery.session": ("RecoveryPlan",),
    "recovery.verdict": ("RecoveryVerdict",),
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
