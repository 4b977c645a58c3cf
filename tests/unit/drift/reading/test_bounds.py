from __future__ import annotations

from decimal import Decimal

import pytest

from driftguard_langgraph.drift.reading.bounds import Bound, bounds
from driftguard_langgraph.drift.reading.clauses import tokens


def only(text: str, *, forbids: bool = False) -> Bound:
    (found,) = bounds(tokens(text), forbids=forbids)
    return found


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("discounts up to $1,500", 1500, "usd"),
        ("fines of 2.500 euros", 2500, "eur"),
        ("no more than 5%", 5, "%"),
        ("at most three guests", 3, "guest"),
        ("within 2 hours", 7200, "s"),
        ("over 3 thousand pounds", 3000, "gbp"),
    ],
)
def test_numbers_have_a_value_and_a_unit(text: str, value: int, unit: str) -> None:
    found = only(text)
    assert (found.value, found.unit) == (Decimal(value), unit)


@pytest.mark.parametrize(
    ("text", "forbids", "looser"),
    [
        ("tips up to 20 dollars", False, "up"),
        ("keep it under 20 pages", False, "up"),
        ("never go below 20 degrees", True, "down"),
        ("at least 20 people", False, "down"),
        ("drivers must be over 20 years", False, "down"),
        ("purchases over 20 dollars need a signature", False, "up"),
        ("records are kept for 20 years", False, "any"),
    ],
)
def test_the_direction_that_loosens_is_known(text: str, forbids: bool, looser: str) -> None:
    assert only(text, forbids=forbids).looser == looser


def test_a_looser_number_is_told_from_a_stricter_one() -> None:
    limit = only("loads up to 40 kg")
    assert limit.loosened_by(only("loads up to 400 kg"))
    assert not limit.loosened_by(only("loads up to 30 kg"))
    assert not limit.loosened_by(only("loads up to 400 boxes"))


@pytest.mark.parametrize("text", ["at 10:30", "the second one", "nobody", "v"])
def test_what_counts_nothing_is_no_number(text: str) -> None:
    assert bounds(tokens(text), forbids=False) == ()
