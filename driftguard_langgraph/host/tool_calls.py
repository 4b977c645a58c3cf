"""One tool call under guard: reviewed before it runs, judged after, recorded once.

What a door of its own (a middleware, a wrapper of a `ToolNode`, a callback handler) adds is how
to keep the tool from running and where to say why. A failure of ours never costs a call while
memory is `open`; while it is `closed`, a call that could not be reviewed is refused.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph.errors import GraphBubbleUp
from langgraph.store.base import BaseStore

from driftguard_langgraph.errors import (
    ConfigurationError,
    InvalidEpisode,
    StoreError,
)
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.host.guards import GuardSource
from driftguard_langgraph.host.ids import RunIdentity, episode_id, provenance, review_id
from driftguard_langgraph.host.namespace import checked_template, filled
from driftguard_langgraph.host.plain_args import plain_args
from driftguard_langgraph.host.tool_outcomes import FailurePredicate, ToolOutcome, failed
from driftguard_langgraph.host.tool_outcomes import outcome_of as judged
from driftguard_langgraph.host.tool_texts import refusal_text, unavailable_text
from driftguard_langgraph.judgement.policy import checked_policy
from driftguard_langgraph.judgement.settlement import ReviewLike
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.text.validation import checked_share
from driftguard_langgraph.types import Policy, Receipt

logger = logging.getLogger(__name__)

OnStoreError = Literal["open", "closed"]
Redact = Callable[[str], str]
"""Returns a text without what must not be kept."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tool call runs.

    Attributes:
        identity: The ids of the run.
        config: Its configuration, for the placeholders of a namespace.
        context: Its context, for the same.
        store: The store that its graph was compiled with, None without one.
    """

    identity: RunIdentity = field(default_factory=RunIdentity)
    config: Mapping[str, Any] = field(default_factory=dict)
    context: object = None
    store: BaseStore | None = None

    @classmethod
    def of(cls, runtime: Any) -> Place:
        """Return where the holder of a `ToolRuntime` runs; nowhere in particular without one."""
        if runtime is None:
            return cls()
        config = getattr(runtime, "config", None) or {}
        return cls(RunIdentity.of(runtime), config, runtime.context, runtime.store)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What follows for a proposed call.

    Attributes:
        review: What the memory says.
        refusal: What to tell the model instead of running the call; None: it may run.
    """

    review: GuardReview
    refusal: str | None = None


