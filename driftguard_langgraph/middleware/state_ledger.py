"""What an agent's private state remembers of its guarded tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from driftguard_langgraph.host.tool_calls import Place
from driftguard_langgraph.judgement.open_warnings import objections
from driftguard_langgraph.middleware.guarded_call import Admission, Result
from driftguard_langgraph.middleware.tool_answers import MARK

Update = dict[str, Any]


class StateLedger:
    """Keeps what is shown, open and advised in the keys of `GuardAgentState`."""

    def bumped(self, request: ToolCallRequest) -> list[str]:
        """Return the triggers that a speed bump already answered in this thread.

        Args:
            request: The proposed call.
        """
        return list(_kept(request, "driftguard_bumped") or ())

    def still_open(self, request: ToolCallRequest) -> list[dict[str, Any]]:
        """Return the reviews of refused calls of this run that are not settled yet.

        Args:
            request: The call that ran.
        """
        held = list((_kept(request, "driftguard_open") or {}).values())
        return objections(held, Place.of(request.runtime).identity.run_id)

    def progress(self, request: ToolCallRequest, limit: int) -> Mapping[str, Any] | None:
        """Return what was counted before the call was proposed.

        Args:
            request: The proposed call.
            limit: How often a call must have been repeated to matter.
        """
        found: Mapping[str, Any] | None = _kept(request, "driftguard_progress")
        return found

    def refused(self, admission: Admission, answer: ToolMessage) -> Result:
        """Return the answer to a call that was not run, and remember it.

        Args:
            admission: What was decided.
            answer: What the model is told.
        """
        left_open = answer.additional_kwargs[MARK]["open"]
        update = {
            "driftguard_bumped": admission.triggers,
            "driftguard_open": {each["review_id"]: each for each in left_open},
        }
        return _with(answer, {key: value for key, value in update.items() if value})

    def finished(self, admission: Admission, result: Result) -> Result:
        """Return a result, and remember what the model is to see behind it.

        Args:
            admission: What was decided.
            result: What the tool gave back.
        """
        update: Update = {}
        if admission.note:
            update["driftguard_advice"] = {admission.request.tool_call["id"]: admission.note}
        settled = _kept(admission.request, "driftguard_open")
        if settled:
            update["driftguard_open"] = dict.fromkeys(settled)
        return _with(result, update)


def _kept(request: ToolCallRequest, key: str) -> Any:
    return request.state.get(key) if isinstance(request.state, Mapping) else None


def _with(result: Result, update: Update) -> Result:
    """Return a result that also updates our part of the state."""
    if not update:
        return result
    if isinstance(result, ToolMessage):
        return Command(update={"messages": [result], **update})
    if not isinstance(result, Command):
        # A tool may answer with several messages and commands, which the types do not say.
        return [*result, Command(update=update)]  # type: ignore[unreachable]
    if result.graph is None:
        # A command to a parent graph updates a state that is not ours.
        given = result.update
        pairs = list(given.items()) if isinstance(given, Mapping) else list(given or ())
        return Command(update=[*pairs, *update.items()], resume=result.resume, goto=result.goto)
    return result
