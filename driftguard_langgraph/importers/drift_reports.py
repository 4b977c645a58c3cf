"""Reports of te-drift-detector: `session`, `detect` and `eval`, as their `--json` wrote them.

They hold numbers about a session and none of its words, and their numbers cannot be turned into
ours: other features, no upper bound, one alarm for every distance. So a report is checked, counted
and kept as it is; the log that it was made of can be measured anew, with the same baseline, mode
and window, and the two be laid side by side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from driftguard_langgraph.drift.report import ThreatLevel
from driftguard_langgraph.errors import CorruptStore

UNKNOWN = "UNKNOWN"
"""The tier of a report in which nothing was measured."""


@dataclass(frozen=True, slots=True)
class PeerReport:
    """One report.

    Attributes:
        name: What was measured: a log, a strategy of `eval`, or nothing that the file names.
        log: The log that `session` read, as it was named on the command line.
        mode: `cumulative` or `sliding-window`; None if the report does not tell.
        window_size: Turns of the window, if it was one.
        baseline_turns: First turns that were the baseline; None if the report does not tell.
        threat_level: Its tier at the end.
        readings: How many turns were measured.
        anomalies: How many of them were called anomalous.
        first_anomaly: The first of these; None if there is none.
        max_drift: Greatest absolute drift.
        content: The report as it is.
    """

    name: str
    log: str | None
    mode: str | None
    window_size: int | None
    baseline_turns: int | None
    threat_level: str
    readings: int
    anomalies: int
    first_anomaly: int | None
    max_drift: float
    content: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of it as plain JSON, without the report itself."""
        return {
            "name": self.name,
            "log": self.log,
            "mode": self.mode,
            "window_size": self.window_size,
            "baseline_turns": self.baseline_turns,
            "threat_level": self.threat_level,
            "readings": self.readings,
            "anomalies": self.anomalies,
            "first_anomaly": self.first_anomaly,
            "max_drift": self.max_drift,
        }


def is_report(document: object) -> bool:
    """Whether a JSON document is a report of te-drift-detector, or a list of `eval`."""
    if isinstance(document, list):
        return bool(document) and all(
            isinstance(each, Mapping) and {"strategy", "report"} <= each.keys() for each in document
        )
    if not isinstance(document, Mapping):
        return False
    return {"readings", "threat_level", "anomalies_detected"} <= document.keys() or (
        "error" in document and "session_jsonl" in document
    )


def read_reports(document: Any) -> list[PeerReport]:
    """Return the reports of a document that `is_report`.

    Raises:
        CorruptStore: It contradicts itself, or something in it is of the wrong kind.
    """
    if not isinstance(document, list):
        return [_report(document, None)]
    return [_report(_mapping(each["report"], "report"), each["strategy"]) for each in document]


def _report(raw: Mapping[str, Any], strategy: object) -> PeerReport:
    readings = [_mapping(each, "a reading") for each in _listed(raw.get("readings", []))]
    for reading in readings:
        _number(reading, "absolute_drift")
        _whole(reading, "turn")
        if not isinstance(reading.get("is_anomaly"), bool):
            _damaged("a reading does not say whether it is anomalous")
    level = raw.get("threat_level", UNKNOWN)
    if level not in {*ThreatLevel, UNKNOWN}:
        _damaged(f"its threat level is {ascii(level)[:40]}")
    total = _whole(raw, "total_turns") if "total_turns" in raw else 0
    anomalous = [reading["turn"] for reading in readings if reading["is_anomaly"]]
    if total != len(readings) or raw.get("anomalies_detected", 0) != len(anomalous):
        _damaged("it counts other readings than it holds")
    log, mode = raw.get("session_jsonl"), raw.get("mode")
    loaded = _whole(raw, "total_turns_loaded") if "total_turns_loaded" in raw else None
    return PeerReport(
        name=_name(strategy, log),
        log=log if isinstance(log, str) else None,
        mode=mode if isinstance(mode, str) else None,
        window_size=_whole(raw, "window_size") if "window_size" in raw else None,
        baseline_turns=loaded - total if loaded and readings else None,
        threat_level=str(level),
        readings=len(readings),
        anomalies=len(anomalous),
        first_anomaly=min(anomalous, default=None),
        max_drift=max((reading["absolute_drift"] for reading in readings), default=0.0),
        content=raw,
    )


def _name(strategy: object, log: object) -> str:
    found = next((each for each in (strategy, log) if isinstance(each, str) and each), "report")
    return found.encode("utf-8", "replace").decode()


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        _damaged(f"{what} is {type(value).__name__}")
    return value


def _listed(value: object) -> list[Any]:
    if not isinstance(value, list):
        _damaged(f"its readings are {type(value).__name__}")
    return value


def _whole(raw: Mapping[str, Any], name: str) -> int:
    value = raw.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _damaged(f"{name} is {ascii(value)[:40]}")
    return value


def _number(raw: Mapping[str, Any], name: str) -> float:
    value = raw.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        _damaged(f"{name} is {ascii(value)[:40]}")
    return float(value)


def _damaged(why: str) -> NoReturn:
    raise CorruptStore(f"it is no report of te-drift-detector any more: {why}.")
