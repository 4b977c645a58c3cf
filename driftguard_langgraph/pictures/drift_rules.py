"""The names of a session's anomalies, in rows above the curve, so that none covers another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.pictures.board import Area, Side, area_of
from driftguard_langgraph.pictures.style import TINY
from driftguard_langgraph.pictures.words import readable

NAMED_FROM = 0.1
"""Weight from which an anomaly is marked; less is common in good conversations."""

MOST_ROWS = 5
ROW = 12.0
"""Height of a row, in points."""

BESIDE = 4.0
"""Room between the line of a turn and its name, in points."""

_MOST_NAMES = 40


@dataclass(frozen=True, slots=True)
class Rule:
    """What a turn is marked with.

    Attributes:
        report: The report of the turn.
        words: Name of its gravest rule, who spoke, and how many more there are.
        row: Row of the name, 0 for the lowest; None if there was no room.
        side: Which end of the name is at the turn.
    """

    report: DriftReport
    words: str
    row: int | None
    side: Side


def rules_of(
    reports: Sequence[DriftReport], x_of: Callable[[float], float], right: float
) -> list[Rule]:
    """Return what the turns are marked with; the gravest are named while there is room.

    Args:
        reports: Of the session.
        x_of: Where a turn is, in points.
        right: Where the room for names ends, in points.
    """
    telling = [report for report in reports if _weight(report) >= NAMED_FROM]
    areas = {report.turn: _areas(report, x_of(report.turn), right) for report in telling}
    rows: dict[int, int] = {}
    for report in sorted(telling, key=_weight, reverse=True)[:_MOST_NAMES]:
        tried = _in_rows({turn: areas[turn] for turn in (*rows, report.turn)})
        rows = rows if tried is None else tried
    return [
        Rule(report, _words(report), rows.get(report.turn), areas[report.turn][1])
        for report in telling
    ]


def _areas(report: DriftReport, x: float, right: float) -> tuple[Area, Side]:
    words = _words(report)
    place = area_of(x + BESIDE, 0.0, words, TINY, bold=False, side="left")
    if place.right <= right:
        return place, "left"
    return area_of(x - BESIDE, 0.0, words, TINY, bold=False, side="right"), "right"


def _in_rows(areas: dict[int, tuple[Area, Side]]) -> dict[int, int] | None:
    """Return the lowest row of each name that no other name, or line up to one, is in.

    From right to left: names run to the right, so that the lines up to those before them,
    which are higher, cross nothing.

    Returns:
        The rows by turn; None if one has no room.
    """
    taken: list[Area] = []
    rows: dict[int, int] = {}
    for turn in sorted(areas, reverse=True):
        place, side = areas[turn]
        x = place.left if side == "left" else place.right
        for row in range(MOST_ROWS):
            name = Area(place.left, row * ROW, place.right, (row + 1) * ROW)
            stem = Area(x - 1, 0.0, x + 1, row * ROW)
            if not any(name.meets(area) or stem.meets(area) for area in taken):
                taken += [name, stem]
                rows[turn] = row
                break
        else:
            return None
    return rows


def _weight(report: DriftReport) -> float:
    return max((anomaly.weight for anomaly in report.anomalies), default=0.0)


def _words(report: DriftReport) -> str:
    gravest = max(report.anomalies, key=lambda anomaly: anomaly.weight)
    more = sum(anomaly.weight >= NAMED_FROM for anomaly in report.anomalies) - 1
    name = f"{gravest.rule.replace('_', ' ')} ({gravest.channel.value})"
    return readable(name) + (f" +{more}" if more else "")
