"""Tool calls paired with their results, whatever kind of log they were read from.

The calls of one turn were proposed at once, so they form one batch. A call that nobody
answered has no outcome and is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.failures import FailurePredicate
from driftguard_langgraph.evaluation.steps import Batch, Step, as_feedback


class Conversation:
    """Collects the calls and results of one conversation into batches of steps.

    Args:
        stream: Stream name of the steps.
        is_failure: Decides about results of which the log does not say how they went.
        forgiving: Whether a result without a call is passed over instead of refused, for
            logs that are cut at the front.
    """

    def __init__(
        self, stream: str, is_failure: FailurePredicate, *, forgiving: bool = False
    ) -> None:
        self._stream = stream
        self._is_failure = is_failure
        self._forgiving = forgiving
        self._calls: dict[str, tuple[str, str | dict[str, Any]]] = {}
        self._steps: list[Step] = []

    def propose(self, call_id: Any, name: Any, arguments: Any, where: str) -> None:
        """Take a proposed call; an id that is used again means the newer call.

        Args:
            call_id: What the result will answer.
            name: Name of the tool.
            arguments: An object, the JSON of one, or whatever the model wrote instead.
            where: File and line of it.

        Raises:
            InvalidEpisode: It has no id or no name.
        """
        if not isinstance(name, str) or not name:
            raise InvalidEpisode(f"{where}: a tool call needs the 'name' of its tool.")
        if not isinstance(call_id, str):
            raise InvalidEpisode(f"{where}: a tool call needs an 'id'.")
        self._calls[call_id] = name, as_call(name, arguments)

    def answer(self, call_id: Any, content: Any, where: str, *, failed: bool | None = None) -> None:
        """Take the result of a call.

        Args:
            call_id: Which call it answers.
            content: What the tool returned.
            where: File and line of it.
            failed: What the log says about it; None lets `is_failure` decide.

        Raises:
            InvalidEpisode: No such call was proposed, and the conversation is not forgiving.
        """
        call = self._calls.pop(str(call_id), None)
        if call is None:
            if self._forgiving:
                return
            raise InvalidEpisode(
                f"{where}: answers the tool call {call_id!r}, which no message before it proposes."
            )
        text = text_of(content)
        name, action = call
        self._steps.append(
            Step(
                where=where,
                stream=self._stream,
                tool=name,
                action=action,
                feedback=as_feedback(text),
                failed=self._is_failure(text) if failed is None else failed,
            )
        )

    def flush(self) -> Iterator[Batch]:
        """Yield what was answered since the last batch: the turn is over."""
        steps, self._steps = self._steps, []
        if steps:
            yield tuple(steps)


def as_call(name: str, arguments: Any) -> str | dict[str, Any]:
    """Return a call as an action, or its words when its arguments are no JSON object.

    Args:
        name: Name of the tool.
        arguments: An object, the JSON of one, or whatever the model wrote instead.
    """
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


def text_of(content: Any) -> str:
    """Return the text of a content: a string, the text parts of a list, else its JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)
