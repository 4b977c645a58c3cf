"""The body of both doors to a tool call: the middleware of an agent and the wrapper of a node."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from driftguard_langgraph.errors import DriftGuardError
from driftguard_langgraph.host.asking import Settled, settle
from driftguard_langgraph.host.control_flow import is_control_flow
from driftguard_langgraph.host.driving import Steps, adriven, driven
from driftguard_langgraph.host.own_tools import asks_memory
from driftguard_langgraph.host.tool_calls import Place, Ruling, ToolCallGuard
from driftguard_langgraph.host.tool_names import tool_names
from driftguard_langgraph.host.tool_texts import advice_text, edited_text, refusal_text
from driftguard_langgraph.judgement.settlement import ReviewLike
from driftguard_langgraph.middleware.repeats import RepeatLimit
from driftguard_langgraph.middleware.tool_answers import refusal, reviewed
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.text.actions import render_tool_call
from driftguard_langgraph.types import Receipt

logger = logging.getLogger(__name__)

Result = ToolMessage | Command[Any]


@dataclass(frozen=True, slots=True)
class Admission:
    """What follows for one proposed call.

    Attributes:
        request: The call that may run; a person may have changed it.
        reviews: Every review on the way; the last is of the call in `request`.
        answer: What the model is told instead of running it; None: run it.
        note: What the model is told besides the result; empty for nothing.
    """

    request: ToolCallRequest
    reviews: tuple[GuardReview, ...]
    answer: ToolMessage | None = None
    note: str = ""

    @property
    def review(self) -> GuardReview:
        """The review of the call that may run."""
        return self.reviews[-1]

    @property
    def triggers(self) -> list[str]:
        """What a speed bump has shown of now on; nothing of another decision."""
        if self.review.decision != "speed_bump":
            return []
        return [warning.trigger for warning in self.review.warnings]


class Ledger(Protocol):
    """What a door remembers of a thread, wherever its host lets it."""

    def bumped(self, request: ToolCallRequest) -> list[str]:
        """Return the triggers that a speed bump already answered in this thread."""

    def still_open(self, request: ToolCallRequest) -> list[dict[str, Any]]:
        """Return the reviews of refused calls that are not settled yet."""

    def progress(self, request: ToolCallRequest, limit: int) -> Mapping[str, Any] | None:
        """Return what is known of the thread's repetitions; see `repeats.counted`.

        It may leave out of it a call that was repeated fewer than `limit` times.
        """

    def refused(self, admission: Admission, answer: ToolMessage) -> Result:
        """Return what goes out instead of a result, and remember it."""

    def finished(self, admission: Admission, result: Result) -> Result:
        """Return a result with what the model is told besides it."""


class GuardedCalls:
    """Reviews before and records after, for whoever wraps tool calls.

    Args:
        calls: Decides and records.
        ledger: Remembers.
        name: Name of the door, for the stream.
        repeats: How often a call may be repeated to no avail.
        tools: Which tools are guarded: names or tools. None: all of them.

    Raises:
        ConfigurationError: `tools` holds something that is neither.
    """

    def __init__(
        self,
        calls: ToolCallGuard,
        ledger: Ledger,
        name: str,
        repeats: RepeatLimit,
        tools: Iterable[BaseTool | str] | None,
    ) -> None:
        self._calls = calls
        self._ledger = ledger
        self._name = name
        self._repeats = repeats
        self._tools = None if tools is None else tool_names(tools)

    def wrap(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        """Review a call, run it if it may run, and record how it ended.

        Args:
            request: The call.
            handler: Whoever runs it.
        """
        if not self.covers(request.tool_call["name"]):
            return handler(request)
        repeated = self._repeated(request)
        if repeated is not None:
            return repeated
        if _asks_memory(request):
            return handler(request)
        admission = driven(self._before(request))
        if admission.answer is not None:
            return self._ledger.refused(admission, admission.answer)
        try:
            result = handler(admission.request)
        except Exception as error:
            if not is_control_flow(error):
                self._emit_record(admission, self._after(admission, error))
            raise
        self._emit_record(admission, self._after(admission, result))
        return self._ledger.finished(admission, result)

    async def awrap(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        """Do what `wrap` does without blocking the event loop.

        Args:
            request: The call.
            handler: Whoever runs it.
        """
        if not self.covers(request.tool_call["name"]):
            return await handler(request)
        repeated = self._repeated(request)
        if repeated is not None:
            return repeated
        if _asks_memory(request):
            return await handler(request)
        admission = await adriven(self._before(request))
        if admission.answer is not None:
            return self._ledger.refused(admission, admission.answer)
        try:
            result = await handler(admission.request)
        except Exception as error:
            if not is_control_flow(error):
                receipt = await asyncio.to_thread(self._after, admission, error)
                self._emit_record(admission, receipt)
            raise
        self._emit_record(admission, await asyncio.to_thread(self._after, admission, result))
        return self._ledger.finished(admission, result)

    def covers(self, name: str) -> bool:
        """Whether the tool of that name is guarded."""
        return self._tools is None or name in self._tools

    def _repeated(self, request: ToolCallRequest) -> ToolMessage | None:
        call, limit = request.tool_call, self._repeats.limit
        if limit is None:
            return None
        try:
            times = self._repeats.reached(self._ledger.progress(request, limit), call)
        except Exception as error:
            # What cannot be compared (arguments that hold themselves) is no repetition.
            logger.warning("driftguard could not count a call: %s", type(error).__name__)
            logger.debug("why it could not be counted", exc_info=error)
            return None
        if not times:
            return None
        self._emit(request, "repeat", tool=call["name"], times=times)
        if self._repeats.exit_behavior == "error":
            raise self._repeats.error(call, times)
        return self._repeats.refusal(call, times)

    def _before(self, request: ToolCallRequest) -> Steps[Admission]:
        place, call = Place.of(request.runtime), request.tool_call
        bumped = self._ledger.bumped(request)
        ruling: Ruling = yield partial(self._calls.review, call, place, bumped=bumped)
        review, in_graph = ruling.review, place.identity.task_id is not None
        out_of_reach = review.decision == "unavailable" and ruling.refusal is not None
        if review.policy == "acknowledge" and in_graph and not out_of_reach:
            again = partial(self._review_edited, request)
            settled = yield from settle(_shown_call(call), review, again)
            admission = self._settled(request, settled)
        else:
            admission = _admitted(request, ruling)
        self._emit(request, "review", **reviewed(call, admission.review))
        return admission

    def _after(self, admission: Admission, result: object) -> Receipt | None:
        request = admission.request
        given_up: list[ReviewLike] = [*self._ledger.still_open(request), *admission.reviews[:-1]]
        try:
            return self._calls.record(
                request.tool_call,
                Place.of(request.runtime),
                self._calls.outcome_of(result),
                review=admission.review,
                instead_of=given_up,
            )
        except DriftGuardError as error:
            if not isinstance(result, BaseException):
                raise
            # The tool's own error is what has to be seen.
            logger.warning("driftguard: a failure was not recorded: %s", type(error).__name__)
            return None

    def _emit_record(self, admission: Admission, receipt: Receipt | None) -> None:
        if receipt is not None:
            told = {key: receipt[key] for key in ("status", "episode_id", "kind")}
            name = admission.request.tool_call["name"]
            self._emit(admission.request, "record", tool=name, **told)

    def _settled(self, request: ToolCallRequest, settled: Settled) -> Admission:
        review = settled.reviews[-1]
        if settled.rejected:
            told = refusal_text(review)
            return Admission(request, settled.reviews, refusal(request, told, settled.reviews))
        if len(settled.reviews) == 1:
            return Admission(request, settled.reviews, note=_note(review))
        name, args = settled.action["name"], dict(settled.action["args"])
        call: ToolCall = {**request.tool_call, "name": name, "args": args}
        edited = request.override(tool_call=call)
        if name != request.tool_call["name"]:
            edited = replace(edited, tool=_tool(request, name))
        shown = edited_text(render_tool_call(name, args))
        note = "\n".join(filter(None, (shown, _note(review))))
        return Admission(edited, settled.reviews, note=note)

    def _review_edited(
        self, request: ToolCallRequest, action: object, number: int
    ) -> GuardReview | str:
        # An error here would be final: LangGraph keeps the answer that led to it.
        if not isinstance(action, Mapping) or not isinstance(action.get("args"), Mapping):
            return "an edited tool call is {'name': ..., 'args': {...}}"
        name = action.get("name")
        if _tool(request, name) is None:
            return f"there is no tool named {name!r}"
        args = dict(action["args"])
        call = {**request.tool_call, "name": name, "args": args}
        try:
            render_tool_call(str(name), args)
        except (TypeError, ValueError) as error:
            return str(error)
        ruling = self._calls.review(call, Place.of(request.runtime), number=number)
        out_of_reach = ruling.review.decision == "unavailable" and ruling.refusal
        return out_of_reach or ruling.review

    def _emit(self, request: ToolCallRequest, event: str, **data: Any) -> None:
        if request.runtime is not None:
            head = {"type": "driftguard", "event": event, "node": self._name}
            request.runtime.stream_writer({**head, "tool_call_id": request.tool_call["id"], **data})


def _admitted(request: ToolCallRequest, ruling: Ruling) -> Admission:
    reviews = (ruling.review,)
    if ruling.refusal is None:
        return Admission(request, reviews, note=_note(ruling.review))
    return Admission(request, reviews, refusal(request, ruling.refusal, reviews))


def _note(review: GuardReview) -> str:
    return advice_text(review) if review.decision == "warn" and review.warnings else ""


def _shown_call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {key: call[key] for key in ("name", "args", "id")}


def _tool(request: ToolCallRequest, name: object) -> BaseTool | None:
    known = [] if request.runtime is None else request.runtime.tools
    own = [] if request.tool is None else [request.tool]
    return next((tool for tool in (*own, *known) if tool.name == name), None)


def _asks_memory(request: ToolCallRequest) -> bool:
    return request.tool is not None and asks_memory(request.tool.metadata)
