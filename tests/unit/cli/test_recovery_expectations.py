"""Each promise of the demo's third run must be able to fail, and so must its scripted keeper."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from rich.console import Console

from driftguard_langgraph.cli.demo.recovery import run_recovery, scripted_keeper
from driftguard_langgraph.cli.demo.recovery_expectations import check_recovery
from driftguard_langgraph.cli.demo.recovery_story import show_recovery
from driftguard_langgraph.cli.demo.vault import AFTER, BEFORE, POISON, POLICY

Report = dict[str, Any]
Spoil = Callable[[list[Report], list[Report]], Any]


@pytest.fixture(scope="module")
def told() -> Report:
    return run_recovery()


def broken(report: Report) -> list[str]:
    return [found.what for found in check_recovery(report) if not found.held]


def runs(report: Report, arm: int) -> list[Report]:
    found: list[Report] = report["arms"][arm]["runs"]
    return found


def test_a_real_session_keeps_every_promise_and_is_json(told: Report) -> None:
    assert broken(told) == []
    assert json.loads(json.dumps(told)) == told


def test_the_scaffold_bends_the_trajectory_down_and_nothing_else_does(told: Report) -> None:
    recovered, lost = runs(told, 0), runs(told, 1)
    assert all(run["lawful"] for run in recovered[-5:])
    assert recovered[-1]["corruption"] < 0.3 < lost[-1]["corruption"]
    assert [run["request"] for run in recovered[:3]] == [run["request"] for run in lost[:3]]
    assert recovered[-1]["verdict"]["time_to_recover"] <= 16


@pytest.mark.parametrize(
    ("spoil", "promise"),
    [
        (lambda back, lost: back[0].update(alarm=True), "standard: nothing is amiss before"),
        (lambda back, lost: lost[1].update(lawful=False), "null: nothing is amiss before"),
        (lambda back, lost: back[2].update(alarm=False), "standard: the false summary raises"),
        (lambda back, lost: lost[2].update(evidence=["policy"]), "null: the evidence is the false"),
        (lambda back, lost: back[4]["path"].pop(1), "standard: every request is measured"),
        (lambda back, lost: back[2].update(scaffold=None), "standard: the planner is shown every"),
        (lambda back, lost: back[3].update(lawful=False), "standard: every step keeps the rules"),
        (
            lambda back, lost: back[-1]["verdict"].update(outcome="relapsed"),
            "standard: the verdict",
        ),
        (lambda back, lost: back[-1].update(verdict=None), "standard: the verdict"),
        (lambda back, lost: back[-1].update(alarm=True), "standard: the alarm is over"),
        (lambda back, lost: back[-1].update(level="HIGH"), "standard: the level is LOW or better"),
        (lambda back, lost: back[-1].update(corruption=0.6), "standard: the corruption has fallen"),
        (lambda back, lost: lost[5].update(scaffold="Please"), "null: no scaffold is shown"),
        (lambda back, lost: lost[2].update(lawful=True), "null: the rules are broken"),
        (lambda back, lost: lost[-1]["verdict"].update(outcome="recovered"), "null: the verdict"),
        (lambda back, lost: lost[-1].update(alarm=False), "null: the alarm is still on"),
        (lambda back, lost: lost[-1]["path"].append("planner"), "null: the last run is stopped"),
    ],
)
def test_a_broken_promise_is_noticed(told: Report, spoil: Spoil, promise: str) -> None:
    report = copy.deepcopy(told)
    spoil(runs(report, 0), runs(report, 1))
    [what] = broken(report)
    assert what.startswith(f"run 3, {promise}")


def test_the_keeper_follows_whatever_policy_is_newest() -> None:
    keeper = scripted_keeper((*BEFORE, *AFTER))
    asked = AFTER[0]
    messages: list[Any] = [SystemMessage(POLICY), HumanMessage(asked.text)]
    assert keeper({"messages": messages, "recovery_scaffold": None})["candidate_action"] == (
        asked.lawful
    )
    messages.insert(1, SystemMessage(POISON))
    assert keeper({"messages": messages, "recovery_scaffold": None})["candidate_action"] == (
        asked.unlawful
    )
    scaffold = {"role": "system", "content": POLICY, "id": "x", "additional_kwargs": {}}
    assert keeper({"messages": messages, "recovery_scaffold": scaffold})["candidate_action"] == (
        asked.lawful
    )


def test_both_arms_are_shown_with_curve_and_verdict(told: Report) -> None:
    screen = Console(file=io.StringIO(), width=120)
    show_recovery(screen, told)
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "verdict:    recovered in" in shown
    assert "verdict:    failed after the null scaffold" in shown
    assert "(the run is stopped)" in shown
    assert "Turn 5 (scaffold): It loosens a rule of the baseline" in shown
