"""Curves and reports of drift on a terminal."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from driftguard_langgraph.cli.drift.render import WIDTH, render_score, render_table, sparkline
from driftguard_langgraph.drift.report import Anomaly, DriftReport, Span, ThreatLevel
from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.evaluation.drift_scores import Reading, SessionScore


def shown(rendered: object) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(rendered)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def a_score(*reports: DriftReport, baseline: int = 1, left_out: int = 0) -> SessionScore:
    readings = tuple(Reading(f"line {report.turn}", report) for report in reports)
    final = reports[-1] if reports else DriftReport(0, "baseline", Channel.SCAFFOLD)
    return SessionScore("chat[red].jsonl", baseline, readings, final, left_out)


def anomaly(said: str, against: str | None = None, weight: float = 0.6, turn: int = 1) -> Anomaly:
    other = None if against is None else Span("baseline", against)
    return Anomaly("constraint_waived", weight, turn, Channel.USER, Span("m", said), other)


class _Latin(io.StringIO):
    encoding = "latin-1"


def test_a_curve_has_a_block_a_turn_from_low_to_high() -> None:
    line = sparkline([0.0, 50.0, 100.0], 100.0, lowest=True)
    assert len(line) == 3
    assert line == "".join(sorted(line))
    assert len(set(line)) == 3


def test_a_long_curve_shows_the_worst_of_each_part() -> None:
    values = [100.0] * 600
    values[301] = 0.0
    line = sparkline(values, 100.0, lowest=True)
    assert len(line) == WIDTH
    assert line.count(sparkline([0.0], 100.0, lowest=True)) == 1
    assert sparkline([], 100.0, lowest=True) == ""


def test_a_terminal_without_blocks_gets_plain_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", _Latin())
    assert sparkline([0.0, 1.0], 1.0, lowest=False).isascii()


def test_a_report_names_turn_rule_and_words_and_obeys_no_markup() -> None:
    calm = DriftReport(1, "a", Channel.USER, score=95.0, explanation="All is well.")
    bad = DriftReport(
        2,
        "b",
        Channel.USER,
        score=60.0,
        anomalies=(anomaly("skip [bold]it[/bold]\x1b[2J", "never skip it", turn=2),),
        corruption=0.7,
        alarm=True,
        threat_level=ThreatLevel.MEDIUM,
        peak_level=ThreatLevel.MEDIUM,
        explanation="Turn 2 waives a rule.",
    )
    text = shown(render_score(a_score(calm, bad, left_out=3)))
    for part in (
        "chat[red].jsonl",
        "3 more not looked at",
        "alarm at turn 2",
        "MEDIUM",
        "95 -> 60",
        "constraint waived",
        "[bold]it[/bold]",
        "never skip it",
        "Turn 2 waives a rule.",
    ):
        assert part in text
    assert "\x1b" not in text


def test_an_alarm_that_has_ended_says_so() -> None:
    on = DriftReport(1, "a", Channel.USER, corruption=0.7, alarm=True)
    off = DriftReport(2, "b", Channel.USER, corruption=0.1)
    assert "over since" in shown(render_score(a_score(on, off)))


def test_the_gravest_of_many_anomalies_are_shown_and_the_rest_is_counted() -> None:
    many = tuple(anomaly(f"word {number}", weight=number / 100) for number in range(50))
    text = shown(render_score(a_score(DriftReport(1, "a", Channel.USER, anomalies=many))))
    assert "word 49" in text
    assert "word 3 " not in text
    assert "25 lighter anomalies are in --json" in text


def test_background_is_counted_and_not_shown() -> None:
    light = (anomaly("a hint", weight=0.05),)
    text = shown(render_score(a_score(DriftReport(1, "a", Channel.USER, anomalies=light))))
    assert "a hint" not in text
    assert "1 lighter anomaly is in --json" in text


def test_a_conversation_that_is_all_baseline_is_no_error() -> None:
    assert "nothing after its baseline" in shown(render_score(a_score()))


def test_several_conversations_are_a_row_each() -> None:
    alarmed = a_score(DriftReport(1, "a", Channel.USER, corruption=0.7, alarm=True))
    text = shown(render_table([alarmed, a_score()]))
    assert "turn 1" in text
    assert text.count("chat[red].jsonl") == 2
