"""A calibration as tables for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from driftguard_langgraph.evaluation.fits import Calibration, Fit

_NAMES = {
    "balanced_accuracy": "balanced accuracy",
    "recall": "recall",
    "wrongly_matched": "wrongly matched",
    "false_alarm_rate": "false alarms",
    "warning_precision": "precision",
}


def render_calibration(result: Calibration) -> RenderableType:
    """Return what would change, with the figures on what was held out."""
    parts: list[RenderableType] = []
    for fit in result.fits:
        parts += [_heading(fit), _figures(fit)]
    parts.append(
        f"Thresholds are for {result.model_id}; split with seed {result.seed}. "
        "Differences of about two points mean nothing."
    )
    return Group(*parts)


def _heading(fit: Fit) -> str:
    fitted = "none" if fit.fitted is None else f"{fit.fitted:.2f}"
    return (
        f"[bold]{fit.setting}[/bold] {fit.old:.2f} -> {fit.new:.2f} (fitted {fitted}): "
        f"{fit.verdict}\nfitted on {_amount(fit, fit.fitted_on)}, "
        f"measured on {_amount(fit, fit.measured_on)} held out"
    )


def _amount(fit: Fit, count: int) -> str:
    return f"{count} {'pairs' if fit.basis == 'pairs' else 'steps'}"


def _figures(fit: Fit) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("held out")
    table.add_column(f"at {fit.old:.2f}", justify="right")
    table.add_column("fitted", justify="right")
    for name, before in fit.before.items():
        table.add_row(_NAMES[name], _share(before), _share(fit.after[name]))
    return table


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
