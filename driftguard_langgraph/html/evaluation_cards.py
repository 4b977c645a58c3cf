"""Cards of evaluations: a backtest, fitted thresholds, a fitted alarm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.html.cards import Fact, card, facts, folded, grid, line, share

Plain = Mapping[str, Any]

_RATES = {
    "recall": "repeated failures warned",
    "false_alarm_rate": "successes warned",
    "warning_precision": "warned steps that failed",
    "balanced_accuracy": "balanced accuracy",
    "wrongly_matched": "different pairs matched",
}
_COUNTS = ("steps", "failures", "repeats", "warned", "hits", "misses", "false_alarms")


def backtest_card(result: Plain) -> str:
    """Return the card of what `BacktestResult.to_dict` returned."""
    total, baselines = result["total"], result["baselines"]
    rates = [
        (_RATES[rate], share(total[rate]), *(share(each[rate]) for each in baselines.values()))
        for rate in ("recall", "false_alarm_rate", "warning_precision")
    ]
    tools = sorted(result["by_tool"].items(), key=lambda item: (-item[1]["steps"], item[0]))
    counts = [(name, *(str(tally[count]) for count in _COUNTS)) for name, tally in tools]
    header = ("tool", *(name.replace("_", " ") for name in _COUNTS))
    return card(
        f"Backtest: {total['warned']} of {total['steps']} steps would have been warned",
        facts(
            [
                ("replayed", f"{', '.join(result['files'])}, {result['streams']} streams"),
                ("failures", f"{total['failures']}, {total['repeats']} of them repeats"),
                ("left out", f"{result['skipped']} entries" if result["skipped"] else None),
                ("a step costs", f"{result['ms_per_step']:.1f} ms in the median"),
                ("model", result["model_id"]),
            ]
        ),
        grid("Beside simpler memories", ("figure", "driftguard", *baselines), rates),
        folded("by tool", grid("Counts", header, counts)),
    )


def calibration_card(result: Plain) -> str:
    """Return the card of what `fits.Calibration.to_dict` returned."""
    changes = result["changes"]
    words = " and ".join(f"{name} to {value:g}" for name, value in changes.items())
    return card(
        f"Calibration: set {words}" if changes else "Calibration: keep the thresholds",
        *map(_fit, result["fits"]),
        line(f"Thresholds are for {result['model_id']}."),
    )


def _fit(fit: Plain) -> str:
    what = "steps" if fit["basis"] == "runs" else "pairs"
    fitted = "none" if fit["fitted"] is None else f"{fit['fitted']:.2f}"
    names = _RATES if fit["basis"] == "runs" else _RATES | {"recall": "same pairs matched"}
    rows = [
        (names[rate], share(before), share(fit["after"][rate]))
        for rate, before in fit["before"].items()
    ]
    caption = (
        f"{fit['setting']}: {fit['verdict']} (fitted on {fit['fitted_on']} {what}, measured on "
        f"{fit['measured_on']} held out)"
    )
    return grid(caption, ("held out", f"at {fit['old']:.2f}", f"fitted: {fitted}"), rows)


def alarm_card(result: Plain) -> str:
    """Return the card of what `DriftCalibration.to_dict` returned."""
    count, old = result["conversations"], result["old"]["drift_alarm_threshold"]
    then = f"{result['false_alarms_fitted']} of {count} would alarm"
    rows = [(name, f"{value:.2f}") for name, value in result["alarming"].items()]
    known: list[Fact] = [
        ("now", f"{old:g}: {result['false_alarms']} of {count} good conversations alarm"),
        ("fitted", None if result["fitted"] is None else f"{result['fitted']:g}: {then}"),
        ("budget", f"{result['budget']:.1%}"),
        ("model", result["model_id"]),
    ]
    return card(
        f"Calibration of the alarm: {result['verdict']}",
        facts(known),
        folded("which alarm now", grid("Alarm now", ("conversation", "corruption"), rows)),
    )