class ToolCallGuard:
    """Reviews, judges and records tool calls `{"name", "args", "id"}`; safe to share.

    Args:
        guard: Whose memory. None: a guard over the store of the run, or else the default one.
        namespace: Whose memory within it, with placeholders: `("acme", "{user_id}")`. None: the
            guard's own.
        policy: What follows from a warning. None: the guard's own.
        min_confidence: Below this confidence nothing is stopped, 0..1. None: the guard's own.
        is_failure: Says of an answer without an error whether it is a failure all the same.
        redact: Applied to every text before it is looked up or recorded.
        on_store_error: What a failure of ours does: `open` lets the call run, `closed` refuses
            it. None: the guard's setting.
        source: The door, for the provenance: `middleware`, `callback`.

    Raises:
        ConfigurationError: An argument is not usable.
    """

    def __init__(
        self,
        guard: DriftGuard | None = None,
        *,
        namespace: Sequence[str] | None = None,
        policy: str | None = None,
        min_confidence: float | None = None,
        is_failure: FailurePredicate | None = None,
        redact: Redact | None = None,
        on_store_error: str | None = None,
        source: str = "middleware",
    ) -> None:
        self._source = GuardSource(guard)
        self._namespace = checked_template(namespace)
        self._policy: Policy | None = None if policy is None else checked_policy(policy)
        self._floor = (
            None if min_confidence is None else checked_share(min_confidence, "min_confidence")
        )
        for name, given in (("is_failure", is_failure), ("redact", redact)):
            if given is not None and not callable(given):
                raise ConfigurationError(
                    f"{name} must be a function or None, not {type(given).__name__}."
                )
            if inspect.iscoroutinefunction(given):
                raise ConfigurationError(f"{name} must be a plain function: nobody awaits it.")
        if on_store_error not in (None, "open", "closed"):
            raise ConfigurationError(
                f"on_store_error={on_store_error!r} must be 'open', 'closed' or None "
                "(the guard's own setting)."
            )
        self._is_failure = is_failure
        self._redact = redact
        self._on_error = on_store_error
        self._door = source

    def review(
        self,
        call: Mapping[str, Any],
        place: Place,
        *,
        bumped: Collection[str] = (),
        acknowledged: bool = False,
        number: int = 0,
    ) -> Ruling:
        """Ask the memory about a proposed call, and say what follows. It may block.

        Args:
            call: The call.
            place: Where it is to run.
            bumped: Triggers that a speed bump already answered in this thread.
            acknowledged: Whether somebody accepted the risk.
            number: Which review of this execution it is.

        Raises:
            ConfigurationError: A placeholder of the namespace has no value.
        """
        namespace = filled(self._namespace, place.config, place.context)
        guard = self._source.get(place.store)
        try:
            review = guard.review(
                self.action(call),
                policy=self._policy,
                min_confidence=self._floor,
                acknowledged=acknowledged,
                bumped=bumped,
                namespace=namespace,
                thread_id=place.identity.thread_id,
                review_id=review_id(place.identity, number, call),
            )
        except (GraphBubbleUp, ConfigurationError):
            raise
        except Exception as error:
            logger.debug("why it failed: review", exc_info=error)
            _note("review", error)
            return self._ruling(self._unreviewed(call, guard, error), guard)
        return self._ruling(review, guard)

    def record(
        self,
        call: Mapping[str, Any],
        place: Place,
        outcome: ToolOutcome,
        *,
        review: ReviewLike | None = None,
        instead_of: Sequence[ReviewLike] = (),
    ) -> Receipt | None:
        """Remember how a call ended, once however often that is told. It may block.

        Args:
            call: The call that ran.
            place: Where.
            outcome: How it ended.
            review: The review of it.
            instead_of: Reviews of refused calls in whose place it ran.

        Returns:
            The memory's receipt; None when nothing could be recorded.

        Raises:
            StoreError: It could not be recorded, and memory is `closed`.
            ConfigurationError: A placeholder of the namespace has no value.
        """
        namespace = filled(self._namespace, place.config, place.context)
        guard = self._source.get(place.store)
        record = guard.record if outcome.kind == "mistake" else guard.record_success
        try:
            receipt = record(
                self.action(call),
                self._redacted(outcome.feedback),
                self._redacted(outcome.outcome),
                episode_id=episode_id(
                    place.identity, {**call, "args": plain_args(call.get("args"))}, outcome.kind
                ),
                provenance=provenance(place.identity, call, self._door),
                namespace=namespace,
                review=review,
                instead_of=list(instead_of) or None,
            )
        except (GraphBubbleUp, ConfigurationError):
            raise
        except Exception as error:
            logger.debug("why it failed: record", exc_info=error)
            _note("record", error)
            if self._is_closed(guard):
                raise StoreError(_unrecorded(call, _told(error))) from error
            return None
        if receipt["status"] == "unavailable" and self._is_closed(guard):
            raise StoreError(_unrecorded(call, str(receipt["error"])))
        return receipt

    def outcome_of(self, result: object) -> ToolOutcome:
        """Judge what a call gave back: an exception, a message, a `Command`, plain output.

        A predicate that fails itself says nothing: then only what is marked as an error is one.

        Args:
            result: What was raised or returned.
        """
        if isinstance(result, BaseException):
            return failed(result)
        try:
            return judged(result, self._is_failure)
        except Exception as error:
            logger.debug("why it failed: is_failure", exc_info=error)
            _note("is_failure", error)
            return judged(result)

    def action(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Return a call as it is looked up and recorded: without what `redact` takes out."""
        return {
            "name": call.get("name"),
            "args": self._redacted(plain_args(call.get("args") or {})),
        }

    def _redacted(self, value: Any) -> Any:
        if self._redact is None:
            return value
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, Mapping):
            return {self._redacted(key): self._redacted(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._redacted(each) for each in value]
        return value

    def _ruling(self, review: GuardReview, guard: DriftGuard) -> Ruling:
        if review.decision == "unavailable":
            closed = self._is_closed(guard)
            return Ruling(review, unavailable_text(review.error) if closed else None)
        return Ruling(review, None if review.may_run else refusal_text(review))

    def _unreviewed(
        self, call: Mapping[str, Any], guard: DriftGuard, error: Exception
    ) -> GuardReview:
        policy = self._policy or guard.settings.guard_policy
        name = str(call.get("name"))
        return GuardReview(name, decision="unavailable", policy=policy, error=_told(error))

    def _is_closed(self, guard: DriftGuard) -> bool:
        return (self._on_error or guard.settings.on_store_error) == "closed"


def _told(error: Exception) -> str:
    # An embedder, or a caller's function, may quote what it was given; ours do not.
    own = isinstance(error, StoreError | InvalidEpisode)
    return str(error) if own else type(error).__name__


def _unrecorded(call: Mapping[str, Any], why: str) -> str:
    return (
        f"how the call of {call.get('name')!r} ended could not be recorded ({why}), and memory "
        "must not be incomplete (on_store_error='closed'). The tool did run: look at what it "
        "did before you run it again, or set on_store_error='open'."
    )


def _note(operation: str, error: Exception) -> None:
    told = " ".join(dict.fromkeys((type(error).__name__, _told(error))))
    logger.warning("driftguard: %s of a tool call failed: %s", operation, told)
