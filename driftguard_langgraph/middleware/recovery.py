"""Recovery in an agent: the scaffold goes before the model with each call until it is back."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Literal

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import SystemMessage, convert_to_messages
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.conduct import Conducted, RecoveryConduct
from driftguard_langgraph.recovery.placement import Placement, checked_placement, with_scaffold
from driftguard_langgraph.recovery.session import RecoveryPlan

logger = logging.getLogger(__name__)

_ALLOWED = "allowed"
"""Where `recovery_state` remembers that a human lets a session go on that was not recovered."""

RecoveryPlacement = Placement | Literal["system_prompt"]
"""Where the scaffold goes: behind the system prompt's own text, which every provider takes, or
among the messages."""


def checked_recovery_placement(value: object) -> RecoveryPlacement:
    """Return a known placement.

    Raises:
        ConfigurationError: There is no such placement.
    """
    return "system_prompt" if value == "system_prompt" else checked_placement(value)


class AgentRecovery:
    """The recovery of the agents that one middleware watches.

    Args:
        recovery: How to recover: a plan, or a conduct with an anchor, a role and a budget.
        placement: Where the scaffold goes.
        baseline: What the middleware was given as the baseline, None if each thread brings it.

    Raises:
        ConfigurationError: An argument is not usable.
    """

    def __init__(
        self,
        recovery: RecoveryPlan | RecoveryConduct,
        placement: RecoveryPlacement,
        baseline: object,
    ) -> None:
        if isinstance(recovery, RecoveryPlan):
            recovery = RecoveryConduct(baseline, plan=recovery)
        if not isinstance(recovery, RecoveryConduct):
            raise ConfigurationError(
                "recovery must be a RecoveryPlan, a RecoveryConduct or None, "
                f"not {type(recovery).__name__}."
            )
        self._conduct = recovery
        self._placement = placement

    def after(
        self,
        update: Mapping[str, Any],
        state: Mapping[str, Any],
        runtime: Runtime[Any] | None,
        *,
        name: str,
        closed: bool,
    ) -> tuple[dict[str, Any], bool]:
        """Return what the newest report adds to the state, and whether the run should end.

        A human who is asked (`when_exhausted="interrupt"`) answers with `Command(resume=...)`:
        true or "continue" goes on, and is asked again only after the session was back;
        anything else ends the run.

        Args:
            update: The monitor's update, with report and kept state.
            state: The agent's state.
            runtime: LangGraph's runtime.
            name: Name of the middleware, for the stream.
            closed: Whether a failure of ours is raised instead of logged.
        """
        try:
            done = self._conduct.after(
                update["drift_report"],
                state.get("recovery_state"),
                baseline=update["drift_state"].get("baseline"),
                messages=state.get("messages") or (),
            )
        except GraphBubbleUp:
            raise
        except Exception as error:
            if closed:
                raise
            # A traceback may quote the session, so it is for those who debug.
            logger.warning("driftguard could not recover a session: %s", type(error).__name__)
            logger.debug("why it could not be recovered", exc_info=error)
            return {}, False
        if runtime is not None and (done.step.inject or done.step.route != "continue"):
            runtime.stream_writer(done.event(name))
        kept = state.get("recovery_state") or {}
        allowed = done.step.route == "interrupt" and bool(kept.get(_ALLOWED))
        ends = not allowed and self._ends(done)
        plain = _plain(done)
        plain["recovery_state"][_ALLOWED] = done.step.route == "interrupt" and not ends
        return plain, ends

    def _ends(self, done: Conducted) -> bool:
        if done.step.route == "interrupt":
            answer = interrupt({"reason": "recovery_failed", "verdict": done.verdict})
            return answer is not True and answer != "continue"
        return done.step.route == "stop"

    def shown(
        self, request: ModelRequest[Any], scaffold: Mapping[str, Any] | None
    ) -> ModelRequest[Any]:
        """Return a model call with the scaffold in its place.

        Args:
            request: The call.
            scaffold: What is under `recovery_scaffold`; None leaves the call as it is.
        """
        if scaffold is None:
            return request
        if self._placement == "system_prompt":
            return request.override(system_message=_joined(request.system_message, scaffold))
        messages = with_scaffold(
            request.messages, convert_to_messages([dict(scaffold)])[0], self._placement
        )
        return request.override(messages=messages)


def _plain(done: Conducted) -> dict[str, Any]:
    return {
        "recovery_state": done.kept,
        "recovery_scaffold": done.message,
        "recovery_verdict": done.verdict,
        "recovery_route": done.step.route,
    }


def _joined(prompt: SystemMessage | None, scaffold: Mapping[str, Any]) -> SystemMessage:
    text = str(scaffold["content"])
    if prompt is None:
        return SystemMessage(text)
    if isinstance(prompt.content, str):
        return prompt.model_copy(update={"content": f"{prompt.content}\n\n{text}"})
    return prompt.model_copy(
        update={"content": [*prompt.content, {"type": "text", "text": f"\n\n{text}"}]}
    )
