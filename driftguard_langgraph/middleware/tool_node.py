"""Guarding the tool calls of a `ToolNode` in a graph of one's own.

    guarded = guard_tool_call(policy="speed_bump")
    tools = ToolNode(
        [...], wrap_tool_call=guarded.wrap_tool_call, awrap_tool_call=guarded.awrap_tool_call
    )

The same as `DriftGuardMiddleware`, with what it has to remember of a thread in the messages,
since the graph's state is not ours: the answers to refused calls carry, in `additional_kwargs`
that no model sees, what was shown; and the evidence under `warn` stands behind the tool's result
for good.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.host.tool_calls import OnStoreError, Place, Redact, ToolCallGuard
from driftguard_langgraph.host.tool_outcomes import FailurePredicate
from driftguard_langgraph.judgement.open_warnings import objections
from driftguard_langgraph.middleware.guarded_call import Admission, GuardedCalls, Result
from driftguard_langgraph.middleware.repeats import RepeatLimit, counted, times_proposed
from driftguard_langgraph.middleware.tool_answers import annotated, mark_of
from driftguard_langgraph.types import Policy

WINDOW = 128
"""Messages in which repetitions are counted, each time anew."""


class MessageLedger:
    """Keeps what is shown and open in the answers to refused calls."""

    def bumped(self, request: ToolCallRequest) -> list[str]:
        """Return the triggers that a speed bump already answered in these messages.

        Args:
            request: The proposed call.
        """
        marks = filter(None, map(mark_of, _messages(request.state)))
        return [trigger for mark in marks for trigger in mark.get("bumped", ())]

    def still_open(self, request: ToolCallRequest) -> list[dict[str, Any]]:
        """Return refused calls since the last turn in which a call was run.

        Args:
            request: The call that ran.
        """
        found: list[dict[str, Any]] = []
        settled = False
        for message in reversed(_messages(request.state)):
            if isinstance(message, ToolMessage):
                mark = mark_of(message)
                settled = settled or mark is None
                found += mark["open"] if mark is not None else ()
            elif settled:
                break
        return objections(found[::-1], Place.of(request.runtime).identity.run_id)

    def progress(self, request: ToolCallRequest, limit: int) -> Mapping[str, Any] | None:
        """Return what the messages tell of repetitions.

        Args:
            request: The proposed call.
            limit: How often a call must have been repeated to matter.
        """
        messages = _messages(request.state)[-WINDOW:]
        often = times_proposed(request.tool_call, messages) >= limit
        return counted(None, messages) if often else None

    def refused(self, admission: Admission, answer: ToolMessage) -> Result:
        """Return the answer to a call that was not run; it remembers itself.

        Args:
            admission: What was decided.
            answer: What the model is told.
        """
        return answer

    def finished(self, admission: Admission, result: Result) -> Result:
        """Return a result with the note behind the answer to this call.

        Args:
            admission: What was decided.
            result: What the tool gave back.
        """
        if not admission.note:
            return result
        noted: Result = _with_note(result, admission.request.tool_call["id"], admission.note)
        return noted


class GuardedToolCalls:
    """What goes into a `ToolNode`; calling it is the sync wrapper. See `guard_tool_call`."""

    def __init__(self, guarded: GuardedCalls) -> None:
        self._guarded = guarded

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Review a call, run it if it may run, and record how it ended.

        Args:
            request: The call.
            handler: Whoever runs it.
        """
        return self._guarded.wrap(request, handler)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Review, run and record without blocking the event loop; see `wrap_tool_call`.

        Args:
            request: The call.
            handler: Whoever runs it.
        """
        return await self._guarded.awrap(request, handler)

    __call__ = wrap_tool_call


def guard_tool_call(
    guard: DriftGuard | None = None,
    *,
    namespace: Sequence[str] | None = None,
    tools: Iterable[BaseTool | str] | None = None,
    policy: Policy | None = None,
    min_confidence: float | None = None,
    repeat_limit: int | None = 3,
    exit_behavior: Literal["continue", "error"] = "continue",
    is_failure: FailurePredicate | None = None,
    redact: Redact | None = None,
    on_store_error: OnStoreError | None = None,
) -> GuardedToolCalls:
    """Return wrappers for `ToolNode(wrap_tool_call=..., awrap_tool_call=...)`.

    Give it both: with the sync one alone, a node that runs async blocks the event loop.

    Args:
        guard: Whose memory; as in `DriftGuardMiddleware`, and so are all that follow.
        namespace: Whose memory within it.
        tools: Which tools are guarded.
        policy: What follows from a warning.
        min_confidence: Below this confidence nothing is stopped, 0..1.
        repeat_limit: How often the same call may have the same result; None for no limit.
        exit_behavior: What a call does that is repeated more often: it is answered with an error
            (`continue`), or `RepeatLimitReached` is raised (`error`). A node cannot end a run.
        is_failure: Says of a `ToolMessage` without an error whether it is a failure.
        redact: Applied to every text before it is looked up or recorded.
        on_store_error: What a failure of the memory does.

    Raises:
        ConfigurationError: An argument is not usable.
    """
    repeats = RepeatLimit(repeat_limit, exit_behavior, ("continue", "error"))
    calls = ToolCallGuard(
        guard,
        namespace=namespace,
        policy=policy,
        min_confidence=min_confidence,
        is_failure=is_failure,
        redact=redact,
        on_store_error=on_store_error,
    )
    return GuardedToolCalls(GuardedCalls(calls, MessageLedger(), "guard_tool_call", repeats, tools))


def _with_note(value: Any, call_id: str | None, note: str) -> Any:
    if isinstance(value, ToolMessage):
        return annotated(value, note) if value.tool_call_id == call_id else value
    if isinstance(value, Command) and isinstance(value.update, Mapping):
        told = {key: _with_note(each, call_id, note) for key, each in value.update.items()}
        return replace(value, update=told)
    if isinstance(value, list):
        return [_with_note(each, call_id, note) for each in value]
    return value


def _messages(state: object) -> list[BaseMessage]:
    if isinstance(state, list):
        return [each for each in state if isinstance(each, BaseMessage)]
    held = state if isinstance(state, Mapping) else getattr(state, "__dict__", {})
    lists = (each for each in held.values() if isinstance(each, list))
    return [each for part in lists for each in part if isinstance(each, BaseMessage)]
