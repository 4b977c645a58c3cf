"""`driftguard drift recovery`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from driftguard_langgraph.cli.app import app
from driftguard_langgraph.evaluation import recovery_arms
from driftguard_langgraph.evaluation.recovery_arms import ARMS, CONTROLS


@pytest.fixture(autouse=True)
def _one_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of the three attacks: they are all played in the integration tests."""
    every = recovery_arms.built_in_attacks
    monkeypatch.setattr(
        recovery_arms, "built_in_attacks", lambda turns, *, seed: every(turns, seed=seed)[:1]
    )


def test_every_arm_is_reported_with_the_seed() -> None:
    done = CliRunner().invoke(app, ["drift", "recovery", "--json", "--turns", "3", "--seed", "1"])
    report = json.loads(done.stdout)
    assert (done.exit_code, report["held"], report["seed"]) == (0, True, 1)
    assert [each["arm"] for each in report["arms"]] == list(ARMS)
    for each in report["arms"]:
        assert each["held"] is (each["arm"] not in CONTROLS)
        assert each["alarmed_at"] is not None
        assert {"time_to_recover", "relapses", "on_policy", "points"} <= each.keys()


def test_while_the_attack_goes_on_the_answers_decide() -> None:
    done = CliRunner().invoke(app, ["drift", "recovery", "--attacked", "--turns", "3"])
    assert done.exit_code == 0
    for arm in ARMS:
        assert arm in done.stdout
    assert "Seed 0." in done.stdout


def test_an_attack_that_nobody_notices_is_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIFTGUARD_DRIFT_ALARM_THRESHOLD", "1")
    done = CliRunner().invoke(app, ["drift", "recovery", "--turns", "1", "--after", "5"])
    assert done.exit_code == 1


def test_a_number_out_of_range_is_refused_in_words() -> None:
    done = CliRunner().invoke(app, ["drift", "recovery", "--after", "0"])
    assert done.exit_code == 2
    assert "at least one exchange" in " ".join(done.output.split())
