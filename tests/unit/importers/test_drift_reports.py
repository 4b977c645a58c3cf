"""Reports of te-drift-detector: checked and counted."""

from __future__ import annotations

from typing import Any

import pytest

from driftguard_langgraph.errors import CorruptStore
from driftguard_langgraph.importers.drift_reports import is_report, read_reports
from tests.peer_samples import drift_report


def test_a_session_report_tells_how_it_was_measured() -> None:
    document = drift_report([2, 3], mode="sliding-window", window_size=10, total_turns_loaded=5)
    assert is_report(document)
    [report] = read_reports(document)
    assert report.to_dict() == {
        "name": "session.jsonl",
        "log": "session.jsonl",
        "mode": "sliding-window",
        "window_size": 10,
        "baseline_turns": 2,
        "threat_level": "LOW",
        "readings": 3,
        "anomalies": 2,
        "first_anomaly": 2,
        "max_drift": 0.3,
    }
    assert report.content == document


def test_the_reports_of_eval_and_detect_name_no_log() -> None:
    own = drift_report([], session_jsonl=None)
    del own["mode"], own["session_jsonl"], own["total_turns_loaded"]
    [detected] = read_reports(own)
    assert (detected.name, detected.log, detected.baseline_turns) == ("report", None, None)
    assert detected.first_anomaly is None
    document = [
        {"strategy": name, "report": drift_report([1])} for name in ("bias_drift", "fact_injection")
    ]
    assert is_report(document)
    assert [each.name for each in read_reports(document)] == ["bias_drift", "fact_injection"]


def test_a_report_of_nothing_is_one() -> None:
    document = {"error": "no turns found", "session_jsonl": "x.jsonl", "total_turns_loaded": 0}
    assert is_report(document)
    [report] = read_reports(document)
    assert (report.threat_level, report.readings, report.baseline_turns) == ("UNKNOWN", 0, None)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"readings": None}, "readings are NoneType"),
        ({"readings": [1]}, "a reading is int"),
        ({"total_turns": 7}, "other readings"),
        ({"anomalies_detected": 0}, "other readings"),
        ({"threat_level": "PURPLE"}, "'PURPLE'"),
        ({"total_turns_loaded": -1}, "-1"),
        ({"window_size": "ten"}, "window_size"),
        (
            {"readings": [{"turn": 1, "absolute_drift": float("nan"), "is_anomaly": False}]},
            "absolute_drift is nan",
        ),
        ({"readings": [{"turn": 1, "absolute_drift": 0.1}]}, "does not say"),
        ({"readings": [{"absolute_drift": 0.1, "is_anomaly": True}]}, "turn is None"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damage_is_named(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(CorruptStore, match="te-drift-detector any more") as raised:
        read_reports({**drift_report(), **wrong})
    assert why in str(raised.value)


@pytest.mark.parametrize(
    "document", [None, [], [{"strategy": "x"}], {"readings": []}, {"error": "x"}], ids=repr
)
def test_other_json_is_no_report(document: object) -> None:
    assert not is_report(document)
