"""Conversations whose drift the page shows: recorded logs, and the files of a tracker."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from driftguard_langgraph.drift.report import EFFECTIVE_FROM, Anomaly, verdict_of
from driftguard_langgraph.drift.tracking.session_document import Document, Session
from driftguard_langgraph.drift.tracking.session_file import SessionFile
from driftguard_langgraph.errors import ConfigurationError, CorruptStore, SchemaMismatch
from driftguard_langgraph.evaluation.drift_scores import SessionScore, score_sessions
from driftguard_langgraph.evaluation.pairs import Progress
from driftguard_langgraph.evaluation.readers import check_readable
from driftguard_langgraph.evaluation.sessions import read_all
from driftguard_langgraph.pages.texts import bounded
from driftguard_langgraph.settings import DriftGuardSettings

SUFFIX = ".session_memory"
"""How a tracker's files are called; others are taken for logs where they are not sound."""

ANOMALIES = 10
"""Anomalies of a conversation that are quoted, the gravest."""

BACKGROUND = 0.05
"""Weight up to which an anomaly is background: it is counted, not quoted."""

POINTS = 200
"""Points of a curve; of a longer conversation each is the worst of several turns."""


def read_drift(
    files: Sequence[str | os.PathLike[str]],
    settings: DriftGuardSettings,
    *,
    embeddings: object | None = None,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Return how the conversations of some files went, plain JSON, in the order of the files.

    Args:
        files: Session memories of a `DriftTracker`, and recorded logs; the content tells which.
        settings: The `drift_*` settings, and the embedder. Logs are measured with them; a
            session memory holds the scores of its time.
        embeddings: An embedder instead of the settings' one.
        progress: Told how far the work is.

    Raises:
        ConfigurationError: A file cannot be read, or is neither.
        CorruptStore: It is a session memory that is damaged.
    """
    found: list[dict[str, Any]] = []
    for path in map(Path, files):
        document = _session_memory(path)
        if document is not None:
            found += [_kept(path, session) for session in document["sessions"]]
            continue
        sessions, stats = read_all([path], progress=progress)
        scores = score_sessions(
            sessions, settings=settings, embeddings=embeddings, progress=progress
        )
        found += [{**_measured(score), "left_out": stats[0].skipped} for score in scores]
    return found


def _session_memory(path: Path) -> Document | None:
    """Return what a session memory holds, None if the file is something else."""
    check_readable(path)
    try:
        return SessionFile(path, None).peek()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror}).") from None
    except (CorruptStore, SchemaMismatch) as error:
        if SUFFIX in (path.suffix, path.name):
            raise type(error)(f"{path}: {error}") from None
        return None


def _measured(score: SessionScore) -> dict[str, Any]:
    reports = [reading.report for reading in score.readings]
    anomalies = [each for report in reports for each in report.anomalies]
    return {
        **_curves([(report.turn, report.score) for report in reports]),
        "name": bounded(score.name),
        "kind": "log",
        "unit": "turn",
        "verdict": score.final.verdict.value,
        "score": round(score.final.score, 1),
        "peak_level": score.peak_level.value,
        "threat_level": score.final.threat_level.value,
        "corruption": _thinned([round(r.corruption, 3) for r in reports], lowest=False),
        "alarms": _spans([(report.turn, report.alarm) for report in reports]),
        "alarmed": score.final.alarm,
        "explanation": bounded(score.worst.explanation),
        **_quoted(anomalies),
    }


def _kept(path: Path, session: Session) -> dict[str, Any]:
    """Return a session of a tracker: it was scored while it ran, and only the topic."""
    scored = [
        (exchange["exchange"], exchange["score"], exchange)
        for exchange in session["exchanges"]
        if exchange["score"] is not None
    ]
    last = session["final_drift_score"]
    if last is None and scored:
        last = scored[-1][1]
    worst = min(scored, key=lambda each: each[1], default=None)
    explanation = worst[2]["explanation"] if worst is not None else None
    return {
        **_curves([(turn, score) for turn, score, _ in scored]),
        "name": bounded(f"{path.name}, session {session['session_number']}"),
        "kind": "session_memory",
        "unit": "exchange",
        "turns": session["exchange_count"],
        "verdict": None if last is None else verdict_of(last).value,
        "score": None if last is None else round(last, 1),
        "status": session["status"],
        "summary": bounded(session["summary"] or ""),
        "alarms": [],
        "alarmed": False,
        "explanation": bounded(explanation or ""),
        "anomalies": [],
        "anomaly_count": 0,
        "left_out": {},
    }


def _curves(points: Sequence[tuple[int, float]]) -> dict[str, Any]:
    scores = [round(score, 1) for _, score in points]
    return {
        "turns": len(points),
        "scores": _thinned(scores, lowest=True),
        "lowest_score": min(scores, default=None),
        "first_turn": points[0][0] if points else None,
        "last_turn": points[-1][0] if points else None,
        # Left and come back: what a recovery looks like from outside.
        "below": _spans([(turn, score < EFFECTIVE_FROM) for turn, score in points]),
    }


def _thinned(values: Sequence[float], *, lowest: bool) -> list[float]:
    """Return at most `POINTS` values, each the worst of a part."""
    worst = min if lowest else max
    count = min(len(values), POINTS)
    edges = [len(values) * part // count for part in range(count + 1)] if count else []
    return [worst(values[a:b]) for a, b in pairwise(edges)]


def _spans(states: Sequence[tuple[int, bool]]) -> list[dict[str, int | None]]:
    """Return from which turn to which something held; `over` is the turn it was over, or None."""
    return list(_runs(states))


def _runs(states: Sequence[tuple[int, bool]]) -> Iterator[dict[str, int | None]]:
    groups = [
        (held, [turn for turn, _ in turns]) for held, turns in groupby(states, lambda s: s[1])
    ]
    for place, (held, turns) in enumerate(groups):
        if held:
            follows = groups[place + 1][1][0] if place + 1 < len(groups) else None
            yield {"from": turns[0], "over": follows}


def _quoted(anomalies: Sequence[Anomaly]) -> dict[str, Any]:
    heavy = [each for each in anomalies if each.weight > BACKGROUND]
    gravest = sorted(heavy, key=lambda each: (-each.weight, each.turn))[:ANOMALIES]
    return {
        "anomaly_count": len(anomalies),
        "anomalies": [
            {
                "turn": each.turn,
                "who": each.channel.value,
                "rule": each.rule,
                "weight": round(each.weight, 2),
                "said": bounded(each.said.text),
                "against": None if each.against is None else bounded(each.against.text),
                "detail": bounded(each.detail),
            }
            for each in sorted(gravest, key=lambda each: each.turn)
        ],
    }
