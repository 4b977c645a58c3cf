"""The middleware that watches an agent for drift from its system prompt.

    agent = create_agent(model, tools, system_prompt="...", middleware=[DriftMonitorMiddleware()])

What a model is about to read is measured before it is called, and what it answered right after,
before any tool runs. What is known of the session is in the agent's state, so a session is a
thread. A failure of ours never costs an answer: the session goes on unwatched and it is logged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    omit_payload,
)
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Command, TracePolicy

from driftguard_langgraph._twins import async_twin
from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.drift.strategies.base import FewShotExample, checked_few_shots
from driftguard_langgraph.drift.turns import SCAFFOLD_MARK
from driftguard_langgraph.drift.watch import DriftWatch, OnError, Watched
from driftguard_langgraph.errors import ConfigurationError, DriftAlarm
from driftguard_langgraph.middleware.recovery import (
    AgentRecovery,
    RecoveryPlacement,
    checked_recovery_placement,
)
from driftguard_langgraph.middleware.state import DriftAgentState
from driftguard_langgraph.recovery.conduct import RecoveryConduct
from driftguard_langgraph.recovery.session import RecoveryPlan
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.validation import checked_names

ExitBehavior = Literal["continue", "end", "raise"]
"""What an alarm does to the run."""

Update = dict[str, Any]


class DriftMonitorMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Measures what an agent reads and says against its system prompt.

    Put it first in the list, so that the prompt it takes as the baseline is the one that
    `create_agent` was given, before other middleware adds to it. One instance serves any number
    of agents and threads. Messages that a summary replaced stay measured, and the summary is
    measured as a scaffold.

    Args:
        monitor: The baseline (a system prompt, or messages), or a `DriftMonitor` whose
            configuration is used. None: the system prompt of each thread's first model call; an
            agent without one is measured against the system messages at the start of its
            messages, or else against its first turns.
        few_shot_examples: Examples that belong to the original context.
        embeddings: As in `DriftMonitor`, and so are the next three.
        settings: The `drift_*` and `embedding_*` settings; None reads the environment.
        strategies: What measures the topic.
        explainer: Callable or Runnable that writes the explanation.
        scaffold_keys: Where the agent's state has texts that are put before the model besides
            the messages; each is measured when its text has changed.
        exit_behavior: What an alarm does to the run: `continue` only reports it, `end` answers
            pending tool calls with an error, explains in an `AIMessage` and jumps to the end
            (again in later runs of the thread, until the alarm is released), and `raise` raises
            `DriftAlarm`.
        recovery: How to bring a drifted session back: a `RecoveryPlan`, or a `RecoveryConduct`
            with an anchor, role and token budget of your own. The scaffold is put before the
            model with each call until the session is back, never into the messages; when
            scaffolds fail, the plan says whether to ask a human (`interrupt()`), to end the run
            or to go on. None: nothing is injected.
        recovery_placement: Where the scaffold goes: `system_prompt` (behind its text), or among
            the messages: `beginning`, `before_last_user`, `end`.
        on_error: What happens when measuring fails: `open` goes on and logs it, `closed` raises.
            None: `on_store_error` of the settings.

    Raises:
        ConfigurationError: An argument is not usable.
    """

    state_schema = DriftAgentState
    trace_policy = TracePolicy(process_inputs=omit_payload)

    def __init__(
        self,
        monitor: object = None,
        *,
        few_shot_examples: Iterable[FewShotExample] = (),
        embeddings: object | None = None,
        settings: DriftGuardSettings | None = None,
        strategies: object | None = None,
        explainer: object | None = None,
        scaffold_keys: Sequence[str] = (),
        exit_behavior: ExitBehavior = "continue",
        recovery: RecoveryPlan | RecoveryConduct | None = None,
        recovery_placement: RecoveryPlacement = "system_prompt",
        on_error: OnError | None = None,
    ) -> None:
        super().__init__()
        if exit_behavior not in get_args(ExitBehavior):
            known = ", ".join(get_args(ExitBehavior))
            raise ConfigurationError(f"exit_behavior={exit_behavior!r} must be one of {known}.")
        self._exit = exit_behavior
        self._scaffold_keys = sorted(checked_names(scaffold_keys, "scaffold_keys"))
        self._watch = DriftWatch(
            monitor,
            on_error=on_error,
            few_shot_examples=checked_few_shots(few_shot_examples),
            embeddings=embeddings,
            settings=settings,
            strategies=strategies,
            explainer=explainer,
        )
        placement = checked_recovery_placement(recovery_placement)
        baseline = self._watch.baseline_messages
        self._recovery = None
        if recovery is not None:
            self._recovery = AgentRecovery(recovery, placement, baseline)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> Update | None:
        """Measure what the model is about to read: the user's words, tool results, summaries.

        Args:
            state: The agent's state.
            runtime: LangGraph's runtime.

        Raises:
            DriftAlarm: The alarm is on, and `exit_behavior` is `raise`.
        """
        # The prompt of a new thread is known in `wrap_model_call` only.
        return self._looked(state, runtime) if self._has_begun(state) else None

    @hook_config(can_jump_to=["end"])
    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> Update | None:
        """Measure what the model has answered, before its tool calls are run.

        Args:
            state: The agent's state.
            runtime: LangGraph's runtime.

        Raises:
            DriftAlarm: The alarm is on, and `exit_behavior` is `raise`.
        """
        return self._looked(state, runtime) if self._has_begun(state) else None

    abefore_model = async_twin(before_model)  # type: ignore[arg-type]
    aafter_model = async_twin(after_model)  # type: ignore[arg-type]

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Begin a thread: take the prompt as its baseline and measure what led to this call.

        Args:
            request: The call of the model.
            handler: Whoever makes it.

        Raises:
            DriftAlarm: The alarm is on, and `exit_behavior` is `raise`.
        """
        if self._has_begun(request.state):
            return handler(self._shown(request, request.state))
        update = self._begun(request)
        ended = update.pop("messages", None)
        response = ModelResponse(ended) if ended else handler(self._shown(request, update))
        return ExtendedModelResponse(response, Command(update=update))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        """Begin a thread; see `wrap_model_call`.

        Args:
            request: The call of the model.
            handler: Whoever makes it.

        Raises:
            DriftAlarm: The alarm is on, and `exit_behavior` is `raise`.
        """
        if self._has_begun(request.state):
            return await handler(self._shown(request, request.state))
        update = await asyncio.to_thread(self._begun, request)
        ended = update.pop("messages", None)
        response = ModelResponse(ended) if ended else await handler(self._shown(request, update))
        return ExtendedModelResponse(response, Command(update=update))

    def _shown(self, request: ModelRequest[Any], state: Mapping[str, Any]) -> ModelRequest[Any]:
        if self._recovery is None:
            return request
        return self._recovery.shown(request, state.get("recovery_scaffold"))

    def _has_begun(self, state: Mapping[str, Any]) -> bool:
        return self._watch.has_baseline or bool(state.get("drift_state"))

    def _begun(self, request: ModelRequest[Any]) -> Update:
        prompt = request.system_message
        update = self._looked(request.state, request.runtime, prompt) or {}
        update.pop("jump_to", None)
        return update

    def _looked(
        self, state: Mapping[str, Any], runtime: Runtime[Any] | None, prompt: object = None
    ) -> Update | None:
        watched = self._measured(state, prompt)
        update, ends = None, False
        if not (watched.is_idle and state.get("drift_report")):
            update = _update(watched)
            if runtime is not None:
                runtime.stream_writer(watched.event(self.name))
            if self._recovery is not None:
                closed = self._watch.on_error == "closed"
                more, ends = self._recovery.after(
                    update, state, runtime, name=self.name, closed=closed
                )
                update |= more
        if not ends and (not watched.report.alarm or self._exit == "continue"):
            return update
        if self._exit == "raise":
            raise DriftAlarm(
                f"the session works against its instructions. {watched.report.explanation}",
                watched.report,
            )
        return {**(update or {}), "jump_to": "end", "messages": _farewell(state, watched.report)}

    def _measured(self, state: Mapping[str, Any], prompt: object) -> Watched:
        kept = state.get("drift_state")
        try:
            return self._watch.measure(
                state.get("messages"),
                kept,
                baseline=prompt,
                scaffolds={key: state.get(key) for key in self._scaffold_keys},
            )
        except GraphBubbleUp:
            raise
        except Exception as error:
            if self._watch.on_error == "closed":
                raise
            return self._watch.failed(kept, error)


def _update(watched: Watched) -> Update:
    plain = watched.report.to_dict()
    return {
        "drift_state": watched.kept,
        "drift_report": plain,
        "drift_score": plain["score"],
        "drift_alarm": plain["alarm"],
        "drift_level": plain["threat_level"],
    }


def _farewell(state: Mapping[str, Any], report: DriftReport) -> list[AnyMessage]:
    """Return what ends a run: an answer to each pending tool call, and the reason in words."""
    mark = {SCAFFOLD_MARK: True}
    last = state["messages"][-1] if state.get("messages") else None
    calls = last.tool_calls if isinstance(last, AIMessage) else []
    text = (
        "I stopped here, because this conversation seems to work against the instructions that "
        f"I was given. {report.explanation}"
    )
    unanswered: list[AnyMessage] = [
        ToolMessage(
            "Not run: the conversation was stopped because of drift from its instructions.",
            tool_call_id=call["id"],
            name=call["name"],
            status="error",
            additional_kwargs=mark,
        )
        for call in calls
    ]
    return [*unanswered, AIMessage(text, additional_kwargs=mark)]
