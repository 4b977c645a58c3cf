"""What the tracker returns: of a turn, and of a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.html.drift_cards import session_card, turn_card

_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What is known after an exchange.

    Attributes:
        user_message: What the user said.
        assistant_response: What the assistant answered, whole.
        drift: The report after the answer, with the anomalies of both messages; None in the
            mode `ondemand`.
        explanation: Why, in one or two sentences; None in the mode `ondemand`.
        managed_context: The system message for the next call of the model.
    """

    user_message: str
    assistant_response: str
    drift: DriftReport | None
    explanation: str | None
    managed_context: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON types, the answer cut short, without the context."""
        shown = self.assistant_response[:_SHOWN_CHARS]
        return {
            "user_message": self.user_message,
            "assistant_response": shown + "..." * (len(self.assistant_response) > _SHOWN_CHARS),
            "drift": None if self.drift is None else self.drift.to_dict(),
            "explanation": self.explanation,
        }

    def _repr_html_(self) -> str:
        return turn_card(self.to_dict())


@dataclass(frozen=True, slots=True)
class SessionReport:
    """What is known of a session.

    Attributes:
        drift: The newest report; of turn 0 before the first exchange.
        explanation: Why, in one or two sentences.
        session_number: Number of the session, from 1.
        total_turns: Exchanges of all sessions so far.
        managed_context: The system message for the next call of the model.
        context_token_estimate: How many tokens that has.
    """

    drift: DriftReport
    explanation: str
    session_number: int
    total_turns: int
    managed_context: str
    context_token_estimate: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON types, without the context."""
        drift = self.drift.to_dict()
        shown = ("score", "verdict", "is_effective", "needs_reset", "strategy_scores")
        more = ("corruption", "alarm", "threat_level", "peak_level", "backend")
        return {
            **{name: drift[name] for name in (*shown, *more)},
            "explanation": self.explanation,
            "session_number": self.session_number,
            "total_turns": self.total_turns,
            "context_token_estimate": self.context_token_estimate,
        }

    def _repr_html_(self) -> str:
        return session_card(self.to_dict())


def joined(reports: Sequence[DriftReport]) -> DriftReport:
    """Return the reports on the messages of one exchange as one.

    The numbers are the last one's, anomalies and revisions those of all; the explanation is
    that of the message with the gravest anomaly, or the last one's.
    """
    newest = reports[-1]
    gravest = max(reversed(reports), key=_gravity)
    return replace(
        newest,
        anomalies=tuple(each for report in reports for each in report.anomalies),
        revisions=tuple(each for report in reports for each in report.revisions),
        explanation=gravest.explanation,
    )


def _gravity(report: DriftReport) -> float:
    return max((anomaly.weight for anomaly in report.anomalies), default=0.0)
