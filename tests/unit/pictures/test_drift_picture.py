from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from matplotlib.figure import Figure

from driftguard_langgraph import ConfigurationError, DriftReport, MissingExtra, plot_drift
from driftguard_langgraph.drift.report import Anomaly, DriftVerdict, Span
from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.pictures import plots
from driftguard_langgraph.pictures.drift_findings import (
    alarms_of,
    injections_of,
    summary_of,
    title_of,
)
from driftguard_langgraph.pictures.drift_rules import MOST_ROWS, rules_of
from tests.picture_samples import HOSTILE, attacked_session, covered, png_of, words_of

Session = tuple[list[DriftReport], tuple[Any, ...]]


@pytest.fixture(scope="module")
def session() -> Session:
    return attacked_session()


def report(turn: int, **values: Any) -> DriftReport:
    return DriftReport(turn, f"m{turn}", Channel.USER, **values)


def anomaly(turn: int, rule: str, weight: float = 0.5) -> Anomaly:
    return Anomaly(rule, weight, turn, Channel.TOOL, Span(f"m{turn}", "words"))


def test_an_attack_with_recovery_is_told_in_the_title_and_marked(session: Session) -> None:
    reports, verdicts = session
    figure = plot_drift(reports, injections=verdicts)
    words = words_of(figure)
    start = next(each.turn for each in reports if each.alarm)
    over = next(each.turn for each in reports if each.turn > start and not each.alarm)
    assert words[0].startswith(f"Alarm at turn {start}, over at turn {over}")
    assert {"standard scaffold", "recovered", "ALARM"} <= set(words)
    assert any(word.startswith("instructions overridden (tool)") for word in words)
    assert set(DriftVerdict) <= set(words)
    assert {"fact", "task framing", "vocabulary"} <= set(words)
    assert covered(figure) == []


def test_reports_as_json_give_the_same_picture(session: Session) -> None:
    reports, verdicts = session
    plain = [each.to_dict() for each in reports], [each.to_dict() for each in verdicts]
    figure = plot_drift(plain[0], injections=plain[1])
    assert words_of(figure) == words_of(plot_drift(reports, injections=verdicts))


def test_a_message_that_was_measured_twice_is_one_turn(session: Session) -> None:
    reports, _ = session
    twice = plot_drift([*reports, reports[-1], reports[2]])
    assert words_of(twice) == words_of(plot_drift(reports))


@pytest.mark.parametrize(
    ("alarms", "scores", "title"),
    [
        ("...", (100, 100, 100), "No alarm in 3 turns; the topic stays FRESH"),
        (".", (60,), "No alarm in 1 turn; MODERATE at turn 1"),
        ("..!", (100, 100, 100), "Alarm at turn 3; the topic stays FRESH"),
        (
            ".!!", (100, 40, 95),
            "Alarm at turn 2, still standing at turn 3; SEVERE at turn 2, FRESH again at turn 3",
        ),
        (".!.", (100, 100, 100), "Alarm at turn 2, over at turn 3; the topic stays FRESH"),
        (
            "!.!.", (100, 100, 20, 30),
            "2 alarms, the first at turn 1, over at turn 4; CRITICAL at turn 3",
        ),
    ],
    ids=["none", "one turn", "at the end", "standing", "over", "two"],
)  # fmt: skip
def test_the_title_is_the_finding(alarms: str, scores: tuple[float, ...], title: str) -> None:
    reports = [
        report(turn, alarm=sign == "!", score=float(score))
        for turn, (sign, score) in enumerate(zip(alarms, scores, strict=True), 1)
    ]
    assert title_of(reports) == title
    assert words_of(plot_drift(reports))[0] == title


def test_an_alarm_lasts_to_the_turn_before_it_is_over() -> None:
    reports = [report(turn, alarm=turn in {2, 3, 6}) for turn in range(1, 7)]
    spans = [(alarm.start, alarm.last, alarm.over) for alarm in alarms_of(reports)]
    assert spans == [(2, 3, 4), (6, 6, None)]


