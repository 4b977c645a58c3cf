"""The picture of a backtest: how often warnings came true, by their confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftguard_langgraph.judgement.proportions import wilson
from driftguard_langgraph.pictures.board import Area, board_for
from driftguard_langgraph.pictures.chart import Chart
from driftguard_langgraph.pictures.head import MARGIN, write_head
from driftguard_langgraph.pictures.style import INK, SCORE, SMALL, SOFT, TINY

Plain = Mapping[str, Any]

_WIDTH, _HEIGHT = 720.0, 380.0


def draw_reliability(result: Plain, ax: Axes | None) -> Figure:
    """Draw what `BacktestResult.to_dict` returned; see `plots.plot_calibration`."""
    board, figure = board_for(ax, _WIDTH, _HEIGHT)
    tenths: Sequence[Plain] = result["reliability"]
    total = result["total"]
    write_head(board, _title(tenths), _note(total))
    area = Area(60.0, 50.0, board.width - MARGIN, board.height - 96)
    chart = Chart(board, area, (0.0, 1.0), (0.0, 1.0))
    chart.ground()
    board.line([area.left, area.right], [area.bottom, area.top], SOFT, dashed=True, order=2)
    for tenth in tenths:
        low, high = chart.x(tenth["from"]), chart.x(tenth["to"])
        share = tenth["failed"] / tenth["warned"]
        board.rectangle(Area(low + 2, area.bottom, high - 2, chart.y(share)), SCORE, order=1.5)
        ends = [chart.y(end) for end in wilson(tenth["failed"], tenth["warned"])]
        middle = (low + high) / 2
        board.line([middle, middle], ends, INK, width=1.4)
        count = f"{tenth['failed']} of {tenth['warned']}"
        board.write(middle, ends[1] + 8, count, size=TINY, bold=True, side="center", paper=True)
    board.write(area.left, area.top + 22, "warned steps that failed", size=SMALL, bold=True)
    legend = "bar: share; line: 95% interval; dashed: a confidence that is a probability"
    board.write(area.left + 150, area.top + 22, legend, size=TINY, colour=SOFT)
    board.write(area.left, area.bottom - 25, "confidence of the warning", size=TINY, colour=SOFT)
    return figure


def _title(tenths: Sequence[Plain]) -> str:
    if not tenths:
        return "No step would have been warned"
    most = max(tenths, key=lambda tenth: tenth["warned"])
    share = f"{100 * most['failed'] / most['warned']:.0f}%"
    return f"Of warnings with confidence {most['from']:.1f} to {most['to']:.1f}, {share} came true"


def _note(total: Plain) -> str:
    recall, alarms = (
        "-" if total[name] is None else f"{100 * total[name]:.1f}%"
        for name in ("recall", "false_alarm_rate")
    )
    return (
        f"{total['steps']:,} steps replayed; warned were {recall} of the repeated failures and "
        f"{alarms} of the successes"
    )
