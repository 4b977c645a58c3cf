from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from driftguard_langgraph.host.answers import GuardAnswer, question
from driftguard_langgraph.reviews import GuardReview


@pytest.mark.parametrize(
    ("value", "decision"),
    [
        (True, "approve"),
        ("approve", "approve"),
        ({"decision": "approve"}, "approve"),
        ("yes", "approve"),
        ("Y", "approve"),
        (" Yes. ", "approve"),
        ("Approve", "approve"),
        ("no", "reject"),
        ("N", "reject"),
        ("No!", "reject"),
        (False, "reject"),
        ("reject", "reject"),
        ({"decision": "reject"}, "reject"),
        ({"decision": "edit", "action": "do something else"}, "edit"),
        ({"decision": "edit", "action": {"name": "rm", "args": {}}}, "edit"),
    ],
)
def test_every_documented_answer_is_understood(value: Any, decision: str) -> None:
    assert GuardAnswer.model_validate(value).decision == decision


@pytest.mark.parametrize(
    "value",
    [
        "maybe",
        "yes, but not today",
        "not yes",
        "",
        "yep",
        1,
        None,
        [],
        {},
        {"decision": "aprove"},
        {"decision": "approve", "comment": "?"},
        {"type": "approve"},
        "edit",
        {"decision": "edit"},
        {"decision": "approve", "action": "something else"},
    ],
)
def test_anything_else_is_not_taken_for_consent(value: Any) -> None:
    with pytest.raises(ValidationError):
        GuardAnswer.model_validate(value)


def test_the_question_is_plain_json_and_lists_the_answers() -> None:
    asked = question({"name": "rm", "args": {}}, GuardReview("rm()"), "too long")
    assert json.loads(json.dumps(asked)) == asked
    assert asked["allowed_decisions"] == ["approve", "edit", "reject"]
    assert asked["action"] == {"name": "rm", "args": {}}
    assert asked["problem"] == "too long"
