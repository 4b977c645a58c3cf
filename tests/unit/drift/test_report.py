from __future__ import annotations

import json

import pytest

from driftguard_langgraph.drift.report import (
    Anomaly,
    DriftReport,
    DriftVerdict,
    Span,
    ThreatLevel,
    verdict_of,
)
from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.errors import ConfigurationError


@pytest.mark.parametrize(
    ("score", "verdict"),
    [
        (100, "FRESH"), (90, "FRESH"), (89.999, "MILD"), (75, "MILD"), (74.999, "MODERATE"),
        (55, "MODERATE"), (54.999, "SEVERE"), (35, "SEVERE"), (34.999, "CRITICAL"), (0, "CRITICAL"),
    ],
)  # fmt: skip
def test_verdicts_have_the_edges_of_the_seed(score: float, verdict: str) -> None:
    assert verdict_of(score) is DriftVerdict(verdict)


def test_effective_ends_at_55_and_reset_begins_below_35() -> None:
    at = {s: DriftReport(1, "m", Channel.USER, score=s) for s in (55.0, 54.9, 35.0, 34.9)}
    assert [at[s].is_effective for s in (55.0, 54.9)] == [True, False]
    assert [at[s].needs_reset for s in (35.0, 34.9)] == [False, True]


def test_a_report_survives_json() -> None:
    anomaly = Anomaly(
        "constraint_waived", 0.6, 4, Channel.SCAFFOLD, Span("m4", "skip the check"),
        Span("baseline", "Always check."), "a rule is waived",
    )  # fmt: skip
    report = DriftReport(
        4, "m4", Channel.SCAFFOLD, score=61.25, strategy_scores={"semantic": 40.5},
        anomalies=(anomaly,), revisions=(anomaly,), corruption=0.625, alarm=True,
        threat_level=ThreatLevel.MEDIUM, peak_level=ThreatLevel.HIGH, signatures=("s",),
        explanation="why", backend="model",
    )  # fmt: skip
    assert DriftReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    assert anomaly.message_ids == ("m4", "baseline")


@pytest.mark.parametrize("data", [{}, {"turn": 1}, {"channel": "nobody"}])
def test_what_is_no_report_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="no drift report"):
        DriftReport.from_dict(data)
