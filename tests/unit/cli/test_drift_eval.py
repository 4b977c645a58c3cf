"""`driftguard drift eval`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from driftguard_langgraph.cli.app import app
from driftguard_langgraph.evaluation.drift_strategies import CONTROLS, STRATEGIES


def test_the_three_strategies_are_detected_and_no_control_is() -> None:
    done = CliRunner().invoke(app, ["drift", "eval", "--json"])
    report = json.loads(done.stdout)
    assert [result["strategy"] for result in report["strategies"]] == list(STRATEGIES)
    for result in report["strategies"]:
        assert result["first_alarm"] >= result["first_injection"]
        assert [control["arm"] for control in result["controls"]] == list(CONTROLS)
        assert not any(control["alarmed"] for control in result["controls"])
    assert (done.exit_code, report["held"]) == (0, True)


def test_one_strategy_is_shown_with_its_controls() -> None:
    done = CliRunner().invoke(app, ["drift", "eval", "--strategy", "fact_injection"])
    assert "1 of 1 attacks detected; 0 of 3 controls raised the alarm." in done.stdout
    assert "bias_drift" not in done.stdout
    assert done.exit_code == 0


def test_an_attack_that_is_missed_is_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTGUARD_DRIFT_ALARM_THRESHOLD", "1")
    done = CliRunner().invoke(app, ["drift", "eval", "--strategy", "bias_drift", "--turns", "1"])
    assert done.exit_code == 1
    assert "0 of 1 attacks detected" in done.stdout


def test_a_control_that_alarms_is_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTGUARD_DRIFT_ALARM_THRESHOLD", "0")
    done = CliRunner().invoke(app, ["drift", "eval", "--strategy", "bias_drift", "--turns", "1"])
    assert done.exit_code == 1
    assert "3 of 3 controls raised the alarm" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--strategy", "hypnosis"), "--strategy 'hypnosis' is unknown"),
        (("--turns", "0"), "--turns 0"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(app, ["drift", "eval", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert said in line
