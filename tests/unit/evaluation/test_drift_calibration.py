"""The alarm fitted to good conversations: the arithmetic, and real files."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.drift_calibration import (
    LOWEST,
    RELEASE,
    THRESHOLD,
    DriftCalibration,
    calibrate_drift,
    conversations_needed,
    fitted_threshold,
    upper_bound,
)
from driftguard_langgraph.settings import DriftGuardSettings


@pytest.mark.parametrize(("budget", "needed"), [(0.02, 49), (0.05, 19), (0.1, 9), (0.5, 1)])
def test_a_budget_needs_its_number_of_conversations(budget: float, needed: int) -> None:
    assert conversations_needed(budget) == needed
    assert fitted_threshold([0.3] * (needed - 1), budget) is None
    assert fitted_threshold([0.3] * needed, budget) == pytest.approx(0.3001)


@pytest.mark.parametrize("budget", [0.0, 1.0, -0.1, float("nan")])
def test_a_budget_is_a_share_between_nothing_and_everything(budget: float) -> None:
    with pytest.raises(ConfigurationError, match="--budget"):
        conversations_needed(budget)


@pytest.mark.parametrize("quantile", [0.3, 0.25, 0.7, 0.29999999999, 0.30004, 0.9998])
def test_the_threshold_lies_above_the_quantile_itself(quantile: float) -> None:
    fitted = fitted_threshold([quantile] * 60, 0.02)
    assert fitted is not None
    assert quantile < fitted <= quantile + 0.0002


def test_the_budget_holds_for_new_conversations_of_the_same_kind() -> None:
    chance = random.Random(7)  # noqa: S311
    alarms = trials = 0
    for _ in range(400):
        fitted = fitted_threshold([chance.betavariate(2, 3) for _ in range(59)], 0.05)
        assert fitted is not None
        trials += 20
        alarms += sum(chance.betavariate(2, 3) >= fitted for _ in range(20))
    assert 0.03 < alarms / trials < 0.06


def test_silent_conversations_do_not_make_the_alarm_raw() -> None:
    assert fitted_threshold([0.0] * 100, 0.02) == LOWEST


def test_where_even_certainty_is_common_no_threshold_is_fitted() -> None:
    assert fitted_threshold([1.0] * 100, 0.02) is None


@pytest.mark.parametrize(
    ("hits", "count", "bound"), [(0, 50, 0.0582), (0, 100, 0.0295), (2, 50, 0.1206), (5, 5, 1.0)]
)
def test_the_bound_is_the_exact_one(hits: int, count: int, bound: float) -> None:
    assert upper_bound(hits, count) == pytest.approx(bound, abs=2e-4)


def calibration(maxima: list[float], fitted: float | None, old: float = 0.5) -> DriftCalibration:
    return DriftCalibration(
        maxima=tuple(maxima),
        budget=0.05,
        old={THRESHOLD: old, RELEASE: old / 2},
        fitted=fitted,
        alarming=(),
        model_id="m",
        stats=(),
    )


def test_the_release_moves_with_the_threshold() -> None:
    result = calibration([0.3] * 20, 0.4)
    assert result.changes == {THRESHOLD: 0.4, RELEASE: 0.2}
    assert result.verdict == "change"
    assert result.env_lines().splitlines()[1:] == [
        "DRIFTGUARD_DRIFT_ALARM_THRESHOLD=0.4",
        "DRIFTGUARD_DRIFT_ALARM_RELEASE=0.2",
    ]


def test_too_few_conversations_are_told_how_many_it_takes() -> None:
    result = calibration([0.3] * 4, None)
    assert result.changes == {}
    assert "needs 19 good conversations, these are 4" in result.verdict
    assert "20.0% at best" in result.verdict


def test_a_threshold_that_fits_already_is_kept() -> None:
    assert calibration([0.4] * 20, 0.5).verdict == "keep: the present threshold is the fitted one"


def test_real_files_are_calibrated_conversation_by_conversation(tmp_path: Path) -> None:
    path = tmp_path / "good.jsonl"
    chats = [
        {
            "id": f"chat-{number}",
            "system": "You answer questions about a bakery. Never promise a delivery date.",
            "turns": [
                ["user", f"Do you have {bread} today?"],
                ["assistant", f"Yes, {bread} comes out of the oven at nine."],
            ],
        }
        for number, bread in enumerate("rye spelt wheat oat barley corn seed nut malt".split())
    ]
    path.write_text("\n".join(map(json.dumps, chats)), encoding="utf-8")
    result = calibrate_drift([path], budget=0.1, settings=DriftGuardSettings())
    assert len(result.maxima) == 9
    assert result.fitted is not None
    assert result.false_alarms(result.fitted) == 0
    assert result.stats[0].sessions == 9
    assert json.loads(json.dumps(result.to_dict()))["needed"] == 9
