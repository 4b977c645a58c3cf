"""How a memory grew: episodes counted by day, or by more days where there are many."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

from driftguard_langgraph.types import Kind

BARS = 62
"""Most bars of the chart: two months by day, and still wide enough on a small screen."""

WEEK = 7


class Growth:
    """Counts episodes by the day on which they were observed, in UTC."""

    def __init__(self) -> None:
        self._days: Counter[tuple[date, Kind]] = Counter()

    def add(self, at: datetime, kind: Kind) -> None:
        """Count one episode."""
        self._days[at.astimezone(UTC).date(), kind] += 1

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain JSON: `days` in a bar, and the bars, none left out."""
        if not self._days:
            return {"days": 1, "bars": []}
        first, last = min(self._days)[0], max(self._days)[0]
        width = _width((last - first).days + 1)
        count = (last - first).days // width + 1
        bars: list[dict[str, Any]] = [
            {
                "from": (first + timedelta(number * width)).isoformat(),
                "mistakes": 0,
                "successes": 0,
            }
            for number in range(count)
        ]
        for (day, kind), episodes in self._days.items():
            name = "mistakes" if kind == "mistake" else "successes"
            bars[(day - first).days // width][name] += episodes
        return {"days": width, "bars": bars}


def _width(span: int) -> int:
    """Return how many days a bar has to hold."""
    for days in (1, WEEK):
        if span <= BARS * days:
            return days
    return -(-span // BARS)
