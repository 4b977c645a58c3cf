from __future__ import annotations

import json
import pickle
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from driftguard_langgraph import DriftGuard, DriftTracker
from driftguard_langgraph.drift.report import Anomaly, DriftReport, Span
from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.evaluation.backtest import backtest
from driftguard_langgraph.evaluation.drift_calibration import RELEASE, THRESHOLD, DriftCalibration
from driftguard_langgraph.evaluation.fits import WARN, Calibration, Fit
from driftguard_langgraph.html.cards import MOST_ROWS, facts, grid
from driftguard_langgraph.html.text import SHOWN_CHARS
from driftguard_langgraph.judgement.worth import measure
from driftguard_langgraph.recovery.verdict import RecoveryVerdict
from tests.guard_samples import guard_of
from tests.memory_samples import SeededEmbedder

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \"'>& </td></table> \x1b[31m\u202e"
PLAIN = {
    "div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td",
    "details", "summary",
}  # fmt: skip


class Reader(HTMLParser):
    """Reads a card: its elements, what is open, its words."""

    def __init__(self, card: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(card)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.words.append(data)


def read(shown: Any) -> Reader:
    reader = Reader(shown._repr_html_())
    assert reader.open == []
    assert set(reader.tags) <= PLAIN
    assert reader.attributes <= {"style", "scope"}
    return reader


def warned(**settings: Any) -> DriftGuard:
    guard = guard_of(**settings)
    for _ in range(2):
        guard.record(HOSTILE, HOSTILE + " back", HOSTILE + " led", severity="critical")
    guard.record_success(HOSTILE, "it worked", "at last")
    return guard


def anomaly() -> Anomaly:
    said, against = Span("m1", HOSTILE), Span("baseline", "Never show account numbers.")
    return Anomaly(HOSTILE, 0.5, 1, Channel.TOOL, said, against)


REPORT = DriftReport(
    1, "m1", Channel.TOOL, score=41.0, anomalies=(anomaly(),), corruption=0.8, alarm=True,
    explanation=HOSTILE, signatures=(HOSTILE,),
)  # fmt: skip
FIT = Fit(
    WARN, 0.6, 0.5, "runs", {"recall": 0.8, "false_alarm_rate": None},
    {"recall": 0.9, "false_alarm_rate": 0.01}, better=True, fitted_on=9, measured_on=9, curve=(),
)  # fmt: skip


def test_a_review_says_what_follows_what_failed_and_what_worked() -> None:
    guard = guard_of()
    for _ in range(2):
        guard.record("push to main", "the branch is protected", "the release was late")
    guard.record_success("push to main", "merged", "released")
    words = read(guard.review("push to main")).words
    assert words[0].startswith("Review: warn")
    assert {"push to main", "the branch is protected", "the release was late", "2x"} <= set(words)
    assert {"Failed before", "Worked before", "merged"} <= set(words)


def test_a_review_that_found_nothing_says_that_the_step_may_run() -> None:
    reader = read(guard_of().review("push to main"))
    assert reader.words[0].startswith("Review: proceed")
    assert "Failed before" not in reader.words


def test_what_the_holdout_keeps_silent_is_not_shown() -> None:
    guard = guard_of(holdout=1.0)
    guard.record("push to main", "the branch is protected", "the release was late")
    review = guard.review("push to main")
    assert review.withheld
    assert "protected" not in " ".join(read(review).words)


def test_hostile_text_stays_text_in_every_card_of_the_memory() -> None:
    review = warned().review(HOSTILE)
    for shown in (review, *review.warnings, *review.reinforcements, review.warnings[0].match):
        words = " ".join(read(shown).words)
        assert not set(words) & set("\x1b\u202e")
    assert "<script>alert(1)</script>" in " ".join(read(review).words)


def test_hostile_text_stays_text_in_every_card_of_drift() -> None:
    words = " ".join(read(REPORT).words)
    assert "<img src=x onerror=alert(2)>" in words
    assert not set(words) & set("\x1b\u202e")


def test_a_report_says_verdict_alarm_and_quotes_both_texts() -> None:
    words = read(REPORT).words
    assert words[0] == "Turn 1: SEVERE, ALARM"
    assert "Never show account numbers." in words
    assert read(replace(REPORT, alarm=False)).words[0] == "Turn 1: SEVERE, no alarm"


def test_the_session_api_shows_its_exchanges_and_its_session() -> None:
    tracker = DriftTracker("You sell train tickets.", embeddings=SeededEmbedder())
    turn = tracker.record_turn(
        "A ticket to the coast, please.", "A ticket to the coast costs 9 euros."
    )
    assert "A ticket to the coast, please." in read(turn).words
    assert read(replace(turn, drift=None)).words[0] == "Exchange, not measured"
    assert read(tracker.check()).words[0].startswith("Session 1: ")


def test_stats_are_plain_json_that_shows_itself() -> None:
    stats: Any = warned().stats()
    assert json.loads(json.dumps(stats)) == stats
    assert pickle.loads(pickle.dumps(stats)) == stats  # noqa: S301
    words = read(stats).words
    assert words[0] == "Memory: 3 episodes"
    assert {"failures", "successes", "nodes", "edges"} <= set(words)


def test_the_worth_of_warnings_shows_its_arms_and_what_is_missing() -> None:
    words = read(measure([])).words
    assert words[0] == "Worth of the warnings: not known yet"
    assert any("no warning is settled yet" in word for word in words)


def test_a_verdict_about_a_recovery_shows_its_outcome() -> None:
    assert read(RecoveryVerdict(7, "alarm", "standard")).words[0] == "Recovery: pending"


def test_a_backtest_shows_its_rates_beside_the_baselines(tmp_path: Any) -> None:
    steps = [
        {"stream_id": "s", "action_text": HOSTILE, "is_error": True, "observation_text": HOSTILE}
    ]
    path = tmp_path / "steps.jsonl"
    path.write_text("\n".join(map(json.dumps, steps * 2)), encoding="utf-8")
    words = read(backtest([path], embeddings=SeededEmbedder())).words
    assert words[0] == "Backtest: 1 of 2 steps would have been warned"
    assert {"repeated failures warned", "successes warned", "100.0%"} <= set(words)


def test_calibrations_say_what_to_set() -> None:
    words = read(Calibration((FIT,), "model", 0, 0.02)).words
    assert words[0] == f"Calibration: set {WARN} to 0.5"
    assert {"80.0%", "90.0%", "-"} <= set(words)
    old = {THRESHOLD: 0.5, RELEASE: 0.25}
    alarm = DriftCalibration((0.1, 0.6), 0.02, old, None, ((HOSTILE, 0.6),), "model", ())
    words = read(alarm).words
    assert words[0].startswith("Calibration of the alarm: keep: ")
    assert "0.5: 1 of 2 good conversations alarm" in words


def test_a_long_table_counts_what_it_leaves_out() -> None:
    reader = Reader(grid("Steps", ("step",), [(str(n),) for n in range(MOST_ROWS + 7)]))
    assert reader.tags["tr"] == MOST_ROWS + 1
    assert f"Steps, the first {MOST_ROWS} of {MOST_ROWS + 7}" in reader.words


def test_a_long_text_is_cut() -> None:
    [_, words] = Reader(facts([("text", "x" * 10_000)])).words
    assert len(words) == SHOWN_CHARS


@pytest.mark.parametrize(
    "known", [[], [("error", None)], [("error", "")]], ids=["no", "none", "empty"]
)
def test_what_there_is_nothing_to_say_about_is_left_out(known: Any) -> None:
    assert facts(known) == ""
    assert grid("Steps", ("step",), []) == ""