def test_a_turn_number_is_enough_to_mark_an_injection() -> None:
    words = words_of(plot_drift([report(1), report(2), report(3)], injections=[2]))
    assert "scaffold" in words
    assert any("scaffold at turn 2" in word for word in words)


def test_an_injection_outside_of_the_session_is_named_but_not_marked() -> None:
    words = words_of(plot_drift([report(5), report(6)], injections=[2]))
    assert "scaffold" not in words
    assert "scaffold at turn 2" in words[1]


def test_of_many_anomalies_the_gravest_are_named_and_none_covers_another() -> None:
    reports = [
        report(
            turn, corruption=turn / 80, alarm=turn > 30,
            anomalies=(anomaly(turn, f"rule_number_{turn}", 0.1 + turn / 100),),
        )
        for turn in range(1, 80)
    ]  # fmt: skip
    figure = plot_drift(reports, injections=[10, 11, 40])
    assert covered(figure) == []
    names = [word for word in words_of(figure) if word.startswith("rule number")]
    assert 5 < len(names) < 79
    assert "rule number 79 (tool)" in names


def test_names_of_rules_stay_in_their_rows_and_right_of_the_edge_they_turn_round() -> None:
    reports = [report(turn, anomalies=(anomaly(turn, "constraint_waived"),)) for turn in (1, 2, 9)]
    rules = rules_of(reports, lambda turn: 60 * turn, right=600)
    assert [rule.side for rule in rules] == ["left", "left", "right"]
    rows = [rule.row for rule in rules]
    assert rows[0] is not None
    assert rows[1] is not None
    assert MOST_ROWS > rows[0] > rows[1] >= 0


def test_background_that_good_conversations_have_is_not_marked() -> None:
    reports = [report(1, anomalies=(anomaly(1, "forbidden_approached", 0.03),))]
    assert rules_of(reports, lambda turn: 60 * turn, right=600) == []


def test_two_thousand_turns_are_readable() -> None:
    reports = [report(turn, score=100 - turn % 50) for turn in range(1, 2001)]
    figure = plot_drift(reports)
    assert covered(figure) == []
    numbers = [word for word in words_of(figure) if word.isdigit() and int(word) > 100]
    assert len(numbers) <= 25


@pytest.mark.parametrize("reports", [[], [report(0)]], ids=["none", "before the first"])
def test_without_a_turn_it_says_how_to_begin(reports: list[DriftReport]) -> None:
    figure = plot_drift(reports)
    assert words_of(figure)[0] == "No turn measured yet"
    assert covered(figure) == []


def test_one_report_is_a_picture(session: Session) -> None:
    figure = plot_drift(session[0][:1])
    assert covered(figure) == []
    assert png_of(figure).startswith(b"\x89PNG")


def test_hostile_names_are_drawn_as_text_without_a_warning() -> None:
    hostile = report(1, anomalies=(anomaly(1, HOSTILE),), components={HOSTILE: 0.5})
    figure = plot_drift([hostile, replace(report(2), components={})])
    assert png_of(figure).startswith(b"\x89PNG")
    assert not set(" ".join(words_of(figure))) & set("\x00\x1b\u202e\n\t")


def test_it_draws_on_axes_of_the_user(session: Session) -> None:
    figure = Figure(figsize=(9, 6))
    assert plot_drift(session[0], ax=figure.add_subplot()) is figure
    assert png_of(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("reports", "injections"),
    [(["turn 1"], []), ([{"turn": 1}], []), ([report(1)], ["turn 1"]), ([report(1)], [True])],
    ids=["text", "half a report", "text as injection", "flag"],
)
def test_what_is_no_report_and_no_injection_is_refused(reports: Any, injections: Any) -> None:
    with pytest.raises(ConfigurationError):
        plot_drift(reports, injections=injections)


def test_a_scaffold_that_failed_is_said_to_have(session: Session) -> None:
    failed = replace(session[1][0], outcome="failed", recovered_at=None)
    told = summary_of(session[0], injections_of([failed]))
    assert told.endswith("standard scaffold at turn 3: failed")


def test_without_matplotlib_the_install_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"plot_drift needs .*driftguard-langgraph\[plot\]"):
        plot_drift([])
