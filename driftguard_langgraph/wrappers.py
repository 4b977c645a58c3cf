"""Guarding plain Python: a decorator for steps, and a review of any planner's payload.

`guard_step` serves functions, methods, coroutine functions and generators of both sorts, and
leaves each what it was: an `async def` stays a coroutine function and never blocks the event
loop. A generator is reviewed when it is started, not when it is called; values sent into an
async generator do not reach it. With `@classmethod` or `@staticmethod`, put it below them.

It does not record how the step went: only the caller knows what counts as a failure
(`guard.record`, `guard.record_success`; with `review=` what `on_review` was given, so that its
warnings are settled). A decorated function has no thread to remember what
was shown, so `speed_bump` stops every call that `acknowledged_getter` does not accept.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextlib import aclosing, suppress
from typing import Any, ParamSpec, TypeVar, cast

from driftguard_langgraph._twins import is_async, is_sort
from driftguard_langgraph.errors import (
    ConfigurationError,
    GuardrailAcknowledgementRequired,
    GuardrailTriggered,
)
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.judgement.policy import checked_policy
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.text.validation import checked_flag, checked_share
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
    acknowledged_getter: Callable[..., bool | Awaitable[bool]] | None = None,
    on_review: Callable[[GuardReview], object] | None = None,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Return a decorator that reviews a step before the decorated callable runs it.

    What is reviewed is the first positional argument (after `self`) that is a text or a
    tool call `{"name", "args"}`; failing that, the argument named `action`, `context`,
    `task` or `prompt`; failing that, any other text or tool call.

    An async step awaits what the three callables below return, where that can be awaited.

    Args:
        guard: Whom to ask.
        input_getter: Called like the step; returns what is reviewed.
        policy: What follows from a warning. None: the guard's own.
        min_confidence: Below this confidence nothing is stopped, 0..1. None: the guard's.
        raise_on_match: Treat the policy `warn` as `block`.
        acknowledged_getter: Called like the step; only the value True accepts the risk.
        on_review: Called with every review, before the step runs or the refusal is raised.

    Raises:
        ConfigurationError: An argument is not usable (by a sync step: a coroutine function),
            or what is decorated is no plain callable; at call time, nothing can be reviewed.
        GuardrailTriggered: At call time: the policy stops the step.
        GuardrailAcknowledgementRequired: At call time: somebody has to accept it first.
    """
    _check_guard(guard)
    if policy is not None:
        checked_policy(policy)
    if min_confidence is not None:
        checked_share(min_confidence, "min_confidence")
    checked_flag(raise_on_match, "raise_on_match")
    _check_functions(input_getter, acknowledged_getter, on_review)

    def decorate(step: Callable[_P, _R]) -> Callable[_P, _R]:
        _check_step(step)
        _check_awaitables(step, input_getter, acknowledged_getter, on_review)
        find = input_getter or _context_finder(step)
        accepts, show = acknowledged_getter or _ignore, on_review or _ignore

        def steps(before: Callable[..., Any], /, *args: Any, **kwargs: Any) -> _Steps:
            action = yield find(*args, **kwargs)
            sure = (yield accepts(*args, **kwargs)) is True
            try:
                review = yield before(action, policy, min_confidence, sure, raise_on_match)
            except (GuardrailTriggered, GuardrailAcknowledgementRequired) as refusal:
                yield show(refusal.review)
                raise
            yield show(review)

        return cast("Callable[_P, _R]", _wrap(step, guard, steps))

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
        ConfigurationError: An argument is not usable, or the payload lacks `action_key`.
        GuardrailTriggered: The policy stops the step.
        GuardrailAcknowledgementRequired: Somebody has to accept it first.
    """
    _check_guard(guard)
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


_Steps = Generator[Any, Any, None]
"""A review as a sequence of values, which an async step awaits where they can be."""


def _wrap(
    step: Callable[..., Any], guard: DriftGuard, steps: Callable[..., _Steps]
) -> Callable[..., Any]:
    """Return `step` with a review before it, as the same sort of callable."""

    @functools.wraps(step)
    def call(*args: Any, **kwargs: Any) -> Any:
        _drive(steps(guard.before_step, *args, **kwargs))
        return step(*args, **kwargs)

    @functools.wraps(step)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        await _adrive(steps(guard.abefore_step, *args, **kwargs))
        return await step(*args, **kwargs)

    @functools.wraps(step)
    def generate(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        _drive(steps(guard.before_step, *args, **kwargs))
        return (yield from step(*args, **kwargs))

    @functools.wraps(step)
    async def agenerate(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        await _adrive(steps(guard.abefore_step, *args, **kwargs))
        async with aclosing(step(*args, **kwargs)) as items:
            async for item in items:
                yield item

    if is_async(step):
        return acall if is_sort(inspect.iscoroutinefunction, step) else agenerate
    return generate if is_sort(inspect.isgeneratorfunction, step) else call


def _drive(steps: _Steps) -> None:
    value = None
    with suppress(StopIteration):
        while True:
            value = steps.send(value)


async def _adrive(steps: _Steps) -> None:
    with suppress(StopIteration):
        value = next(steps)
        while True:
            try:
                settled = await value if inspect.isawaitable(value) else value
            except (GuardrailTriggered, GuardrailAcknowledgementRequired) as refusal:
                value = steps.throw(refusal)
            else:
                value = steps.send(settled)


def _ignore(*_args: object, **_kwargs: object) -> None:
    """Show a review to nobody, and accept no risk."""


def _check_guard(guard: object) -> None:
    if not callable(getattr(guard, "before_step", None)):
        raise ConfigurationError(f"pass a DriftGuard as guard, not {type(guard).__name__}.")


_FUNCTIONS = ("input_getter", "acknowledged_getter", "on_review")


def _check_functions(*given: object) -> None:
    for name, function in zip(_FUNCTIONS, given, strict=True):
        if function is not None and not callable(function):
            raise ConfigurationError(f"{name} must be a function, not {function!r}.")


def _check_awaitables(step: Callable[..., Any], *given: Callable[..., Any] | None) -> None:
    for name, function in zip(_FUNCTIONS, given, strict=True):
        if function is not None and is_async(function) and not is_async(step):
            raise ConfigurationError(
                f"{name} is a coroutine function and the step is not, so nobody could await "
                "it: make the step an async def, or this a plain function."
            )


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
