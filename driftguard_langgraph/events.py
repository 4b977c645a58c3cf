"""What the guard reports about itself: frozen events, and the hooks that receive them.

The core emits events and knows nothing of who listens. Counters, streams and exporters
subscribe. No event carries recorded text, so a hook may log whatever it receives.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from driftguard_langgraph._twins import is_async
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.types import Arm, Decision, Episode, Kind, Namespace, Policy, Role

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReviewCompleted:
    """One proposed step was reviewed (or skipped, or could not be), in so many `seconds`."""

    namespace: Namespace
    policy: Policy
    decision: Decision
    warnings: int
    reinforcements: int
    confidence: float
    withheld: int = 0
    muted: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, namespace: Namespace, review: GuardReview, seconds: float) -> ReviewCompleted:
        """Count what a review found.

        Args:
            namespace: Whose memory was asked.
            review: The finished review.
            seconds: How long it took, with the embedding and the memory.
        """
        return cls(
            namespace=namespace,
            policy=review.policy,
            decision=review.decision,
            warnings=len(review.warnings),
            reinforcements=len(review.reinforcements),
            confidence=review.confidence,
            withheld=len(review.withheld),
            muted=len(review.muted),
            seconds=seconds,
        )


@dataclass(frozen=True, slots=True)
class EpisodeRecorded:
    """One outcome was offered to the memory, in so many `seconds`; a duplicate changes nothing."""

    namespace: Namespace
    kind: Kind
    stored: bool
    nodes_created: int
    nodes_merged: int
    edges_created: int
    edges_reused: int
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class WarningSettled:
    """It is known what became of one review that had something to warn of.

    Attributes:
        namespace: Whose memory.
        arm: Whether its warnings were `shown`, `withheld` by the holdout, or `muted`.
        role: Whether the reviewed step `ran`, or another one `instead` of it.
        success: Whether that worked.
    """

    namespace: Namespace
    arm: Arm
    role: Role
    success: bool

    @classmethod
    def of(cls, episode: Episode, arm: Arm, role: Role) -> WarningSettled:
        """Say how an episode settled a review.

        Args:
            episode: What ran.
            arm: What was done with the warnings.
            role: Whether it was the reviewed step.
        """
        return cls(episode.namespace, arm, role, episode.kind == "success")


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


Event = (
    ReviewCompleted
    | EpisodeRecorded
    | WarningSettled
    | RunOutcomeRecorded
    | MemoryPruned
    | MemoryFailed
)


class Hook(Protocol):
    """Anything that can be called with an event. It must be quick and thread-safe."""

    def __call__(self, event: Event, /) -> None:
        """Receive one event."""


def checked_hooks(hooks: object) -> tuple[Hook, ...]:
    """Return hooks that can be called with an event.

    Args:
        hooks: A list or tuple of them.

    Raises:
        ConfigurationError: It is something else, or one of them cannot be called, is a class,
            or is a coroutine function, which nobody would await.
    """
    if not isinstance(hooks, list | tuple):
        raise ConfigurationError(
            f"hooks must be a list of functions, not {type(hooks).__name__}: hooks=[on_event]."
        )
    for hook in hooks:
        if not callable(hook) or isinstance(hook, type):
            raise ConfigurationError(
                f"hooks holds {hook!r}, which cannot be called with an event: give a function, "
                "or an object with `__call__(event)`."
            )
        if is_async(hook):
            raise ConfigurationError(
                f"hooks holds {hook!r}, a coroutine function: nobody awaits it. Give a plain one."
            )
    return tuple(hooks)


def emit(event: Event, hooks: Iterable[Hook]) -> None:
    """Hand `event` to every hook; a failing hook is logged and does not stop the guard."""
    for hook in hooks:
        try:
            hook(event)
        except Exception:
            logger.exception("driftguard hook %r failed", hook)
