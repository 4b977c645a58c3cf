"""Canonical actions: a step in words, or a tool call rendered the same way every time."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.text.redaction import Redactor
from driftguard_langgraph.text.validation import TextLimits, checked_text
from driftguard_langgraph.types import Action, ToolCall

ActionLike = str | ToolCall | Mapping[str, Any] | Action
"""What callers may pass as an action: words, or a tool call `{"name", "args"}`."""

_ARGS_EXPECTED = "a tool call needs {'name': str, 'args': {...}}"


def as_action(value: ActionLike, limits: TextLimits) -> Action:
    """Bring a proposed step into the form in which it is stored and compared.

    A tool call that is too long to be kept whole keeps its name and a bounded rendering,
    and is compared by that.

    Args:
        value: Words, a tool call `{"name", "args"}`, or an `Action`.
        limits: How long its text may be.

    Raises:
        InvalidEpisode: It is neither, is blank, or its arguments are not JSON.
    """
    if isinstance(value, Action):
        if value.tool_name is None or value.tool_args is None:
            return Action(checked_text(value.text, "action", limits), value.tool_name)
        value = {"name": value.tool_name, "args": value.tool_args}
    if not isinstance(value, Mapping):
        return Action(checked_text(value, "action", limits))
    name, args = value.get("name"), value.get("args")
    if not isinstance(args, Mapping):
        raise InvalidEpisode(f"{_ARGS_EXPECTED}; args is {type(args).__name__}.")
    name = checked_text(name, "the tool call's name", limits)
    plain = plain_json(args, "the tool call's args", limits.redactor)
    rendered = render_tool_call(name, plain)
    text = checked_text(rendered, "action", limits)
    return Action(text, name, plain if text == rendered else None)


def plain_json(value: object, field: str, redactor: Redactor | None = None) -> Any:
    """Return a deep copy of `value` made of plain JSON types only.

    Args:
        value: What the caller gave.
        field: Its name, for the message.
        redactor: Takes secrets out of the copy.

    Raises:
        InvalidEpisode: Something in it is not JSON (NaN and infinity included).
    """
    try:
        copy = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidEpisode(f"{field} must be plain JSON: {error}.") from None
    checked_text(json.dumps(copy, ensure_ascii=False), field, TextLimits(max_chars=2**31))
    return copy if redactor is None else redactor.json(copy)


def render_tool_call(name: str, args: Mapping[str, Any]) -> str:
    """Write a tool call as `name(key=value, ...)`, keys sorted, values as JSON.

    The order in which arguments were given carries no meaning, so it does not show.
    """
    inner = ", ".join(f"{key}={_render_value(args[key])}" for key in sorted(args))
    return f"{name}({inner})"


def _render_value(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and math.fabs(value) < 2**53:
        value = int(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
