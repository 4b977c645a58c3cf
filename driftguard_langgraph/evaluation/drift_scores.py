"""Recorded conversations through the drift monitor, and what came of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.drift.report import DriftReport, ThreatLevel
from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.evaluation.pairs import Progress
from driftguard_langgraph.evaluation.session_formats.base import Message
from driftguard_langgraph.evaluation.sessions import Session
from driftguard_langgraph.settings import DriftGuardSettings

PHASE = "turns"
"""What `progress` is told to be counting."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is known after one message.

    Attributes:
        where: File and line of the message.
        report: The report after it.
    """

    where: str
    report: DriftReport

    def to_dict(self) -> dict[str, Any]:
        """Return the reading as plain JSON."""
        return {"where": self.where, **self.report.to_dict()}


@dataclass(frozen=True, slots=True)
class SessionScore:
    """How a conversation went.

    Attributes:
        name: Its name.
        baseline: How many of its first messages are the baseline; 0 if one was given.
        readings: One for every message that was measured: not for those of the baseline, and
            not for what only restates it. Turn 1 is the first after the baseline.
        final: The last report; of turn 0 if nothing was measured.
        left_out: Messages that were not looked at, by `max_turns`.
    """

    name: str
    baseline: int
    readings: tuple[Reading, ...]
    final: DriftReport
    left_out: int = 0

    @property
    def peak_level(self) -> ThreatLevel:
        """The highest threat level of the conversation."""
        return self.final.peak_level

    @property
    def max_corruption(self) -> float:
        """The highest corruption, 0..1; the alarm is raised where it reaches the threshold."""
        return max((reading.report.corruption for reading in self.readings), default=0.0)

    @property
    def first_alarm(self) -> int | None:
        """The turn at which the alarm was first raised; None if it never was."""
        return next((r.report.turn for r in self.readings if r.report.alarm), None)

    @property
    def worst(self) -> DriftReport:
        """The report of the highest corruption, of the lowest score if there is none."""
        reports = [reading.report for reading in self.readings] or [self.final]
        return max(reports, key=lambda report: (report.corruption, -report.score))

    def to_dict(self) -> dict[str, Any]:
        """Return the conversation with all readings as plain JSON."""
        final = self.final
        return {
            "name": self.name,
            "baseline_turns": self.baseline,
            "total_turns": len(self.readings),
            "left_out": self.left_out,
            "score": round(final.score, 2),
            "verdict": final.verdict.value,
            "lowest_score": round(min((r.report.score for r in self.readings), default=100.0), 2),
            "threat_level": final.threat_level.value,
            "peak_level": self.peak_level.value,
            "corruption": round(final.corruption, 4),
            "max_corruption": round(self.max_corruption, 4),
            "first_alarm": self.first_alarm,
            "alarm": final.alarm,
            "anomalies": sum(len(reading.report.anomalies) for reading in self.readings),
            "explanation": self.worst.explanation,
            "readings": [reading.to_dict() for reading in self.readings],
        }


def score_sessions(
    sessions: Sequence[Session],
    *,
    baseline: str | None = None,
    max_turns: int | None = None,
    settings: DriftGuardSettings | None = None,
    embeddings: object | None = None,
    progress: Progress | None = None,
) -> list[SessionScore]:
    """Watch recorded conversations, each with a monitor of its own.

    Args:
        sessions: The conversations.
        baseline: What all of them were told; None takes the first `drift_baseline_turns`
            messages of each.
        max_turns: Messages of each that are looked at; None for all.
        settings: The `drift_*` settings, and the embedder.
        embeddings: An embedder, or LangChain `Embeddings`, instead of the settings' one.
        progress: Told how far the work is.

    Raises:
        ConfigurationError: An argument is wrong.
    """
    settings = settings or DriftGuardSettings()
    embedder = resolve_embedder(embeddings, settings)
    tell = progress or (lambda phase, done, total: None)
    total = sum(len(session.messages[:max_turns]) for session in sessions)
    done, scores = 0, []
    for session in sessions:
        heard = session.messages[:max_turns]
        opening = 0 if baseline is not None else _opening(heard, settings.drift_baseline_turns)
        told = baseline if baseline is not None else [m.to_dict() for m in heard[:opening]]
        monitor = DriftMonitor(told, settings=settings, embeddings=embedder)
        done += opening
        readings = []
        for message in heard[opening:]:
            before = monitor.report.turn
            report = monitor.observe(message.to_dict())
            if report.turn != before:
                readings.append(Reading(message.where, report))
            done += 1
            tell(PHASE, done, total)
        left_out = len(session.messages) - len(heard)
        scores.append(
            SessionScore(session.name, opening, tuple(readings), monitor.report, left_out)
        )
    return scores


def _opening(messages: Sequence[Message], wanted: int) -> int:
    """Return how many first messages hold as many texts as the baseline shall have."""
    texts = 0
    for number, message in enumerate(messages):
        if texts == wanted:
            return number
        texts += bool(message.text.strip())
    return len(messages)
