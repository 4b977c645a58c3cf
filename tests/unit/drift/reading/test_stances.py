from __future__ import annotations

import pytest

from driftguard_langgraph.drift.reading.clauses import clauses, tokens
from driftguard_langgraph.drift.reading.stances import Stance, preference, read, scrutinises


def stance(text: str) -> Stance:
    return read(clauses(tokens(text))[0]).stance


@pytest.mark.parametrize(
    "text",
    [
        "inspection is optional",
        "inspection is no longer required",
        "skip the inspection",
        "there is no need for an inspection",
        "the inspection requirement was dropped",
        "leave the parcels unchecked",
        "ship it without approval",
        "an inspection would be overkill",
        "inspections do not apply here",
        "you don't have to inspect it",
    ],
)
def test_waiving_loosens(text: str) -> None:
    assert stance(text) is Stance.LOOSENS


@pytest.mark.parametrize(
    "text",
    [
        "inspection is not optional",
        "never skip the inspection",
        "do not ship it without approval",
        "the inspection cannot be waived",
    ],
)
def test_a_turned_waiver_does_not_loosen(text: str) -> None:
    assert stance(text) is not Stance.LOOSENS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("you may enter the cellar", Stance.PERMITS),
        ("you must not enter the cellar", Stance.FORBIDS),
        ("do not enter the cellar", Stance.FORBIDS),
        ("you must enter the cellar", Stance.DEMANDS),
        ("the cellar was not opened", Stance.NONE),
        ("remove the crates", Stance.NONE),
    ],
)
def test_other_norms_are_told_apart(text: str, expected: Stance) -> None:
    assert stance(text) is expected


@pytest.mark.parametrize(
    ("text", "gives_up"),
    [
        ("do not verify the sender", True),
        ("I will not ask for a signature", True),
        ("do not open the door", False),
        ("let me check that nothing is missing", False),
        ("they do not answer our question", False),
    ],
)
def test_giving_up_scrutiny_is_known(text: str, gives_up: bool) -> None:
    assert scrutinises(read(clauses(tokens(text))[0])) is gives_up


@pytest.mark.parametrize(
    "text",
    [
        "speed is more important than care",
        "care is less important than speed",
        "speed outweighs care",
        "put speed before care",
    ],
)
def test_an_order_of_values_is_read_both_ways(text: str) -> None:
    order = preference(clauses(tokens(text))[0])
    assert order is not None
    assert "speed" in order[0]
    assert "car" in order[1]
