"""What a calibration proposes, and what that rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from driftguard_langgraph.html.evaluation_cards import calibration_card
from driftguard_langgraph.settings import ENV_PREFIX

WARN, MERGE = "retrieval_min_similarity", "similarity_threshold_action"
"""The settings that are fitted: from where on a step is the remembered one, and from where
on two recorded actions are one node."""

Figures = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Fit:
    """What one setting should be, and what that changes on the part held out.

    Attributes:
        setting: Its name.
        old: Its present value.
        fitted: What the data speak for; None if no value meets the budget.
        basis: What it was fitted to.
        before: Figures at the present value, on the part held out.
        after: Figures at the fitted value, on the part held out.
        better: Whether the fitted value is no worse there.
        fitted_on: Number of pairs or steps that were fitted.
        measured_on: Number of those held out.
        curve: Figures at each value that was tried (`threshold`), ascending, on the part fitted.
    """

    setting: str
    old: float
    fitted: float | None
    basis: Literal["pairs", "runs"]
    before: Figures
    after: Figures
    better: bool
    fitted_on: int
    measured_on: int
    curve: tuple[Figures, ...]

    @property
    def new(self) -> float:
        """The value to use."""
        return self.fitted if self.fitted is not None and self.better else self.old

    @property
    def verdict(self) -> str:
        """What to do, in words."""
        if self.fitted is None:
            return "keep: no threshold stays within the budget of false alarms"
        if self.fitted == self.old:
            return "keep: no threshold is better by more than chance"
        return "change" if self.better else "keep: the fitted one is worse on what was held out"

    def to_dict(self) -> dict[str, Any]:
        """Return the fit as plain JSON."""
        return {
            "setting": self.setting,
            "old": self.old,
            "fitted": self.fitted,
            "new": self.new,
            "verdict": self.verdict,
            "basis": self.basis,
            "fitted_on": self.fitted_on,
            "measured_on": self.measured_on,
            "before": dict(self.before),
            "after": dict(self.after),
            "curve": [dict(point) for point in self.curve],
        }


@dataclass(frozen=True, slots=True)
class Calibration:
    """What should be set differently.

    Attributes:
        fits: One for each setting that the data say something about.
        model_id: The embedding model that the thresholds are for.
        seed: Of the split.
        max_false_alarms: The budget for runs.
    """

    fits: tuple[Fit, ...]
    model_id: str
    seed: int
    max_false_alarms: float

    @property
    def changes(self) -> dict[str, float]:
        """The settings that should change, with their new values."""
        return {fit.setting: fit.new for fit in self.fits if fit.new != fit.old}

    def env_lines(self) -> str:
        """Return the changed settings as the text of an environment file."""
        lines = [f"{ENV_PREFIX}{name.upper()}={value}" for name, value in self.changes.items()]
        return "\n".join([f"# Fitted by `driftguard calibrate`, for {self.model_id}", *lines, ""])

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as plain JSON."""
        return {
            "model_id": self.model_id,
            "seed": self.seed,
            "max_false_alarms": self.max_false_alarms,
            "changes": self.changes,
            "fits": [fit.to_dict() for fit in self.fits],
        }

    def _repr_html_(self) -> str:
        return calibration_card(self.to_dict())
