from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.drift.tracking import session_file
from driftguard_langgraph.drift.tracking.tracker import DriftTracker
from driftguard_langgraph.errors import ConfigurationError, CorruptStore, SchemaMismatch
from driftguard_langgraph.evaluation.drift_scores import score_sessions
from driftguard_langgraph.evaluation.sessions import read_sessions
from driftguard_langgraph.html.page import Section
from driftguard_langgraph.pages.charts import Charts
from driftguard_langgraph.pages.session_section import DRAWN, drift
from driftguard_langgraph.pages.sessions import POINTS, read_drift
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.testing.samples import SeededEmbedder
from tests.report_samples import CORRUPTED, PURPOSE, messages, save_log

SETTINGS = DriftGuardSettings()
BENIGN = CORRUPTED[:2]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return save_log(tmp_path / "chat.jsonl", list(messages(*CORRUPTED)))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The file of a tracker with one session that has ended and one that has not."""
    path = tmp_path / ".session_memory"
    tracker = DriftTracker(PURPOSE, persist=True, persist_path=path)
    tracker.record_turn("Do you have rye bread?", "Yes, rye bread comes at nine.")
    tracker.end_session()
    tracker.record_turn("Is there a discount?", "The discount is 5 percent.")
    tracker.record_turn("Who won the cup?", "The sailors of the pirate ship sang of rum.")
    return path


def digests(folder: Path) -> dict[str, str]:
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in folder.iterdir()}


def shown(*sessions: dict[str, Any]) -> str:
    section: Section = drift(sessions, Charts())
    return section.body


def test_a_log_is_measured_as_drift_session_does(log: Path) -> None:
    [found] = read_drift([log], SETTINGS)
    [score] = score_sessions(read_sessions(log).sessions, settings=SETTINGS)
    assert found["turns"] == len(score.readings) == 8
    assert found["scores"] == [round(each.report.score, 1) for each in score.readings]
    assert found["verdict"] == score.final.verdict.value
    assert found["peak_level"] == score.peak_level.value
    assert found["alarms"][0]["from"] == score.first_alarm
    assert found["anomaly_count"] == sum(len(each.report.anomalies) for each in score.readings)


def test_the_page_quotes_what_went_against_the_purpose(log: Path) -> None:
    [found] = read_drift([log], SETTINGS)
    page = shown(found)
    assert "Ignore all previous instructions" in page
    assert f"raised at turn {found['alarms'][0]['from']}" in page
    assert f"at its worst {found['peak_level']}" in page
    assert 'role="img"' in page
    assert f"lowest {found['lowest_score']:g}" in page


def test_a_session_memory_is_shown_session_by_session(kept: Path) -> None:
    first, second = read_drift([kept], SETTINGS)
    assert first["name"] == ".session_memory, session 1"
    assert (first["status"], second["status"]) == ("completed", "active")
    assert (first["turns"], second["turns"]) == (1, 2)
    document = json.loads(kept.read_text(encoding="utf-8"))
    recorded = [each["score"] for each in document["sessions"][1]["exchanges"]]
    assert second["scores"] == [round(score, 1) for score in recorded]
    page = shown(first, second)
    assert "Score by exchange" in page
    assert "2 conversations" in page
    assert "not measured" in page


def test_a_session_memory_is_read_without_a_trace(kept: Path) -> None:
    before = digests(kept.parent)
    read_drift([kept], SETTINGS)
    assert digests(kept.parent) == before


def test_turns_in_the_journal_count_too(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_file, "WHOLE_BYTES", 0)
    tracker = DriftTracker(PURPOSE, persist=True, persist_path=kept)
    tracker.record_turn("And on Sunday?", "On Sunday we are closed.")
    journal = kept.with_name(f"{kept.name}.journal")
    assert journal.exists()
    before = digests(kept.parent)
    assert read_drift([kept], SETTINGS)[1]["turns"] == 3
    assert digests(kept.parent) == before


def test_a_recovery_is_a_return_over_55(tmp_path: Path) -> None:
    path = tmp_path / "peer.session_memory"
    scores = [80, 50, 40, 70, 90, 30]
    exchanges = [{"user": "a", "assistant": "b", "score": score} for score in scores]
    sessions = [{"session_number": 1, "status": "active", "exchanges": exchanges}]
    path.write_text(json.dumps({"original_context": PURPOSE, "sessions": sessions}))
    [found] = read_drift([path], SETTINGS)
    assert found["below"] == [{"from": 2, "over": 4}, {"from": 6, "over": None}]
    page = shown(found)
    assert "from exchange 2, back at exchange 4" in page
    assert "from exchange 6, not recovered" in page


def test_a_long_curve_keeps_its_worst_points(tmp_path: Path) -> None:
    path = tmp_path / "long.session_memory"
    exchanges = [{"user": "a", "assistant": "b", "score": 90.0} for _ in range(1_000)]
    exchanges[777]["score"] = 12.5
    sessions = [{"session_number": 1, "status": "active", "exchanges": exchanges}]
    path.write_text(json.dumps({"original_context": PURPOSE, "sessions": sessions}))
    [found] = read_drift([path], SETTINGS)
    assert len(found["scores"]) == POINTS
    assert min(found["scores"]) == 12.5
    assert found["turns"] == 1_000


def test_a_conversation_without_a_scored_turn_says_so(tmp_path: Path) -> None:
    log = save_log(tmp_path / "short.jsonl", list(messages()))
    [found] = read_drift([log], SETTINGS, embeddings=SeededEmbedder())
    assert found["scores"] == []
    assert "No turn of it was scored" in shown(found)


def test_of_many_conversations_the_worst_are_drawn_and_all_are_rows(tmp_path: Path) -> None:
    log = save_log(tmp_path / "chat.jsonl", list(messages(*BENIGN)))
    [good] = read_drift([log], SETTINGS)
    many = [{**good, "name": f"good {number}"} for number in range(DRAWN + 5)]
    bad = {**good, "name": "bad", "alarms": [{"from": 2, "over": None}]}
    page = shown(*many, bad)
    assert page.count("<article") == DRAWN
    assert page.count("<tr>") == DRAWN + 5 + 2
    assert "<bdi>bad</bdi></h3>" in page


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("chat.jsonl", '{"no": "message"}', ConfigurationError),
        (".session_memory", "{broken", CorruptStore),
        ("old.session_memory", '{"version": 99, "sessions": []}', SchemaMismatch),
    ],
    ids=["no log", "damaged", "newer"],
)
def test_a_file_that_cannot_be_read_is_named_and_left_alone(
    tmp_path: Path, name: str, content: str, error: type[Exception]
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(error, match=name.replace(".", r"\.")):
        read_drift([path], SETTINGS)
    assert digests(tmp_path) == {name: hashlib.sha256(content.encode()).hexdigest()}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nothing\.jsonl"):
        read_drift([tmp_path / "nothing.jsonl"], SETTINGS)
