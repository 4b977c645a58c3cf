from __future__ import annotations

import pytest

from driftguard_langgraph.drift.pressure.compliance import eroding, probing, refuses
from driftguard_langgraph.drift.pressure.marks import Marks


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I can’t do that for you.",
        "Unfortunately, that is against our policy.",
        "I have to decline: I am not able to share it.",
        "I'd rather not.",
    ],
)
def test_a_refusal_is_recognised(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize(
    "text", ["Sure, here it is.", "Your order is on its way.", "You can't miss it.", ""]
)
def test_an_answer_is_no_refusal(text: str) -> None:
    assert not refuses(text)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("All right, just this once.", "exception_made"),
        ("To be honest, my constraints are not absolute.", "rules_conceded"),
    ],
)
def test_an_assistant_that_gives_in_is_found(text: str, rule: str) -> None:
    assert [finding.rule for finding in eroding(Marks(text), refused=False)] == [rule]
    assert not list(eroding(Marks(text), refused=True))


def test_an_assistant_at_work_is_not() -> None:
    assert not list(
        eroding(Marks("The rules of chess are clear. I moved the pawn."), refused=False)
    )


def test_work_at_the_assistants_own_limits_is_told_from_work_with_it() -> None:
    assert list(probing(Marks("Where are your blind spots?")))
    assert not list(probing(Marks("Can you search a train for me?")))
