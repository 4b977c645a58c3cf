"""Steps of an OpenAI-style conversation: tool calls paired with their results.

An assistant message proposes `tool_calls` (`id`, `function.name`, `function.arguments` as a
JSON string); messages of the role `tool` answer them by `tool_call_id`. The calls of one
assistant message were proposed at once, so they form one batch. A call that nobody answered
has no outcome and is left out. Messages of other roles only end a batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.failures import FailurePredicate
from driftguard_langgraph.evaluation.steps import Batch, Step, as_feedback


class Conversation:
    """Collects the messages of one conversation into batches of steps.

    Args:
        stream: Stream name of the steps.
        is_failure: Decides whether the text of a tool result is a failure. A result that is
            marked (`"status": "error"` or `"is_error": true`) has failed in any case.
    """

    def __init__(self, stream: str, is_failure: FailurePredicate) -> None:
        self._stream = stream
        self._is_failure = is_failure
        self._calls: dict[str, tuple[str, str | dict[str, Any]]] = {}
        self._steps: list[Step] = []

    def add(self, message: Any, where: str) -> Iterator[Batch]:
        """Take one message; yield the batch that it ends, if it ends one.

        Args:
            message: The message, as parsed from JSON.
            where: File and line of it.

        Raises:
            InvalidEpisode: It is not a message, or answers a call that was not made.
        """
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise InvalidEpisode(f"{where}: a message must be an object with a 'role'.")
        if message["role"] == "tool":
            self._answer(message, where)
            return
        yield from self.flush()
        if message["role"] == "assistant":
            self._propose(message.get("tool_calls") or [], where)

    def flush(self) -> Iterator[Batch]:
        """Yield what has been answered so far and forget the calls that were not."""
        steps, self._steps = self._steps, []
        self._calls = {}
        if steps:
            yield tuple(steps)

    def _propose(self, calls: Any, where: str) -> None:
        if not isinstance(calls, list):
            raise InvalidEpisode(f"{where}: 'tool_calls' must be a list.")
        for call in calls:
            function = call.get("function") if isinstance(call, Mapping) else None
            if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
                raise InvalidEpisode(f"{where}: a tool call needs 'function' with a 'name'.")
            if not isinstance(call.get("id"), str):
                raise InvalidEpisode(f"{where}: a tool call needs an 'id'.")
            name = function["name"]
            self._calls[call["id"]] = name, _action(name, function.get("arguments"))

    def _answer(self, message: Mapping[str, Any], where: str) -> None:
        call = self._calls.pop(str(message.get("tool_call_id")), None)
        if call is None:
            raise InvalidEpisode(
                f"{where}: answers the tool call {message.get('tool_call_id')!r}, "
                "which the assistant message before it does not hold."
            )
        content = _text(message.get("content"))
        marked = message.get("status") == "error" or message.get("is_error") is True
        name, action = call
        self._steps.append(
            Step(
                where=where,
                stream=self._stream,
                tool=name,
                action=action,
                feedback=as_feedback(content),
                failed=marked or self._is_failure(content),
            )
        )


def _action(name: str, arguments: Any) -> str | dict[str, Any]:
    """Return the call, or its words when the model wrote arguments that are no JSON object."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            return f"{name}({arguments})"
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        return f"{name}({json.dumps(arguments, ensure_ascii=False)})"
    return {"name": name, "args": arguments}


def _text(content: Any) -> str:
    """Return the text of a content: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return "" if content is None else json.dumps(content, ensure_ascii=False)
