"""The picture of a calibration: what each threshold would catch, and what it would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftguard_langgraph.pictures.board import Area, Board, Side, board_for
from driftguard_langgraph.pictures.chart import Chart
from driftguard_langgraph.pictures.head import MARGIN, write_head
from driftguard_langgraph.pictures.style import (
    ALARM,
    INK,
    LINE,
    SCORE,
    SMALL,
    SOFT,
    TINY,
)
from driftguard_langgraph.pictures.words import cut, readable

Plain = Mapping[str, Any]

_WIDTH = 720.0
_LEFT, _RIGHT = 60.0, 92.0
_HEAD, _FIT = 76.0, 262.0
_COSTS = {"false_alarm_rate": "successes warned", "wrongly_matched": "different pairs matched"}
_GAINS = {"runs": "repeated failures warned", "pairs": "same pairs matched"}
_LEAST_COST_SHOWN = 0.05


def draw_fits(result: Plain, ax: Axes | None) -> Figure:
    """Draw what `evaluation.fits.Calibration.to_dict` returned; see `plots.plot_calibration`."""
    fits: Sequence[Plain] = result["fits"]
    board, figure = board_for(ax, _WIDTH, _HEAD + _FIT * len(fits))
    changes = result["changes"]
    names = " and ".join(f"{name} to {value:g}" for name, value in changes.items())
    title = f"Set {names}" if changes else "Keep the thresholds as they are"
    note = f"for {result['model_id']}; curves are of the part fitted, figures of the part held out"
    write_head(board, title, note)
    height = (board.height - _HEAD) / len(fits)
    for number, fit in enumerate(fits):
        top = board.height - _HEAD - number * height
        area = Area(_LEFT, top - height, board.width - _RIGHT, top)
        budget = result["max_false_alarms"] if fit["basis"] == "runs" else None
        _draw_fit(board, area, fit, budget)
    return figure


def _draw_fit(board: Board, area: Area, fit: Plain, budget: float | None) -> None:
    cost = next(name for name in _COSTS if name in fit["after"])
    board.write(MARGIN, area.top - 4, fit["setting"], size=SMALL, bold=True)
    sentence = cut(readable(_sentence(fit, cost)), board.width - 2 * MARGIN, TINY)
    board.write(MARGIN, area.top - 18, sentence, size=TINY, colour=SOFT)
    middle = area.bottom + 0.40 * (area.top - area.bottom)
    curve: Sequence[Plain] = fit["curve"]
    across = (curve[0]["threshold"], curve[-1]["threshold"])
    gains = Chart(board, Area(area.left, middle + 20, area.right, area.top - 42), across, (0, 1))
    costs = Chart(
        board, Area(area.left, area.bottom + 34, area.right, middle - 12), across,
        (0, _highest(curve, cost, budget)),
    )  # fmt: skip
    for chart, name, colour, label in (
        (gains, "recall", SCORE, _GAINS[fit["basis"]]),
        (costs, cost, ALARM, _COSTS[cost]),
    ):
        chart.ground(ticks_across=chart is costs)
        points = [(p["threshold"], p[name]) for p in curve if p[name] is not None]
        if points:
            chart.curve(points, colour)
        board.write(area.left, chart.area.top + 8, label, size=TINY, colour=colour, bold=True)
        _draw_choice(chart, fit)
    if budget is not None:
        costs.level(budget, f"budget {100 * budget:.3g}%", INK)
    _name_choice(gains, fit, gains.area.bottom - 9)
    board.write(area.right + 16, costs.area.bottom - 9, "threshold", size=TINY, colour=SOFT)


def _highest(curve: Sequence[Plain], cost: str, budget: float | None) -> float:
    seen = [point[cost] or 0.0 for point in curve]
    return min(1.0, max(_LEAST_COST_SHOWN, 1.1 * max(seen), 1.5 * (budget or 0.0)))


def _sentence(fit: Plain, cost: str) -> str:
    before, after = fit["before"], fit["after"]
    what = "steps" if fit["basis"] == "runs" else "pairs"
    moved = "; ".join(
        f"{name} {_share(before[key])} \N{RIGHTWARDS ARROW} {_share(after[key])}"
        for key, name in (("recall", _GAINS[fit["basis"]]), (cost, _COSTS[cost]))
    )
    return f"{fit['verdict']}. On {fit['measured_on']} {what} held out: {moved}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"


def _draw_choice(chart: Chart, fit: Plain) -> None:
    chart.upright(fit["old"], SOFT, dashed=True)
    if fit["fitted"] is not None and fit["fitted"] != fit["old"]:
        chart.upright(fit["fitted"], INK)


def _name_choice(chart: Chart, fit: Plain, y: float) -> None:
    """Write both thresholds at their lines, away from each other."""
    old, fitted = fit["old"], fit["fitted"]
    lower: Side = "right"
    higher: Side = "left"
    if fitted is not None and fitted != old:
        side = higher if fitted > old else lower
        words = f"fitted {fitted:.2f}"
        chart.board.write_if_free(chart.x(fitted), y, words, size=TINY, bold=True, side=side)
    side = lower if fitted is not None and fitted > old else higher
    words = f"now {old:.2f}"
    chart.board.write_if_free(chart.x(old), y, words, size=TINY, colour=SOFT, side=side)


def draw_alarm(result: Plain, ax: Axes | None) -> Figure:
    """Draw what `DriftCalibration.to_dict` returned; see `plots.plot_calibration`."""
    board, figure = board_for(ax, _WIDTH, 330.0)
    maxima: Sequence[float] = result["maxima"]
    old, fitted, count = result["old"]["drift_alarm_threshold"], result["fitted"], len(maxima)
    now = sum(maximum >= old for maximum in maxima)
    title = f"At {old:g}, {now} of {count} good conversations alarm"
    if fitted is not None and fitted != old:
        then = sum(maximum >= fitted for maximum in maxima)
        title += f"; at {fitted:g}, {then} would"
    write_head(board, title, f"drift_alarm_threshold: {result['verdict']}")
    area = Area(_LEFT, 62.0, board.width - _RIGHT, board.height - _HEAD - 30)
    budget = result["budget"]
    present = now / count if count else 0.0
    chart = Chart(board, area, (0.0, 1.0), (0.0, min(1.0, max(0.1, 4 * budget, 1.5 * present))))
    chart.ground()
    steps = _steps(maxima)
    chart.curve(steps, ALARM, dots=False)
    chart.level(budget, f"budget {100 * budget:.3g}%", INK)
    fit = {"old": old, "fitted": fitted}
    _draw_choice(chart, fit)
    _name_choice(chart, fit, area.top + 8)
    beyond = f", up to {100 * chart.up[1]:.0f}% shown" if chart.up[1] < 1 else ""
    name = f"good conversations that alarm{beyond}"
    board.write(area.left, area.top + 22, name, size=TINY, colour=ALARM, bold=True)
    board.write(area.right + 16, area.bottom - 9, "threshold", size=TINY, colour=SOFT)
    for maximum in maxima:
        x = chart.x(maximum)
        board.line([x, x], [area.bottom - 28, area.bottom - 20], SOFT, width=0.8)
    board.write(area.right + 16, area.bottom - 24, "each one's highest", size=TINY, colour=SOFT)
    board.line([area.left, area.right], [area.bottom - 28] * 2, LINE)
    return figure


def _steps(maxima: Sequence[float]) -> list[tuple[float, float]]:
    """Return at which share of the conversations alarm, threshold by threshold."""
    count = len(maxima)
    if not count:
        return [(0.0, 0.0), (1.0, 0.0)]
    points = [(0.0, 1.0)]
    for number, maximum in enumerate(sorted(maxima), 1):
        points += [(maximum, points[-1][1]), (maximum, (count - number) / count)]
    return [*points, (1.0, points[-1][1])]
