"""Calls that lead nowhere, counted from the messages of a thread."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from driftguard_langgraph.errors import ConfigurationError, RepeatLimitReached
from driftguard_langgraph.judgement import progress
from driftguard_langgraph.middleware.tool_answers import answer_to, mark_of

logger = logging.getLogger(__name__)

ExitBehavior = Literal["continue", "end", "error"]
"""What a call does to the run that was repeated too often."""

WINDOW = 256
"""Messages that are looked back; what came before is counted already."""


class RepeatLimit:
    """How often the same call may have the same result before it is not run again.

    Args:
        limit: How often; None for no limit.
        exit_behavior: What follows then.
        allowed: Which of the exit behaviours the door can do.

    Raises:
        ConfigurationError: The limit is no count above 0, or the behaviour is not known here.
    """

    def __init__(
        self,
        limit: int | None,
        exit_behavior: str,
        allowed: Sequence[str] = get_args(ExitBehavior),
    ) -> None:
        whole = isinstance(limit, int) and not isinstance(limit, bool)
        if limit is not None and not (whole and limit > 0):
            raise ConfigurationError(
                f"repeat_limit={limit!r} must be a whole number above 0, or None for no limit."
            )
        if exit_behavior not in allowed:
            known = ", ".join(allowed)
            raise ConfigurationError(f"exit_behavior={exit_behavior!r} must be one of {known}.")
        self.limit = limit
        self.exit_behavior = exit_behavior

    def reached(self, kept: Mapping[str, Any] | None, call: Mapping[str, Any]) -> int:
        """Return how often a call was repeated, 0 while it may run.

        Args:
            kept: What is known of the thread, from `counted`.
            call: The proposed call.
        """
        if self.limit is None:
            return 0
        calls = (kept or {}).get("calls")
        name, args = call["name"], call["args"]
        times = progress.repeats(calls, name, args)
        return times if times >= progress.allowed(calls, name, args, self.limit) else 0

    def refusal(self, call: Mapping[str, Any], times: int) -> ToolMessage:
        """Return the answer to a call that is not run again.

        Args:
            call: The call.
            times: How often it was repeated.
        """
        text = (
            f"Not run: this exact call had the same result {times} times, and nothing has "
            "changed since. Use the result you have, try something else, or tell the user "
            "what is missing."
        )
        return answer_to(call, text, repeated=times)

    def error(self, call: Mapping[str, Any], times: int) -> RepeatLimitReached:
        """Return the error for a call that is not run again.

        Args:
            call: The call.
            times: How often it was repeated.
        """
        return RepeatLimitReached(
            f"the tool {call['name']!r} was called with the same arguments and gave the same "
            f"result {times} times (repeat_limit={self.limit}). Look at what the agent is stuck "
            "on, or choose exit_behavior='continue' to let it try something else.",
            dict(call),
            times,
        )


def counted(kept: Mapping[str, Any] | None, messages: Iterable[BaseMessage]) -> dict[str, Any]:
    """Return what is known of a thread after its newest messages, plain JSON.

    A message is counted once, by its id. Answers of ours to calls that were repeated are no
    results: they would be something new. What cannot be counted costs no run: the count starts
    again.

    Args:
        kept: What was known before; None for nothing.
        messages: The messages of the thread.
    """
    try:
        return _counted(kept, messages)
    except Exception as error:
        logger.debug("why it failed: counting", exc_info=error)
        logger.warning("driftguard: counting repetitions failed: %s", type(error).__name__)
        return {}


def times_proposed(call: Mapping[str, Any], messages: Sequence[BaseMessage]) -> int:
    """Return how often a call was proposed before: it was not repeated more often than that.

    Args:
        call: The proposed call.
        messages: The messages of the thread, with the one that proposes it.
    """
    name, digest = call["name"], progress.call_digest(call["name"], call["args"])
    return sum(
        earlier["name"] == name
        and earlier["id"] != call["id"]
        and progress.call_digest(name, earlier["args"]) == digest
        for message in messages
        if isinstance(message, AIMessage)
        for earlier in message.tool_calls
    )


def pending(messages: Sequence[AnyMessage]) -> list[Mapping[str, Any]]:
    """Return the calls of the last model's message that nobody answered yet.

    Args:
        messages: The messages of the thread.
    """
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            return [{**call} for call in message.tool_calls if call["id"] not in answered]
    return []


def farewell(
    call: Mapping[str, Any], times: int, waiting: Iterable[Mapping[str, Any]]
) -> list[AnyMessage]:
    """Return what ends a run: an answer to each pending call, and the reason in words.

    Args:
        call: The call that was repeated.
        times: How often.
        waiting: All calls that nobody answered yet.
    """
    text = f"Not run: the run ended, because a call had the same result {times} times."
    answers: list[AnyMessage] = [answer_to(each, text, repeated=times) for each in waiting]
    reason = (
        f"I stopped here: I called {call['name']} with the same arguments {times} times, and "
        "the result was always the same."
    )
    return [*answers, AIMessage(reason)]


def _counted(kept: Mapping[str, Any] | None, messages: Iterable[BaseMessage]) -> dict[str, Any]:
    known = kept or {}
    count = progress.Count(known.get("calls"))
    seen = set(known.get("seen") or ())
    proposed: dict[str, Mapping[str, Any]] = {}
    now_seen: list[str] = []
    for message in list(messages)[-WINDOW:]:
        if isinstance(message, AIMessage):
            proposed.update((call["id"], call) for call in message.tool_calls if call["id"])
        elif isinstance(message, HumanMessage | ToolMessage):
            name = message.id or str(getattr(message, "tool_call_id", ""))
            now_seen.append(name)
            if name not in seen or not name:
                _observe(count, message, proposed)
    return {"calls": count.kept(), "seen": now_seen}


def _observe(
    count: progress.Count, message: BaseMessage, proposed: Mapping[str, Mapping[str, Any]]
) -> None:
    if not isinstance(message, ToolMessage):
        # A summary of the host's stands where a user's message would, and says nothing new.
        if message.additional_kwargs.get("lc_source") != "summarization":
            count.restart()
        return
    call = proposed.get(message.tool_call_id)
    mark = mark_of(message)
    if call is None or (mark is not None and mark.get("repeated")):
        return
    count.observe(call["name"], call["args"], str(message.content))
