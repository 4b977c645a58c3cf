"""What became of a tool call: judged from whatever a tool, or the host around it, gave back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from driftguard_langgraph.host.plain_args import words
from driftguard_langgraph.text.validation import excerpt
from driftguard_langgraph.types import Kind

MAX_FAILURE_CHARS = 1_000
"""How much of an error is kept, in characters: message and last frames, no whole dump."""

MAX_SUCCESS_CHARS = 200
"""How much of a result is kept, in characters; it is what a success looked like, no copy."""

FailurePredicate = Callable[[Any], bool]
"""Says of a tool's answer (a `ToolMessage` where there is one) whether it is a failure."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """How a tool call ended, in the words that are recorded.

    Attributes:
        kind: Whether it failed.
        feedback: The immediate signal: the error, or the start of the answer.
        outcome: What that means for the step.
    """

    kind: Kind
    feedback: str
    outcome: str


def failed(error: BaseException) -> ToolOutcome:
    """Return the outcome of a call that raised.

    Args:
        error: What it raised.
    """
    said = words(error).strip()
    name = type(error).__name__
    return _failure(f"{name}: {said}" if said else name)


def outcome_of(result: object, is_failure: FailurePredicate | None = None) -> ToolOutcome:
    """Return the outcome of a call that answered.

    A `Command` is judged by the tool messages in its update; one bad answer makes the call a
    failure. A `Command` without any (a handoff) is a success.

    Args:
        result: A `ToolMessage`, a `Command`, a list of them, or the plain output of a tool.
        is_failure: Says of an answer that came without an error whether it is one all the same.
    """
    answers = list(_answers(result))
    for answer in answers:
        bad = isinstance(answer, ToolMessage) and answer.status == "error"
        if bad or (is_failure is not None and _said_yes(is_failure(answer))):
            return _failure(_text(answer))
    said = next(filter(None, map(_text, answers)), "")
    shown = excerpt(said, MAX_SUCCESS_CHARS) or "the tool answered nothing"
    return ToolOutcome("success", shown, "step succeeded")


def _said_yes(verdict: object) -> bool:
    if not isinstance(verdict, bool):
        # A coroutine, or "no", would count as true.
        raise TypeError(f"is_failure must answer True or False, not {type(verdict).__name__}.")
    return verdict


def tool_messages(result: object) -> list[ToolMessage]:
    """Return the tool messages in what a tool gave back."""
    return [answer for answer in _answers(result) if isinstance(answer, ToolMessage)]


def _failure(said: str) -> ToolOutcome:
    shown = excerpt(said, MAX_FAILURE_CHARS) or "the tool failed and said nothing"
    return ToolOutcome("mistake", shown, "step failed")


def _answers(result: object) -> Iterator[object]:
    if isinstance(result, list) and any(isinstance(each, ToolMessage | Command) for each in result):
        for each in result:
            yield from _answers(each)
    elif isinstance(result, Command):
        yield from (each for each in _updated(result.update) if isinstance(each, ToolMessage))
    else:
        yield result


def _updated(update: object) -> Iterator[object]:
    """Every value of an update, which is a mapping, pairs, an object, or a list of messages."""
    if isinstance(update, Mapping):
        values = list(update.values())
    elif isinstance(update, list | tuple):
        values = [each[1] if isinstance(each, tuple) and len(each) == 2 else each
                  for each in update]  # fmt: skip
    else:
        values = list(vars(update).values()) if hasattr(update, "__dict__") else []
    for value in values:
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value


def _text(answer: object) -> str:
    if isinstance(answer, ToolMessage):
        # `.text` leaves out blocks that are no text; of JSON content something must remain.
        return str(answer.text).strip() or (_plain(answer.content) if answer.content else "")
    return "" if answer is None else _plain(answer)


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return words(value).strip()
