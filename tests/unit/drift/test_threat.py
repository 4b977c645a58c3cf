from __future__ import annotations

import json
from itertools import pairwise

import pytest

from driftguard_langgraph.drift.report import Anomaly, Span, ThreatLevel
from driftguard_langgraph.drift.threat import Threat
from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.settings import DriftGuardSettings

SETTINGS = DriftGuardSettings()


def anomaly(weight: float) -> Anomaly:
    return Anomaly("some_rule", weight, 1, Channel.SCAFFOLD, Span("m", "words"))


def run(*weights: float | None, answered: bool = False, upheld: bool = False) -> list[Threat]:
    threat, seen = Threat(), []
    for weight in weights:
        found = [] if weight is None else [anomaly(weight)]
        threat = threat.after(found, SETTINGS, answered=answered, upheld=upheld)
        seen.append(threat)
    return seen


def test_two_pieces_of_evidence_are_joined_as_independent_ones() -> None:
    both = Threat().after([anomaly(0.3), anomaly(0.4)], SETTINGS)
    assert both.corruption == pytest.approx(1 - 0.7 * 0.6)


def test_decisive_evidence_alarms_at_once_and_weak_evidence_only_when_it_lasts() -> None:
    assert run(0.5)[0].alarm
    assert not run(0.3)[0].alarm
    assert run(0.3, 0.3, 0.3)[-1].alarm


def test_an_alarm_ends_at_the_release_and_not_before() -> None:
    seen = run(0.6, *[None] * 60)
    alarmed = [threat.alarm for threat in seen]
    assert alarmed == sorted(alarmed, reverse=True)
    assert not alarmed[-1]
    assert all(threat.alarm == (threat.corruption > 0.25) for threat in seen)
    assert any(threat.alarm and threat.corruption < 0.5 for threat in seen)


def test_levels_rise_with_the_evidence_and_fall_without_it_while_the_peak_stays() -> None:
    up = run(0.3, 0.5, 0.6, 0.6, 0.6)
    assert [each.level.rank for each in up] == sorted(each.level.rank for each in up)
    assert up[-1].level is ThreatLevel.CRITICAL
    down = run(0.3, 0.5, 0.6, 0.6, 0.6, *[None] * 150)
    assert down[-1].level is ThreatLevel.NORMAL
    assert down[-1].peak is ThreatLevel.CRITICAL
    assert all(b.corruption < a.corruption for a, b in pairwise(down[5:]))


def test_an_alarm_ends_sooner_with_good_answers_and_soonest_with_answers_that_uphold() -> None:
    def turns(**kind: bool) -> int:
        return sum(threat.alarm for threat in run(0.8, *[None] * 80, **kind))

    assert turns(answered=True, upheld=True) <= 5
    assert turns(answered=True) in range(10, 20)
    assert turns() in range(20, 30)


def test_what_is_common_in_good_conversations_keeps_no_alarm_up() -> None:
    common, silence = run(0.8, *[0.1] * 9, answered=True), run(0.8, *[None] * 9, answered=True)
    assert [each.corruption for each in common] == [each.corruption for each in silence]
    assert run(0.8, *[0.2] * 80, answered=True)[-1].alarm


def test_without_an_alarm_evidence_fades_by_half_in_seven_turns() -> None:
    seen = run(0.4, *[None] * 7)
    assert seen[6].corruption > 0.2 > seen[7].corruption


def test_weak_evidence_is_low_for_three_turns_and_the_background_is_nothing() -> None:
    assert [each.level.value for each in run(0.1, None, None, None)] == [
        "LOW", "LOW", "LOW", "NORMAL",
    ]  # fmt: skip
    assert {each.level.value for each in run(0.05, 0.05)} == {"NORMAL"}


def test_the_state_survives_json() -> None:
    threat = run(0.5, None)[-1]
    assert Threat.restored(json.loads(json.dumps(threat.snapshot()))) == threat
