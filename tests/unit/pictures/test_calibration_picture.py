from __future__ import annotations

import json
from typing import Any

import pytest
from matplotlib.figure import Figure

from driftguard_langgraph import ConfigurationError, MissingExtra, plot_calibration
from driftguard_langgraph.evaluation.drift_calibration import (
    RELEASE,
    THRESHOLD,
    DriftCalibration,
    fitted_threshold,
)
from driftguard_langgraph.evaluation.findings import Shortlist
from driftguard_langgraph.evaluation.fits import MERGE, WARN, Calibration, Fit
from driftguard_langgraph.evaluation.scores import BacktestResult, Reliability, Tally
from driftguard_langgraph.evaluation.steps import Step
from driftguard_langgraph.pictures import plots
from tests.picture_samples import covered, png_of, words_of


def fit(setting: str, old: float, fitted: float | None, cost: str, basis: Any) -> Fit:
    tried = [round(0.3 + 0.05 * step, 2) for step in range(14)]
    return Fit(
        setting=setting,
        old=old,
        fitted=fitted,
        basis=basis,
        before={"recall": 0.81, cost: 0.011},
        after={"recall": 0.92, cost: 0.014},
        better=True,
        fitted_on=400,
        measured_on=200,
        curve=tuple({"threshold": x, "recall": 1.1 - x, cost: (1 - x) / 20} for x in tried),
    )


def fits(*those: Fit) -> Calibration:
    return Calibration(those, "model", seed=0, max_false_alarms=0.02)


def alarm(maxima: list[float], budget: float = 0.02, old: float = 0.5) -> DriftCalibration:
    return DriftCalibration(
        maxima=tuple(sorted(maxima)),
        budget=budget,
        old={THRESHOLD: old, RELEASE: old / 2},
        fitted=fitted_threshold(maxima, budget),
        alarming=(),
        model_id="model",
        stats=(),
    )


WARNING = fit(WARN, 0.60, 0.50, "false_alarm_rate", "runs")
MERGING = fit(MERGE, 0.72, 0.80, "wrongly_matched", "pairs")


def test_each_setting_has_its_gain_its_cost_its_budget_and_both_thresholds() -> None:
    figure = plot_calibration(fits(WARNING, MERGING))
    words = words_of(figure)
    assert words[0] == f"Set {WARN} to 0.5 and {MERGE} to 0.8"
    assert {WARN, MERGE, "repeated failures warned", "successes warned"} <= set(words)
    assert {"same pairs matched", "different pairs matched", "budget 2%"} <= set(words)
    assert {"now 0.60", "fitted 0.50", "now 0.72", "fitted 0.80"} <= set(words)
    assert any("81.0% → 92.0%" in word for word in words)
    assert covered(figure) == []


def test_where_nothing_is_better_the_title_says_keep() -> None:
    kept = fit(WARN, 0.60, None, "false_alarm_rate", "runs")
    words = words_of(plot_calibration(fits(kept)))
    assert words[0] == "Keep the thresholds as they are"
    assert not any(word.startswith("fitted 0") for word in words)


def test_the_alarm_is_told_by_the_good_conversations_that_raise_it() -> None:
    result = alarm([0.01 * number for number in range(95)], budget=0.05)
    figure = plot_calibration(result)
    then = result.false_alarms(result.fitted or 0)
    assert words_of(figure)[0] == (
        f"At 0.5, {result.false_alarms(0.5)} of 95 good conversations alarm; "
        f"at {result.fitted:g}, {then} would"
    )
    assert "budget 5%" in words_of(figure)
    assert covered(figure) == []


@pytest.mark.parametrize(
    "maxima", [[], [0.3], [0.0] * 60, [1.0] * 60], ids=["none", "one", "quiet", "loud"]
)
def test_odd_sets_of_conversations_are_a_picture(maxima: list[float]) -> None:
    figure = plot_calibration(alarm(maxima))
    assert covered(figure) == []
    assert png_of(figure).startswith(b"\x89PNG")


def replayed(*warnings: tuple[float, bool]) -> BacktestResult:
    reliability, total = Reliability(), Tally(steps=40, successes=10, repeats=30)
    for confidence, failed in warnings:
        reliability.add(Step("line 1", "s", "tool", "go", "no", failed=failed), confidence)
    return BacktestResult(
        files=("runs.jsonl",), streams=1, total=total, by_tool={}, by_source={}, baselines={},
        warned=Shortlist(), missed=Shortlist(), labels="given", skipped=0, ms_per_step=1.0,
        ms_per_step_p95=2.0, seconds=0.1, model_id="model", reliability=reliability,
    )  # fmt: skip


def test_a_backtest_shows_how_often_warnings_came_true_by_their_confidence() -> None:
    figure = plot_calibration(replayed((0.62, False), (0.74, True), (0.75, True), (0.79, False)))
    words = words_of(figure)
    assert words[0] == "Of warnings with confidence 0.7 to 0.8, 67% came true"
    assert {"0 of 1", "2 of 3"} <= set(words)
    assert covered(figure) == []


def test_a_backtest_without_a_warning_says_so() -> None:
    figure = plot_calibration(replayed())
    assert words_of(figure)[0] == "No step would have been warned"
    assert covered(figure) == []


@pytest.mark.parametrize(
    "result",
    [fits(WARNING, MERGING), alarm([0.1, 0.4, 0.6]), replayed((0.7, True))],
    ids=["fits", "alarm", "backtest"],
)
def test_the_json_of_the_command_gives_the_same_picture(result: Any) -> None:
    read = json.loads(json.dumps(result.to_dict()))
    assert words_of(plot_calibration(read)) == words_of(plot_calibration(result))


def test_a_curve_without_a_figure_is_drawn_without_it() -> None:
    empty = {"threshold": 0.4, "recall": None, "false_alarm_rate": None}
    figure = plot_calibration(fits(fit_with(({**empty}, {**empty, "threshold": 0.6}))))
    assert png_of(figure).startswith(b"\x89PNG")


def fit_with(curve: Any) -> Fit:
    return Fit(WARN, 0.5, None, "runs", WARNING.before, WARNING.after, True, 1, 1, curve)


@pytest.mark.parametrize("given", [{}, {"turn": 1}, None, 3], ids=["empty", "report", "none", "3"])
def test_what_is_no_calibration_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="this is no calibration"):
        plot_calibration(given)


def test_it_draws_on_axes_of_the_user() -> None:
    figure = Figure(figsize=(9, 6))
    assert plot_calibration(fits(WARNING), ax=figure.add_subplot()) is figure
    assert png_of(figure).startswith(b"\x89PNG")


def test_without_matplotlib_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"plot_calibration .*driftguard-langgraph\[plot\]"):
        plot_calibration(fits(WARNING))
