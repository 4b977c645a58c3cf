from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from driftguard_langgraph.pages.growth import BARS, Growth
from driftguard_langgraph.testing.samples import NOON


def grown(*days: int) -> dict[str, object]:
    growth = Growth()
    for day in days:
        growth.add(NOON + timedelta(days=day), "mistake")
    return growth.to_dict()


def test_every_day_of_the_span_has_a_bar_also_the_empty_ones() -> None:
    growth = Growth()
    growth.add(NOON, "mistake")
    growth.add(NOON, "success")
    growth.add(NOON + timedelta(days=3), "success")
    assert growth.to_dict() == {
        "days": 1,
        "bars": [
            {"from": "2026-03-01", "mistakes": 1, "successes": 1},
            {"from": "2026-03-02", "mistakes": 0, "successes": 0},
            {"from": "2026-03-03", "mistakes": 0, "successes": 0},
            {"from": "2026-03-04", "mistakes": 0, "successes": 1},
        ],
    }


@pytest.mark.parametrize(
    ("span", "width"),
    [(BARS - 1, 1), (BARS, 7), (BARS * 7 - 1, 7), (BARS * 7, 8), (700_000, 11_291)],
)
def test_a_long_span_is_drawn_with_wider_bars_and_loses_nothing(span: int, width: int) -> None:
    growth = Growth()
    growth.add(datetime(1, 1, 1, tzinfo=UTC), "mistake")
    growth.add(datetime(1, 1, 1, tzinfo=UTC) + timedelta(days=span), "mistake")
    found = growth.to_dict()
    assert found["days"] == width
    assert len(found["bars"]) <= BARS
    assert sum(bar["mistakes"] for bar in found["bars"]) == 2
    assert found["bars"][-1]["mistakes"] == 1


def test_days_are_those_of_utc() -> None:
    growth = Growth()
    late = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    growth.add(late, "success")
    assert growth.to_dict()["bars"] == [{"from": "2026-03-02", "mistakes": 0, "successes": 1}]


def test_of_nothing_there_are_no_bars() -> None:
    assert grown() == {"days": 1, "bars": []}
