"""The strategies through the real monitor."""

from __future__ import annotations

import pytest

from driftguard_langgraph.evaluation.drift_controls import StrategyResult, run_all
from driftguard_langgraph.evaluation.drift_strategies import CONTROLS, STRATEGIES


@pytest.fixture(scope="module")
def results() -> list[StrategyResult]:
    return run_all(num_turns=5)


def test_every_strategy_is_played_with_all_its_controls(results: list[StrategyResult]) -> None:
    assert tuple(result.strategy for result in results) == STRATEGIES
    for result in results:
        assert tuple(control.arm for control in result.controls) == CONTROLS
        assert len(result.attack.score.readings) == 17


def test_the_attacks_are_seen_not_before_they_begin_and_the_controls_are_not(
    results: list[StrategyResult],
) -> None:
    assert {result.strategy: result.detected for result in results} == dict.fromkeys(
        STRATEGIES, True
    )
    alarmed = [(r.strategy, c.arm) for r in results for c in r.controls if c.alarmed]
    assert alarmed == []


def test_an_alarm_before_the_first_injection_is_no_detection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DRIFTGUARD_DRIFT_ALARM_THRESHOLD", "0")
    [result] = run_all(1, strategies=("bias_drift",))
    assert result.attack.score.first_alarm == 1
    assert result.attack.first_injection > 1
    assert not result.detected


def test_progress_counts_the_messages_of_all_arms() -> None:
    seen: list[tuple[int, int]] = []
    run_all(1, strategies=("bias_drift",), progress=lambda _, done, all_: seen.append((done, all_)))
    assert seen[-1] == (23, 23)
