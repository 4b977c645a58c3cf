"""The middleware that keeps an agent from repeating tool calls that failed before.

    agent = create_agent(model, tools, middleware=[DriftGuardMiddleware()])

Every tool call is reviewed before it runs and recorded after. What the memory knows stands where
the model acts: in the answer to the call that was not run, or behind the result of one that was,
for the model's eyes only and never in the messages of the thread.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import (
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
    omit_payload,
)
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from langgraph.types import TracePolicy

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.host.tool_calls import OnStoreError, Redact, ToolCallGuard
from driftguard_langgraph.host.tool_outcomes import FailurePredicate
from driftguard_langgraph.middleware.guard_state import GuardAgentState
from driftguard_langgraph.middleware.guarded_call import GuardedCalls, Result
from driftguard_langgraph.middleware.repeats import (
    ExitBehavior,
    RepeatLimit,
    counted,
    farewell,
    pending,
)
from driftguard_langgraph.middleware.state_ledger import StateLedger
from driftguard_langgraph.middleware.tool_answers import annotated
from driftguard_langgraph.types import Policy

logger = logging.getLogger(__name__)

Update = dict[str, Any]


class DriftGuardMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Reviews every tool call of an agent before it runs and records it after.

    Where it stands in the list matters, because the first middleware is the outermost:

    - before `ToolRetryMiddleware` and `ToolErrorMiddleware`: one call is then reviewed once and
      recorded by its final outcome, and a failed call has its evidence behind it. Behind them it
      works, too: each attempt is reviewed and recorded (equal failures of one call count once),
      and an exception goes out unchanged, without the evidence. Every order of the five records
      a failed call once and stops a known failure;
    - `HumanInTheLoopMiddleware` anywhere: it asks before any tool runs, and what is reviewed is
      the call as the person left it;
    - before `SummarizationMiddleware` and its kin: what was shown and what repeats is kept in
      private state and not in the messages, so a summary takes nothing from it, but the messages
      have to be seen before they go.

    One instance serves any number of agents and threads. With a checkpointer, a thread
    remembers what `speed_bump` has shown; without one, a run does. Custom stream events have the
    form `{"type": "driftguard", "event": "review" | "record" | "repeat", ...}`.

    Args:
        guard: Whose memory. None: a guard over the store that the agent was created with, or
            else the default guard (`DRIFTGUARD_*` settings).
        namespace: Whose memory within it, with placeholders for values of the run:
            `("acme", "{user_id}")`. None: the guard's own.
        tools: Which tools are guarded, by name or as `BaseTool`. None: all of them.
        policy: What follows from a warning. `warn`: the call runs and the model sees the
            evidence; `speed_bump`: the first proposal is answered with it, the second one runs;
            `acknowledge`: `interrupt()` asks a person to approve, edit or reject; `block`: the
            call is answered and not run; `record_only`. None: the guard's own.
        min_confidence: Below this confidence nothing is stopped, 0..1. None: the guard's own.
        repeat_limit: How often the same call may have the same result, with nothing new in
            between, before it is not run again; four times as often while the result says to
            wait (`status: pending`). None for no limit. See `judgement.progress`.
        exit_behavior: What follows then: the call is answered with an error (`continue`), every
            pending call is answered and the run ends (`end`), or `RepeatLimitReached` is raised
            (`error`).
        is_failure: Says of a `ToolMessage` without an error whether it is a failure all the
            same. Raised exceptions and error messages always are.
        redact: Applied to every text of a call and its outcome before it is looked up or
            recorded, besides the guard's own redaction.
        on_store_error: What a failure of the memory does: `open` lets the call run, `closed`
            answers it with an error, and raises when a call that did run cannot be recorded.
            None: the guard's setting.

    Raises:
        ConfigurationError: An argument is not usable; at run time, a placeholder of the
            namespace has no value, or the answer to an interrupt is none.
    """

    state_schema = GuardAgentState
    trace_policy = TracePolicy(process_inputs=omit_payload)

    def __init__(
        self,
        guard: DriftGuard | None = None,
        *,
        namespace: Sequence[str] | None = None,
        tools: Iterable[BaseTool | str] | None = None,
        policy: Policy | None = None,
        min_confidence: float | None = None,
        repeat_limit: int | None = 3,
        exit_behavior: ExitBehavior = "continue",
        is_failure: FailurePredicate | None = None,
        redact: Redact | None = None,
        on_store_error: OnStoreError | None = None,
    ) -> None:
        super().__init__()
        self._repeats = RepeatLimit(repeat_limit, exit_behavior)
        calls = ToolCallGuard(
            guard,
            namespace=namespace,
            policy=policy,
            min_confidence=min_confidence,
            is_failure=is_failure,
            redact=redact,
            on_store_error=on_store_error,
        )
        self._guarded = GuardedCalls(calls, StateLedger(), self.name, self._repeats, tools)

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

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> Update | None:
        """Count what repeats, and end the run if a call is proposed once too often.

        Args:
            state: The agent's state.
            runtime: LangGraph's runtime.

        Raises:
            RepeatLimitReached: A call was repeated too often, and `exit_behavior` is `error`.
        """
        messages = state["messages"]
        before = cast("Mapping[str, Any] | None", state.get("driftguard_progress"))
        kept = counted(before, messages)
        update: Update = {"driftguard_progress": kept}
        if self._repeats.exit_behavior == "continue":
            return update
        waiting = pending(messages)
        guarded = (call for call in waiting if self._guarded.covers(call["name"]))
        found = ((call, self._repeats.reached(kept, call)) for call in guarded)
        call, times = next(((call, times) for call, times in found if times), (None, 0))
        if call is None:
            return update
        event = {"type": "driftguard", "event": "repeat", "node": self.name}
        runtime.stream_writer({**event, "tool": call["name"], "times": times})
        if self._repeats.exit_behavior == "error":
            raise self._repeats.error(call, times)
        return {**update, "jump_to": "end", "messages": farewell(call, times, waiting)}

    @hook_config(can_jump_to=["end"])
    async def aafter_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> Update | None:
        """Count what repeats; see `after_model`. Nothing in it blocks.

        Args:
            state: The agent's state.
            runtime: LangGraph's runtime.

        Raises:
            RepeatLimitReached: A call was repeated too often, and `exit_behavior` is `error`.
        """
        return self.after_model(state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Let the model see what is remembered of the calls that ran, behind their results.

        Args:
            request: The call of the model.
            handler: Whoever makes it.
        """
        return handler(_advised_or_as_it_is(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Let the model see what is remembered; see `wrap_model_call`.

        Args:
            request: The call of the model.
            handler: Whoever makes it.
        """
        return await handler(_advised_or_as_it_is(request))


def _advised_or_as_it_is(request: ModelRequest[Any]) -> ModelRequest[Any]:
    try:
        return _advised(request)
    except Exception as error:
        logger.debug("why it failed: advice", exc_info=error)
        logger.warning("driftguard: advice was not shown: %s", type(error).__name__)
        return request


def _advised(request: ModelRequest[Any]) -> ModelRequest[Any]:
    advice: Mapping[str, str] = cast("Any", request.state).get("driftguard_advice") or {}
    if not advice:
        return request
    last = {
        message.tool_call_id: place
        for place, message in enumerate(request.messages)
        if isinstance(message, ToolMessage) and message.tool_call_id in advice
    }
    messages = list(request.messages)
    for call_id, place in last.items():
        message = messages[place]
        if isinstance(message, ToolMessage):
            messages[place] = annotated(message, advice[call_id])
    return request.override(messages=messages)
