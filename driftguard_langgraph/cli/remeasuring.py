"""Measuring anew the session that a report of te-drift-detector was made of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftguard_langgraph.cli.drift.options import drift_settings
from driftguard_langgraph.cli.drift.session import session_report
from driftguard_langgraph.cli.progress import bars
from driftguard_langgraph.errors import ConfigurationError

if TYPE_CHECKING:
    from driftguard_langgraph.evaluation.drift_scores import SessionScore
    from driftguard_langgraph.importers.drift_reports import PeerReport


def measured(reports: Sequence[PeerReport], log: Path) -> tuple[dict[str, Any], list[str]]:
    """Measure a log as a report says that it was measured: same baseline, mode and window.

    Args:
        reports: What the file of the report holds.
        log: The log of the session.

    Returns:
        The report of `driftguard drift session`, and what it says in lines.

    Raises:
        ConfigurationError: The report was made of no log, or the log cannot be read.
    """
    from driftguard_langgraph.evaluation.drift_scores import score_sessions
    from driftguard_langgraph.evaluation.sessions import read_all

    [report, *others] = reports
    if others or report.log is None:
        raise ConfigurationError("--log: this report was made of sentences of its own, not a log.")
    settings = drift_settings(
        drift_mode=report.mode,
        drift_window_size=report.window_size or None,
        drift_baseline_turns=report.baseline_turns or None,
    )
    with bars() as show:
        sessions, stats = read_all([log], progress=show)
        scores = score_sessions(sessions, settings=settings, progress=show)
    return session_report(scores, stats, settings), [_line(score) for score in scores]


def _line(score: SessionScore) -> str:
    alarm = f"alarm at turn {score.first_alarm}" if score.first_alarm else "no alarm"
    return (
        f"{score.name}: here {alarm}, peak {score.peak_level}, corruption at most "
        f"{score.max_corruption:.2f}, score {score.final.score:.0f} ({score.final.verdict})"
    )
