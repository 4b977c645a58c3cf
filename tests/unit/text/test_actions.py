from __future__ import annotations

from typing import Any

import pytest

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.text.actions import as_action
from driftguard_langgraph.text.validation import TextLimits
from driftguard_langgraph.types import Action

LIMITS = TextLimits()


def test_words_are_an_action_as_they_are() -> None:
    assert as_action("do it", LIMITS) == Action("do it")


def test_a_tool_call_is_rendered_the_same_in_any_order() -> None:
    a = as_action({"name": "pay", "args": {"to": "Ann", "sum": 3.0, "x": None}}, LIMITS)
    b = as_action({"args": {"x": None, "sum": 3, "to": "Ann"}, "name": "pay", "id": "1"}, LIMITS)

    assert a.text == b.text == 'pay(sum=3, to="Ann", x=null)'
    assert a.tool_name == "pay"
    assert a.tool_args == {"to": "Ann", "sum": 3.0, "x": None}


def test_an_action_passes_through() -> None:
    action = as_action({"name": "pay", "args": {"sum": 3}}, LIMITS)

    assert as_action(action, LIMITS) == action
    assert as_action(Action("words"), LIMITS) == Action("words")


def test_the_arguments_are_a_copy() -> None:
    args = {"rows": [1, 2]}
    action = as_action({"name": "load", "args": args}, LIMITS)
    args["rows"].append(3)

    assert action.tool_args == {"rows": [1, 2]}


def test_a_tool_call_too_long_to_keep_is_compared_by_its_bounded_text() -> None:
    action = as_action({"name": "put", "args": {"data": "x" * 50_000}}, LIMITS)

    assert len(action.text) == LIMITS.max_chars
    assert action.tool_name == "put"
    assert action.tool_args is None


@pytest.mark.parametrize(
    "value",
    [
        {"name": "x"},
        {"args": {}},
        {"name": "x", "args": "a"},
        {"name": " ", "args": {}},
        {"name": "x", "args": {"a": object()}},
        {"name": "x", "args": {"a": float("nan")}},
        {"name": "x", "args": {"a": "lone \ud800"}},
        ["x"],
        None,
    ],
)
def test_what_is_neither_is_refused(value: Any) -> None:
    with pytest.raises(InvalidEpisode):
        as_action(value, LIMITS)


def test_arguments_that_contain_themselves_are_refused() -> None:
    args: dict[str, Any] = {}
    args["self"] = args

    with pytest.raises(InvalidEpisode, match="plain JSON"):
        as_action({"name": "x", "args": args}, LIMITS)
