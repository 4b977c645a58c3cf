from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from driftguard_langgraph.drift.report import Anomaly, DriftReport, Span, ThreatLevel
from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.schedule import InjectionSchedule
from driftguard_langgraph.recovery.session import RecoveryPlan, RecoverySession, RecoveryStep
from driftguard_langgraph.recovery.verdict import RecoveryVerdict

PLAN = RecoveryPlan(InjectionSchedule(cooldown=2, maximum=2), "minimal", patience=3)


def report(turn: int, *, bad: bool) -> DriftReport:
    level = ThreatLevel.HIGH if bad else ThreatLevel.LOW
    anomaly = Anomaly("constraint_waived", 0.6, turn, Channel.SCAFFOLD, Span(f"m{turn}", "skip it"))
    return DriftReport(
        turn, f"m{turn}", Channel.SCAFFOLD, corruption=0.8 if bad else 0.2, alarm=bad,
        threat_level=level, anomalies=(anomaly,) if bad else (),
    )  # fmt: skip


def run(session: RecoverySession, pattern: Iterable[str], start: int = 1) -> list[RecoveryStep]:
    return [session.after(report(n, bad=mark == "x")) for n, mark in enumerate(pattern, start)]


def outcomes(steps: list[RecoveryStep]) -> list[str | None]:
    return [step.verdict.outcome if step.verdict else None for step in steps]


def verdict(step: RecoveryStep) -> RecoveryVerdict:
    assert step.verdict is not None
    return step.verdict


def test_a_clean_session_gets_no_scaffold() -> None:
    steps = run(RecoverySession(PLAN), "." * 200)
    assert not any(step.inject or step.active or step.verdict for step in steps)


def test_an_alarm_injects_once_and_the_session_comes_back() -> None:
    steps = run(RecoverySession(PLAN), "..xx..")
    assert [step.inject for step in steps] == [None, None, "minimal", None, None, None]
    assert outcomes(steps) == [None, None, "pending", "pending", "recovered", "recovered"]
    assert [step.active for step in steps] == [False, False, True, True, False, False]
    last = verdict(steps[-1])
    assert (last.injected_at, last.recovered_at, last.time_to_recover) == (3, 5, 2)
    assert [point.turn for point in last.before] == [1, 2, 3]
    assert [point.turn for point in last.after] == [4, 5, 6]
    assert "recovered in 2 turns" in last.explain()


def test_what_does_not_come_back_fails_and_is_tried_stronger_and_then_a_human_is_asked() -> None:
    steps = run(RecoverySession(PLAN), "x" * 9)
    assert [step.inject for step in steps] == [
        "minimal", None, None, "standard", None, None, None, None, None,
    ]  # fmt: skip
    assert [step.route for step in steps] == [
        "continue", "continue", "continue", "reinject", "continue", "continue",
        "interrupt", "interrupt", "interrupt",
    ]  # fmt: skip
    assert outcomes(steps)[-1] == "failed"


def test_asking_again_soon_after_recovery_is_a_relapse_and_much_later_a_new_episode() -> None:
    soon = run(RecoverySession(PLAN), "x.x")
    assert soon[-1].inject == "standard"
    assert soon[-1].trigger == "relapsed"
    late = run(RecoverySession(PLAN), "x." + "." * 8 + "x")
    assert late[-1].inject == "minimal"
    assert late[-1].trigger == "alarm"


@pytest.mark.parametrize(("route"), ["stop", "continue"])
def test_what_follows_when_scaffolds_are_used_up_can_be_chosen(route: str) -> None:
    plan = RecoveryPlan(InjectionSchedule(maximum=0), when_exhausted="stop")
    assert run(RecoverySession(plan), "x")[-1].route == "continue"
    plan = RecoveryPlan(
        InjectionSchedule(maximum=1), patience=1, when_exhausted=route  # type: ignore[arg-type]
    )  # fmt: skip
    assert run(RecoverySession(plan), "xxx")[-1].route == route


def test_the_same_report_twice_injects_once() -> None:
    session = RecoverySession(PLAN)
    assert session.after(report(1, bad=True)).inject == "minimal"
    assert session.after(report(1, bad=True)).inject is None


def test_a_new_episode_after_the_last_scaffold_is_not_passed_over_in_silence() -> None:
    steps = run(RecoverySession(PLAN), "x........x........x")
    assert [step.inject for step in steps if step.inject] == ["minimal", "minimal"]
    assert (steps[-1].verdict is not None, steps[-1].route) == (True, "interrupt")


def test_all_messages_that_did_it_are_named_not_only_the_strongest() -> None:
    assert len(run(RecoverySession(PLAN), "x" * 30)[-1].suspects) == 30
    assert run(RecoverySession(PLAN), "x" * 300)[-1].suspects[0] == "m201"


def test_the_messages_that_did_it_are_named_in_order() -> None:
    step = run(RecoverySession(PLAN), ".x.xx")[-1]
    assert step.suspects == ("m2", "m4", "m5")


def test_a_session_goes_on_from_its_json_state() -> None:
    whole, first = RecoverySession(PLAN), RecoverySession(PLAN)
    run(first, "..xx")
    second = RecoverySession(PLAN)
    second.load(json.loads(json.dumps(first.state)))
    run(whole, "..xx....")
    run(second, "....", start=5)
    assert second.state == whole.state
    assert second.verdicts == whole.verdicts


def test_a_foreign_state_is_refused_and_changes_nothing() -> None:
    session = RecoverySession(PLAN)
    run(session, "x")
    before = session.state
    with pytest.raises(ConfigurationError, match="no recovery state"):
        session.load({"turn": 3, "points": [{"turn": 1}], "verdicts": [], "evidence": []})
    assert session.state == before


@pytest.mark.parametrize("options", [{"patience": 0}, {"variant": "big"}, {"when_exhausted": "x"}])
def test_a_plan_that_makes_no_sense_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        RecoveryPlan(**options)  # type: ignore[arg-type]
