"""Guarding plain Python: a decorator for steps, and a review of any planner's payload.

`guard_step` serves functions, methods, coroutine functions and generators of both sorts, and
leaves each what it was: an `async def` stays a coroutine function and never blocks the event
loop. A generator is reviewed when it is started, not when it is called; values sent into an
async generator do not reach it. With `@classmethod` or `@staticmethod`, put it below them.

It does not record how the step went: only the caller knows what counts as a failure
(`guard.record`, `guard.record_success`). A decorated function has no thread to remember what
was shown, so `speed_bump` stops every call that `acknowledged_getter` does not accept.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any, ParamSpec, TypeVar, cast

from driftguard_langgraph.errors import (
    ConfigurationError,
    GuardrailAcknowledgementRequired,
    GuardrailTriggered,
)
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.judgement.policy import checked_policy
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.text.validation import checked_share
from driftguard_langgraph.types import Policy

_P = ParamSpec("_P")
_R = TypeVar("_R")

CONTEXT_NAMES = ("action", "context", "task", "prompt")
"""Parameters that are taken for the step when no positional argument is; DriftGuard's own."""


def guard_step(
    guard: DriftGuard,
    *,
    input_getter: Callable[..., Any] | None = None,
    policy: Policy | None = None,
    min_confidence: float | None = None,
    raise_on_match: bool = False,
    acknowledged_getter: Callable[..., bool] | None = None,
    on_review: Callable[[GuardReview], object] | None = None,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return a decorator that reviews a step before the decorated callable runs it.

    What is reviewed is the first positional argument (after `self`) that is a text or a
    tool call `{"name", "args"}`; failing that, the argument named `action`, `context`,
    `task` or `prompt`; failing that, any other text or tool call.

    Args:
        guard: Whom to ask.
        input_getter: Called like the step; returns what is reviewed.
        policy: What follows from a warning. None: the guard's own.
        min_confidence: Below this confidence nothing is stopped, 0..1. None: the guard's.
        raise_on_match: Treat the policy `warn` as `block`.
        acknowledged_getter: Called like the step; says whether the risk is accepted.
        on_review: Called with every review, before the step runs or the refusal is raised.

    Raises:
        ConfigurationError: An argument is not usable, or what is decorated is not a plain
            callable; at call time, no argument can be reviewed.
        GuardrailTriggered: At call time: the policy stops the step.
        GuardrailAcknowledgementRequired: At call time: somebody has to accept it first.
    """
    if policy is not None:
        checked_policy(policy)
    if min_confidence is not None:
        checked_share(min_confidence, "min_confidence")

    def decorate(step: Callable[_P, _R]) -> Callable[_P, _R]:
        _check_step(step)
        find = input_getter or _context_finder(step)

        def request(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
            return {
                "action": find(*args, **kwargs),
                "policy": policy,
                "min_confidence": min_confidence,
                "acknowledged": bool(acknowledged_getter and acknowledged_getter(*args, **kwargs)),
                "raise_on_match": raise_on_match,
            }

        return cast("Callable[_P, _R]", _wrap(step, guard, request, on_review or _ignore))

    return decorate


def review_payload(
    guard: DriftGuard,
    payload: Mapping[str, Any],
    *,
    action_key: str = "action",
    acknowledged_key: str | None = None,
    policy: Policy | None = None,
    min_confidence: float | None = None,
) -> dict[str, Any]:
    """Review the step inside a planner's payload, whatever the planner is.

    Args:
        guard: Whom to ask.
        payload: What the planner produced.
        action_key: Where in it the step is: words, or a tool call `{"name", "args"}`.
        acknowledged_key: Where it says that the risk is accepted, true or false.
        policy: What follows from a warning. None: the guard's own.
        min_confidence: Below this confidence nothing is stopped, 0..1. None: the guard's.

    Returns:
        `payload` as given, `review` (`GuardReview.to_dict()`), `warnings_count`,
        `reinforcements_count` and `confidence` (0..1).

    Raises:
        ConfigurationError: The payload lacks `action_key`, or the policy is unknown.
        GuardrailTriggered: The policy stops the step.
        GuardrailAcknowledgementRequired: Somebody has to accept it first.
    """
    if not isinstance(payload, Mapping) or action_key not in payload:
        held = sorted(map(str, payload)) if isinstance(payload, Mapping) else type(payload).__name__
        raise ConfigurationError(
            f"the payload has no '{action_key}' (it is: {held}). "
            "Name the key of the step with action_key=..."
        )
    review = guard.before_step(
        payload[action_key],
        policy=policy,
        min_confidence=min_confidence,
        acknowledged=acknowledged_key is not None and payload.get(acknowledged_key) is True,
    )
    plain = review.to_dict()
    return {
        "payload": payload,
        "review": plain,
        "warnings_count": len(review.warnings),
        "reinforcements_count": len(review.reinforcements),
        "confidence": plain["confidence"],
    }


async def areview_payload(
    guard: DriftGuard,
    payload: Mapping[str, Any],
    *,
    action_key: str = "action",
    acknowledged_key: str | None = None,
    policy: Policy | None = None,
    min_confidence: float | None = None,
) -> dict[str, Any]:
    """Async twin of `review_payload`; it runs in a worker thread."""
    return await asyncio.to_thread(
        review_payload,
        guard,
        payload,
        action_key=action_key,
        acknowledged_key=acknowledged_key,
        policy=policy,
        min_confidence=min_confidence,
    )


_Request = Callable[[tuple[Any, ...], dict[str, Any]], dict[str, Any]]


def _wrap(
    step: Callable[..., Any],
    guard: DriftGuard,
    request: _Request,
    on_review: Callable[[GuardReview], object],
) -> Callable[..., Any]:
    """Return `step` with a review before it, as the same sort of callable."""

    def review(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        with _refusals_shown_to(on_review):
            found = guard.before_step(**request(args, kwargs))
        on_review(found)

    async def areview(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        with _refusals_shown_to(on_review):
            found = await guard.abefore_step(**request(args, kwargs))
        on_review(found)

    @functools.wraps(step)
    def call(*args: Any, **kwargs: Any) -> Any:
        review(args, kwargs)
        return step(*args, **kwargs)

    @functools.wraps(step)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        await areview(args, kwargs)
        return await step(*args, **kwargs)

    @functools.wraps(step)
    def generate(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        review(args, kwargs)
        return (yield from step(*args, **kwargs))

    @functools.wraps(step)
    async def agenerate(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        await areview(args, kwargs)
        async with aclosing(step(*args, **kwargs)) as items:
            async for item in items:
                yield item

    if _is(inspect.iscoroutinefunction, step):
        return acall
    if _is(inspect.isasyncgenfunction, step):
        return agenerate
    return generate if _is(inspect.isgeneratorfunction, step) else call


def _is(sort: Callable[[Any], bool], step: Callable[..., Any]) -> bool:
    # An object with an `async def __call__` is as much of a coroutine function.
    return sort(step) or sort(getattr(step, "__call__", None))  # noqa: B004


@contextmanager
def _refusals_shown_to(on_review: Callable[[GuardReview], object]) -> Iterator[None]:
    try:
        yield
    except (GuardrailTriggered, GuardrailAcknowledgementRequired) as refusal:
        on_review(refusal.review)
        raise


def _ignore(review: GuardReview) -> None:
    """Do nothing with a review."""


def _check_step(step: object) -> None:
    if isinstance(step, classmethod | staticmethod):
        raise ConfigurationError(
            f"put @guard_step below @{type(step).__name__}, so that it decorates the function."
        )
    if not callable(step):
        raise ConfigurationError(
            f"guard_step decorates callables, not {type(step).__name__}: "
            "write @guard_step(guard) above a function."
        )


def _context_finder(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that picks the step to review from the arguments of a call."""
    signature = inspect.signature(step)
    names = list(signature.parameters)
    skipped = 1 if names[:1] in (["self"], ["cls"]) else 0

    def find(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = {**bound.arguments, **kwargs}
        candidates = (
            *args[skipped:],
            *(given.get(name) for name in CONTEXT_NAMES),
            *list(given.values())[skipped:],
        )
        for candidate in candidates:
            if _is_step(candidate):
                return candidate
        raise ConfigurationError(
            f"{getattr(step, '__qualname__', step)!s} was called without a text or a tool call "
            "to review: pass one, or tell guard_step where it is with input_getter=..."
        )

    return find


def _is_step(value: object) -> bool:
    if isinstance(value, Mapping):
        return isinstance(value.get("name"), str) and isinstance(value.get("args"), Mapping)
    return isinstance(value, str)
