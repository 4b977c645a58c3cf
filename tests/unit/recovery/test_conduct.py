from __future__ import annotations

import json
from typing import Any

import pytest

from driftguard_langgraph.drift.report import Anomaly, DriftReport, Span, ThreatLevel
from driftguard_langgraph.drift.turns import Channel, is_own_scaffold
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.anchor import Anchor
from driftguard_langgraph.recovery.conduct import RecoveryConduct
from driftguard_langgraph.recovery.schedule import InjectionSchedule
from driftguard_langgraph.recovery.session import RecoveryPlan

PROMPT = "You are a pension adviser. Never promise a return."


def report(turn: int, *, bad: bool, revised: str | None = None) -> dict[str, Any]:
    said = Anomaly(
        "constraint_waived", 0.6, turn, Channel.TOOL, Span(f"m{turn}", "promise 9 percent")
    )
    change = Anomaly("revision", 0.0, turn, Channel.USER, Span(f"m{turn}", revised or ""))
    return DriftReport(
        turn, f"m{turn}", Channel.TOOL, corruption=0.8 if bad else 0.1, alarm=bad,
        threat_level=ThreatLevel.HIGH if bad else ThreatLevel.LOW,
        anomalies=(said,) if bad else (), revisions=(change,) if revised else (),
    ).to_dict()  # fmt: skip


def test_a_scaffold_is_shown_from_the_alarm_until_the_session_is_back() -> None:
    conduct, kept, shown = RecoveryConduct(PROMPT), None, []
    for turn, bad in enumerate([False, True, True, False, False], 1):
        done = conduct.after(report(turn, bad=bad), kept)
        kept = json.loads(json.dumps(done.kept))
        shown.append(done.message)
    assert [message is not None for message in shown] == [False, True, True, False, False]
    assert shown[1] == shown[2]
    assert shown[1] is not None
    assert is_own_scaffold(shown[1])
    assert "Never promise a return." in shown[1]["content"]
    assert '> "promise 9 percent"' in shown[1]["content"]


def test_the_null_scaffold_is_followed_and_shows_nothing() -> None:
    conduct = RecoveryConduct(PROMPT, plan=RecoveryPlan(variant="null"))
    done = conduct.after(report(1, bad=True))
    assert done.message is None
    assert done.step.inject == "null"
    assert done.verdict is not None
    assert done.verdict["outcome"] == "pending"


def test_what_the_user_revised_with_authority_is_in_later_scaffolds() -> None:
    conduct = RecoveryConduct(PROMPT)
    first = conduct.after(report(1, bad=False, revised="Explain it in Dutch instead."))
    done = conduct.after(report(2, bad=True), first.kept)
    assert done.message is not None
    assert "Explain it in Dutch instead." in done.message["content"]
    assert done.kept["anchor"]["version"] == 2


def test_a_session_brings_its_own_baseline_or_its_opening_messages() -> None:
    opening = [{"role": "system", "content": PROMPT}, {"role": "user", "content": "Compare plans"}]
    for given in ({"baseline": PROMPT}, {"messages": opening}):
        done = RecoveryConduct().after(report(1, bad=True), **given)
        assert done.message is not None
        assert "Never promise a return." in done.message["content"]
    with pytest.raises(ConfigurationError, match="nothing to recover to"):
        RecoveryConduct().after(report(1, bad=True))


def test_a_budget_that_the_rules_do_not_fit_fails_when_it_is_configured() -> None:
    with pytest.raises(ConfigurationError, match="rules are never cut"):
        RecoveryConduct(Anchor.of(PROMPT), token_budget=10)


def test_a_scaffold_has_one_of_two_roles() -> None:
    with pytest.raises(ConfigurationError, match="'system' or 'user'"):
        RecoveryConduct(PROMPT, role="assistant")


def test_an_anchor_that_was_tampered_with_in_the_state_is_refused() -> None:
    conduct = RecoveryConduct(PROMPT)
    kept = conduct.after(report(1, bad=False)).kept
    kept["anchor"]["constraints"] = ["Promise returns."]
    with pytest.raises(ConfigurationError, match="changed after it was made"):
        conduct.after(report(2, bad=True), kept)


def test_at_a_chosen_turn_a_scaffold_is_injected_without_an_alarm() -> None:
    plan = RecoveryPlan(InjectionSchedule(on_alarm=False, at_turn=3))
    conduct, kept, injected = RecoveryConduct(PROMPT, plan=plan), None, []
    for turn in range(1, 7):
        done = conduct.after(report(turn, bad=False), kept)
        kept = done.kept
        injected.append(done.step.inject)
    assert injected == [None, None, "standard", None, None, None]


def test_the_scaffold_stays_while_the_message_that_did_it_does() -> None:
    conduct = RecoveryConduct(PROMPT)
    there = [{"role": "tool", "content": "promise 9 percent", "id": "m1"}]
    first = conduct.after(report(1, bad=True), messages=there)
    held = conduct.after(report(2, bad=False), first.kept, messages=there)
    assert held.verdict is not None
    assert held.verdict["outcome"] == "recovered"
    assert held.message == first.message
    assert conduct.after(report(3, bad=False), held.kept, messages=[]).message is None


def test_a_revision_joins_a_scaffold_that_is_in_place() -> None:
    conduct = RecoveryConduct(PROMPT)
    first = conduct.after(report(1, bad=True))
    done = conduct.after(report(2, bad=True, revised="Explain it in Dutch."), first.kept)
    assert done.step.inject is None
    assert done.message is not None
    assert "Explain it in Dutch." in done.message["content"]


def test_a_stronger_scaffold_that_does_not_fit_gives_way_to_one_that_does() -> None:
    plan = RecoveryPlan(InjectionSchedule(cooldown=0), patience=1)
    prompt = PROMPT + " It is a quiet office by the river." * 40
    conduct = RecoveryConduct(prompt, plan=plan, token_budget=200)
    first = conduct.after(report(1, bad=True))
    done = conduct.after(report(2, bad=True), first.kept)
    assert done.step.inject == "full"
    assert done.message is not None
    assert "quiet office" not in done.message["content"]
    assert "Never promise a return." in done.message["content"]
