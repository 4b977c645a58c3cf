"""From a recorded conversation to the scaffold that would bring it back, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.drift.report import Anomaly, DriftReport
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.drift_scores import Reading, SessionScore, score_sessions
from driftguard_langgraph.evaluation.pairs import Progress
from driftguard_langgraph.evaluation.recover_findings import (
    STATUSES,
    Finding,
    Status,
    about_anchor,
    about_drift,
    about_opening,
    about_reading,
)
from driftguard_langgraph.evaluation.recover_opening import Opening
from driftguard_langgraph.evaluation.sessions import ParseStats, Session
from driftguard_langgraph.recovery.anchor import Anchor
from driftguard_langgraph.recovery.scaffold import RecoveryScaffold, build_scaffold
from driftguard_langgraph.recovery.schedule import Variant
from driftguard_langgraph.recovery.session import SUSPICIOUS
from driftguard_langgraph.settings import DriftGuardSettings


@dataclass(frozen=True, slots=True)
class SessionRecovery:
    """The scaffold for a conversation.

    Attributes:
        session: Name of the conversation.
        messages: How many messages it has.
        turns: How many of them were measured.
        turn: Turn up to which they count.
        anchor: What is restored; None if there is nothing to restore.
        report: The report of that turn; None if nothing was measured.
        evidence: What drifted up to it, the strongest first.
        scaffold: The scaffold; None if none can be made.
        findings: What to know about it.
    """

    session: str
    messages: int
    turns: int
    turn: int
    anchor: Anchor | None
    report: DriftReport | None
    evidence: tuple[Anomaly, ...]
    scaffold: RecoveryScaffold | None
    findings: tuple[Finding, ...]

    @property
    def status(self) -> Status:
        """The worst status of the findings."""
        return max((each.status for each in self.findings), key=STATUSES.index, default="pass")

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        report = self.report.to_dict() if self.report is not None else None
        kept = ("score", "verdict", "corruption", "alarm", "threat_level", "peak_level")
        drift = {name: report[name] for name in kept} if report is not None else {}
        return {
            "session": {
                "name": self.session,
                "messages": self.messages,
                "turns": self.turns,
                "turn": self.turn,
            },
            "anchor": self.anchor.to_dict() if self.anchor is not None else None,
            "drift": {**drift, "evidence": [each.to_dict() for each in self.evidence]},
            "scaffold": self.scaffold.to_dict() if self.scaffold is not None else None,
            "status": self.status,
            "findings": [each.to_dict() for each in self.findings],
        }


def recover_session(
    session: Session,
    stats: ParseStats,
    *,
    baseline: str | None = None,
    variant: Variant = "standard",
    turn: int | None = None,
    token_budget: int | None = None,
    settings: DriftGuardSettings | None = None,
    progress: Progress | None = None,
) -> SessionRecovery:
    """Return the scaffold that would bring a conversation back.

    Restored is what the operator said (`baseline`, or the system messages at the start) and
    what the user asked for first. Turns are counted from there on, as `drift session` does.

    Args:
        session: The conversation.
        stats: What was left out of its file.
        baseline: The system prompt, if the log does not have it.
        variant: How much the scaffold says.
        turn: Turn up to which drift is looked at; None for all.
        token_budget: Most tokens it may have; None is no limit.
        settings: The `drift_*` settings, and the embedder.
        progress: Told how far the work is.

    Raises:
        ConfigurationError: There is no such turn.
    """
    opening = Opening.of(session.messages, baseline)
    if not opening.told and opening.user is None:
        _check_turn(turn, 0, session.name)
        detail = "it has neither a system prompt nor a word of a user; give --baseline."
        found = Finding("fail", "nothing_to_restore", detail)
        return SessionRecovery(
            session.name, len(session.messages), 0, 0, None, None, (), None, (found,)
        )
    score = _scored(session, opening, baseline, settings or DriftGuardSettings(), progress)
    last = max((each.report.turn for each in score.readings), default=0)
    _check_turn(turn, last, session.name)
    readings = [each for each in score.readings if turn is None or each.report.turn <= turn]
    suspect = opening.is_suspect([(each.where, each.report) for each in score.readings])
    anchor = Anchor.of(opening.restored(suspect=suspect))
    for each in readings:
        anchor = anchor.with_revisions(each.report.revisions)
    evidence = _evidence(readings)
    report = readings[-1].report if readings else None
    at = report.turn if report is not None else 0
    scaffold, lacking = _built(anchor, evidence, variant, at, token_budget)
    findings = (
        *about_opening(opening, session.messages, suspect=suspect),
        *about_reading(stats),
        *about_anchor(anchor),
        *about_drift([each.report for each in readings], evidence),
        *lacking,
    )
    return SessionRecovery(
        session.name, len(session.messages), last, at, anchor, report, evidence, scaffold, findings
    )


def _scored(
    session: Session,
    opening: Opening,
    baseline: str | None,
    settings: DriftGuardSettings,
    progress: Progress | None,
) -> SessionScore:
    texts = sum(bool(each.text.strip()) for each in session.messages[: opening.count])
    chosen = settings.model_copy(update={"drift_baseline_turns": max(texts, 1)})
    [score] = score_sessions([session], baseline=baseline, settings=chosen, progress=progress)
    return score


def _check_turn(turn: int | None, last: int, name: str) -> None:
    if turn is not None and not 1 <= turn <= last:
        raise ConfigurationError(
            f"--turn {turn}: {name} has the turns 1 to {last}, counted after its baseline."
            if last
            else f"--turn {turn}: {name} has no turns after its baseline."
        )


def _evidence(readings: Sequence[Reading]) -> tuple[Anomaly, ...]:
    found = [each for reading in readings for each in reading.report.anomalies]
    heavy = [each for each in found if each.weight >= SUSPICIOUS]
    return tuple(sorted(heavy, key=lambda each: -each.weight))


def _built(
    anchor: Anchor,
    evidence: Sequence[Anomaly],
    variant: Variant,
    turn: int,
    token_budget: int | None,
) -> tuple[RecoveryScaffold | None, tuple[Finding, ...]]:
    try:
        scaffold = build_scaffold(
            anchor, evidence, variant=variant, turn=turn, token_budget=token_budget
        )
    except ConfigurationError as error:
        return None, (Finding("fail", "budget_too_small", str(error)),)
    return scaffold, ()
