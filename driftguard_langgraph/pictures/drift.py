"""The picture of a session: score in its bands, corruption with its alarm, the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftguard_langgraph.drift.report import COMPONENTS, DriftReport, DriftVerdict
from driftguard_langgraph.pictures.board import Area, Board, board_for
from driftguard_langgraph.pictures.drift_findings import (
    Injection,
    alarms_of,
    summary_of,
    title_of,
)
from driftguard_langgraph.pictures.drift_rules import BESIDE, ROW, Rule, rules_of
from driftguard_langgraph.pictures.head import MARGIN, write_head
from driftguard_langgraph.pictures.style import (
    ALARM,
    BANDS,
    FEATURES,
    INK,
    SCORE,
    SMALL,
    SOFT,
    SUCCESS,
    TINY,
)
from driftguard_langgraph.pictures.words import readable

_WIDTH, _HEIGHT = 720.0, 470.0
_LEFT, _RIGHT = 106.0, 76.0
_BANDS = ((90.0, 100.0), (75.0, 90.0), (55.0, 75.0), (35.0, 55.0), (0.0, 35.0))
_GAP = 20.0
"""Room between two panels, in points."""
_TICKS = 25
_DOTS = 60
"""Turns up to which each has a dot."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where the panels are, and where a turn is in them."""

    score: Area
    corruption: Area
    features: Area
    turns: tuple[int, int]
    rules: list[Rule]

    def x(self, turn: float) -> float:
        return _x(self.score, self.turns, turn)


def _x(area: Area, turns: tuple[int, int], turn: float) -> float:
    first, last = turns
    return area.left + (turn - first + 0.5) / (last - first + 1) * (area.right - area.left)


def draw_drift(
    reports: Sequence[DriftReport], injections: Sequence[Injection], ax: Axes | None
) -> Figure:
    """Draw a session; see `plots.plot_drift`."""
    if not reports:
        board, figure = board_for(ax, _WIDTH, 62.0)
        hint = "DriftMonitor.observe(message) returns the first report"
        write_head(board, "No turn measured yet", hint)
        return figure
    board, figure = board_for(ax, _WIDTH, _HEIGHT)
    plan = _planned(board, reports)
    write_head(board, title_of(reports), summary_of(reports, injections))
    _draw_score(board, plan, reports)
    _draw_corruption(board, plan, reports)
    _draw_injections(board, plan, injections)
    _draw_rules(board, plan)
    _draw_features(board, plan, reports)
    _write_turns(board, plan)
    return figure


def _planned(board: Board, reports: Sequence[DriftReport]) -> _Plan:
    left, right = _LEFT, board.width - _RIGHT
    top, bottom = board.height - 84.0, 30.0
    turns = reports[0].turn, reports[-1].turn
    width = Area(left, bottom, right, top)
    rules = rules_of(reports, lambda turn: _x(width, turns, turn), board.width - MARGIN)
    rows = max((rule.row + 1 for rule in rules if rule.row is not None), default=0)
    room = top - bottom - 2 * _GAP - rows * ROW
    features = Area(left, bottom, right, bottom + 0.26 * room)
    corruption = Area(left, features.top + _GAP, right, features.top + _GAP + 0.27 * room)
    score = Area(left, corruption.top + _GAP + rows * ROW, right, top)
    return _Plan(score, corruption, features, turns, rules)


def _at(area: Area, share: float) -> float:
    return area.bottom + share * (area.top - area.bottom)


def _panel_name(board: Board, area: Area, name: str, meaning: str) -> None:
    board.write(MARGIN, area.top - 8, name, size=SMALL, bold=True)
    board.write(MARGIN, area.top - 20, meaning, size=TINY, colour=SOFT)


def _draw_score(board: Board, plan: _Plan, reports: Sequence[DriftReport]) -> None:
    area = plan.score
    for (low, high), verdict, colour in zip(_BANDS, DriftVerdict, BANDS, strict=True):
        bottom, top = _at(area, low / 100), _at(area, high / 100)
        board.rectangle(Area(area.left, bottom, area.right, top), colour, order=0.5)
        board.write_if_free(
            area.right + 6, (bottom + top) / 2, verdict.value, size=TINY, colour=INK, bold=True
        )
        board.write_if_free(area.left - 5, top, f"{high:.0f}", size=TINY, colour=SOFT, side="right")
    _panel_name(board, area, "SCORE", "purpose left")
    xs = [plan.x(report.turn) for report in reports]
    ys = [_at(area, report.score / 100) for report in reports]
    board.line(xs, ys, SCORE, width=2.2, order=4)
    if len(reports) <= _DOTS:
        for x, y, report in zip(xs, ys, reports, strict=True):
            board.mark(x, y, "o", SCORE, size=5.5, hollow=report.abstained, order=4.5)


