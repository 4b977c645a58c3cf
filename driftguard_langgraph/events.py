"""What the guard reports about itself: frozen events, and the hooks that receive them.

The core emits events and knows nothing of who listens. Counters, streams and exporters
subscribe. No event carries recorded text, so a hook may log whatever it receives.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from driftguard_langgraph.types import Decision, Kind, Namespace, Policy

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReviewCompleted:
    """One proposed step was reviewed (or skipped, or could not be)."""

    namespace: Namespace
    policy: Policy
    decision: Decision
    warnings: int
    reinforcements: int
    confidence: float


@dataclass(frozen=True, slots=True)
class EpisodeRecorded:
    """One outcome was offered to the memory; a duplicate changes nothing."""

    namespace: Namespace
    kind: Kind
    stored: bool
    nodes_created: int
    nodes_merged: int
    edges_created: int
    edges_reused: int


@dataclass(frozen=True, slots=True)
class RunOutcomeRecorded:
    """A verdict about a whole run was kept; `actions` of the run share it."""

    namespace: Namespace
    success: bool
    replaced: bool
    actions: int


@dataclass(frozen=True, slots=True)
class MemoryPruned:
    """One prune of both graphs finished."""

    namespace: Namespace
    episodes_removed: int
    nodes_removed: int
    edges_removed: int


@dataclass(frozen=True, slots=True)
class MemoryFailed:
    """Store or embedder failed while serving `operation`, or the judge did (`judge`)."""

    namespace: Namespace
    operation: str
    error: str


Event = ReviewCompleted | EpisodeRecorded | RunOutcomeRecorded | MemoryPruned | MemoryFailed


class Hook(Protocol):
    """Anything that can be called with an event. It must be quick and thread-safe."""

    def __call__(self, event: Event, /) -> None:
        """Receive one event."""


def emit(event: Event, hooks: Iterable[Hook]) -> None:
    """Hand `event` to every hook; a failing hook is logged and does not stop the guard."""
    for hook in hooks:
        try:
            hook(event)
        except Exception:
            logger.exception("driftguard hook %r failed", hook)
