"""The running session of a tracker: what was said, how it scores, and where it stands."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.drift.tracking.results import SessionReport, TurnResult, joined
from driftguard_langgraph.drift.tracking.session_document import Exchange, new_exchange, scored
from driftguard_langgraph.drift.tracking.session_log import SessionLog
from driftguard_langgraph.drift.tracking.session_scorer import SessionScorer, text_of
from driftguard_langgraph.drift.tracking.summaries import Said
from driftguard_langgraph.drift.turns import MAX_CHARS
from driftguard_langgraph.text.validation import excerpt, visible_text

Mode = Literal["always", "ondemand"]
"""Score every turn, or only when `check` or `end_session` asks."""

LIVE_EXCHANGES = 200
"""Newest exchanges whose long texts stay in memory, for the summary and for late scores; of
older ones there is what the session memory keeps."""

_ROUNDED = (
    "score", "strategy_scores", "components", "absolute_drift", "velocity", "corruption"
)  # fmt: skip
"""What `DriftReport.to_dict` rounds for readers; a restart shall show the same to the bit."""


class RunningSession:
    """Scores and records one exchange after the other. The tracker's lock is held around it.

    Args:
        log: Where exchanges are recorded.
        scorer: What scores them.
        mode: When turns are scored.
        persists: Whether a restart shall go on with the scores.

    Attributes:
        report: The newest report, with the anomalies of the whole exchange.
        asked: What the user said since the last answer.
        is_doubted: Whether a sentence must not stand behind the system prompt.
    """

    def __init__(
        self, log: SessionLog, scorer: SessionScorer, *, mode: Mode, persists: bool
    ) -> None:
        self._log = log
        self._scorer = scorer
        self._mode = mode
        self._persists = persists
        self.is_doubted = scorer.is_doubted
        self._forget()

    def _forget(self) -> None:
        """Forget what this process alone knows of the running session."""
        self.asked: list[str] = []
        self._reports: list[DriftReport] = []
        self._live: dict[str, Said] = {}
        self._mark: object = None
        self.report = self._scorer.report

    def restart(self) -> None:
        """Begin a new session."""
        self._scorer.restart()
        self._forget()

    def catch_up(self) -> None:
        """Go on where the session stands, whoever recorded its last turn."""
        asked, reports = self.asked, self._reports
        if self._log.refresh():
            self.restart()
            self.asked, self._reports = asked, reports
        state = self._log.state
        if isinstance(state, dict) and state.get("mark") != self._mark:
            self._mark = state.get("mark")
            self._scorer.load(state.get("monitor"))
            self.report = _restored(state.get("report")) or self._scorer.report

    def ask(self, content: object) -> DriftReport | None:
        """Take what the user says; return the report after it, None if it is not scored now."""
        self.asked.append(text_of(content))
        if self._mode == "ondemand":
            return None
        self._reports.append(self._scorer.observe("user", content))
        return self._reports[-1]

    def answer(self, content: object, exchange_id: str | None) -> TurnResult:
        """Record an exchange: what the user said, and this answer."""
        said = Said("\n".join(self.asked), text_of(content))
        exchange = new_exchange(exchange_id or uuid.uuid4().hex, *said)
        state = None
        if self._mode == "always":
            reports = [*self._reports, self._scorer.observe("assistant", content)]
            exchange, state = self._rated(exchange, said, reports), self._state()
        self.asked, self._reports = [], []
        self._live[exchange["id"]] = Said(
            *(excerpt(visible_text(text), MAX_CHARS) for text in said)
        )
        if len(self._live) > LIVE_EXCHANGES:
            del self._live[next(iter(self._live))]
        self._log.append(exchange, state)
        return self.result(*said)

    def _rated(self, exchange: Exchange, said: Said, reports: list[DriftReport]) -> Exchange:
        self.report = joined(reports)
        self.report = replace(self.report, explanation=self._scorer.explained(self.report, *said))
        return _with_score(exchange, self.report)

    def _state(self) -> dict[str, Any] | None:
        """Return what a restart needs to go on with the same scores."""
        if not self._persists:
            return None
        self._mark = uuid.uuid4().hex
        kept = self.report.to_dict() | {name: getattr(self.report, name) for name in _ROUNDED}
        return {"mark": self._mark, "monitor": self._scorer.state, "report": kept}

    def score_late(self) -> None:
        """Score the exchanges that have no score yet, in the mode `ondemand`."""
        session = self._log.session
        if self._mode == "always" or session is None:
            return
        waiting = [exchange for exchange in session["exchanges"] if exchange["score"] is None]
        rated: dict[str, Exchange] = {}
        for exchange in waiting:
            said = self._said_in(exchange)
            reports = [self._scorer.observe("user", said.user)]
            reports.append(self._scorer.observe("assistant", said.assistant))
            if exchange is waiting[-1]:
                # A custom explainer may be a paid model: it explains where the session stands.
                rated[exchange["id"]] = self._rated(exchange, said, reports)
            else:
                rated[exchange["id"]] = _with_score(exchange, joined(reports))
        if rated:
            self._log.rate(rated, self._state())

    def said(self) -> Iterator[Said]:
        """Yield the exchanges in words, as whole as they are known."""
        session = self._log.session
        yield from map(self._said_in, session["exchanges"] if session is not None else ())

    def _said_in(self, exchange: Exchange) -> Said:
        return self._live.get(exchange["id"]) or Said(exchange["user"], exchange["assistant"])

    def result(self, user: str, assistant: str) -> TurnResult:
        """Return what is known after an exchange."""
        drift = self.report if self._mode == "always" else None
        explanation = None if drift is None else drift.explanation
        return TurnResult(user, assistant, drift, explanation, self._log.managed()[0])

    def summary(self, number: int) -> SessionReport:
        """Return what is known of the session, as the one of this number."""
        text, tokens = self._log.managed()
        return SessionReport(
            self.report, self.report.explanation, number, self._log.total, text, tokens
        )


def _with_score(exchange: Exchange, report: DriftReport) -> Exchange:
    return scored(exchange, report.score, report.verdict, report.explanation)


def _restored(kept: object) -> DriftReport | None:
    try:
        return DriftReport.from_dict(cast("Mapping[str, Any]", kept))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