def _draw_corruption(board: Board, plan: _Plan, reports: Sequence[DriftReport]) -> None:
    area = plan.corruption
    board.rectangle(area, BANDS[0], order=0.5)
    _panel_name(board, area, "CORRUPTION", "evidence, 0 to 1")
    for share in (0.0, 1.0):
        y = _at(area, share)
        board.write(area.left - 5, y, f"{share:.0f}", size=TINY, colour=SOFT, side="right")
    for alarm in alarms_of(reports):
        left, right = plan.x(alarm.start - 0.5), plan.x(alarm.last + 0.5)
        board.hatched(Area(left, area.bottom, right, area.top), ALARM)
        board.write_if_free(
            area.right + 6, area.top - 8, "ALARM", size=TINY, colour=ALARM, bold=True
        )
        board.write_if_free(area.right + 6, area.top - 19, "hatched", size=TINY, colour=SOFT)
    xs = [plan.x(report.turn) for report in reports]
    ys = [_at(area, report.corruption) for report in reports]
    board.fill(xs, area.bottom, ys, ALARM, alpha=0.35)
    board.line(xs, ys, ALARM, width=1.8, order=4)
    if len(reports) == 1:
        board.mark(xs[0], ys[0], "o", ALARM, size=4)


def _draw_injections(board: Board, plan: _Plan, injections: Sequence[Injection]) -> None:
    for injection in injections:
        marks = [(injection.turn + 0.5, injection.name, INK)]
        if injection.recovered_at is not None:
            marks.append((float(injection.recovered_at), "recovered", SUCCESS))
        for turn, name, colour in marks:
            if not plan.turns[0] <= turn <= plan.turns[1] + 0.5:
                continue
            x = plan.x(turn)
            board.line(
                [x, x], [plan.corruption.bottom, plan.score.top + 4], colour, width=1.3,
                dashed=True, order=3.5,
            )  # fmt: skip
            board.mark(x, plan.score.top + 4, "v", colour, size=5)
            board.write_if_free(
                x, plan.score.top + 15, readable(name), size=SMALL, bold=True, side="center",
                colour=colour,
            )  # fmt: skip


def _draw_rules(board: Board, plan: _Plan) -> None:
    """Mark the turns with anomalies, and name the rules that have room."""
    for rule in plan.rules:
        x, y = plan.x(rule.report.turn), _at(plan.corruption, rule.report.corruption)
        board.mark(x, y, "D", ALARM, size=5, order=5)
        if rule.row is None:
            continue
        height = plan.corruption.top + (rule.row + 0.6) * ROW
        board.line([x, x], [y, height + 4], ALARM, width=0.8, order=3)
        beside = BESIDE if rule.side == "left" else -BESIDE
        board.write(x + beside, height, rule.words, size=TINY, side=rule.side, paper=True)


def _draw_features(board: Board, plan: _Plan, reports: Sequence[DriftReport]) -> None:
    area = plan.features
    turns = range(plan.turns[0], plan.turns[1] + 1)
    known = {report.turn: report.components for report in reports}
    rows = [[known.get(turn, {}).get(name, 0.0) for turn in turns] for name in reversed(COMPONENTS)]
    board.heat(area, rows, FEATURES)
    height = (area.top - area.bottom) / len(COMPONENTS)
    for number, name in enumerate(reversed(COMPONENTS)):
        y = area.bottom + (number + 0.5) * height
        board.write(area.left - 5, y, name.replace("_", " "), size=TINY, side="right")
    board.write(area.right + 6, area.top - 8, "distance", size=TINY, colour=SOFT)
    scale = Area(area.right + 6, area.top - 26, area.right + 58, area.top - 18)
    board.heat(scale, [[step / 19 for step in range(20)]], FEATURES)
    board.write(scale.left, scale.bottom - 8, "0", size=TINY, colour=SOFT)
    board.write(scale.right, scale.bottom - 8, "1", size=TINY, colour=SOFT, side="right")


def _write_turns(board: Board, plan: _Plan) -> None:
    first, last = plan.turns
    step = next(
        base * 10**power
        for power in range(9)
        for base in (1, 2, 5)
        if (last - first + 1) / (base * 10**power) <= _TICKS
    )
    y = plan.features.bottom - 10
    board.write(plan.score.left - 5, y, "turn", size=TINY, colour=SOFT, side="right")
    for turn in range(first, last + 1):
        if turn % step == 0 or turn == first:
            board.write_if_free(plan.x(turn), y, str(turn), size=TINY, colour=SOFT, side="center")
