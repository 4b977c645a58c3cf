"""Recovery of one session: when to inject, what, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from driftguard_langgraph.drift.report import Anomaly, DriftReport
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.schedule import (
    InjectionSchedule,
    Variant,
    checked_variant,
    stronger,
)
from driftguard_langgraph.recovery.verdict import BEFORE, Point, RecoveryVerdict

Route = Literal["continue", "reinject", "interrupt", "stop"]
"""What should happen next; see `RecoveryPlan`."""

SUSPICIOUS = 0.2
"""Weight from which an anomaly's message counts as one that did it: "suspicious" for the
monitor, see `drift.threat`."""

_KEPT_EVIDENCE = 10
_KEPT_SUSPECTS = 100
"""Messages that did it and are remembered by their ids; the newest."""


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """How a session is recovered.

    Attributes:
        schedule: When to inject.
        variant: Variant of the first scaffold; a scaffold that failed is followed by a
            stronger one.
        patience: Turns within which the session must be back.
        when_exhausted: Route when scaffolds failed and no more are allowed: `interrupt` asks
            a human, `stop` ends the run, `continue` goes on.
    """

    schedule: InjectionSchedule = field(default_factory=InjectionSchedule)
    variant: Variant = "standard"
    patience: int = 24
    when_exhausted: Route = "interrupt"

    def __post_init__(self) -> None:
        checked_variant(self.variant)
        if not isinstance(self.schedule, InjectionSchedule):
            raise ConfigurationError(
                f"schedule must be an InjectionSchedule, not {type(self.schedule).__name__}."
            )
        patient = isinstance(self.patience, int) and not isinstance(self.patience, bool)
        if not patient or self.patience < 1:
            raise ConfigurationError(f"patience={self.patience!r} must be a whole number from 1.")
        if self.when_exhausted not in ("interrupt", "stop", "continue"):
            raise ConfigurationError(
                f"when_exhausted={self.when_exhausted!r} must be interrupt, stop or continue."
            )


@dataclass(frozen=True, slots=True)
class RecoveryStep:
    """What follows from a report.

    Attributes:
        inject: Variant of the scaffold to inject now, None for none.
        trigger: What asked for it.
        active: Whether the scaffold injected last should still be shown to the model.
        route: What should happen next.
        verdict: What became of the last injection, None before the first.
        evidence: What drifted in this episode, the strongest first.
        suspects: Ids of the messages that did it, in order; at most the newest 100.
    """

    inject: Variant | None
    trigger: str | None
    active: bool
    route: Route
    verdict: RecoveryVerdict | None
    evidence: tuple[Anomaly, ...]
    suspects: tuple[str, ...]


class RecoverySession:
    """Follows the reports of one session.

    Args:
        plan: How to recover it.
    """

    def __init__(self, plan: RecoveryPlan | None = None) -> None:
        self.plan = plan if plan is not None else RecoveryPlan()
        self._turn = 0
        self._points: tuple[Point, ...] = ()
        self._verdicts: tuple[RecoveryVerdict, ...] = ()
        self._evidence: tuple[Anomaly, ...] = ()
        self._suspects: dict[str, None] = {}

    @property
    def verdicts(self) -> tuple[RecoveryVerdict, ...]:
        """What became of each injection, in order."""
        return self._verdicts

    def after(self, report: DriftReport) -> RecoveryStep:
        """Return what follows from a report.

        A report of a turn that was seen before asks for nothing, so that two nodes, a retry
        or a resume inject once.
        """
        if report.turn <= self._turn:
            return self._step(None, None, "continue")
        since, self._turn = self._turn, report.turn
        self._points = (*self._points, Point.of(report))[-BEFORE:]
        self._remember(report)
        self._follow(report)
        return self._decided(report, since)

    def _remember(self, report: DriftReport) -> None:
        found = [anomaly for anomaly in report.anomalies if anomaly.weight >= SUSPICIOUS]
        by_weight = sorted((*self._evidence, *found), key=lambda each: -each.weight)
        self._evidence = tuple(by_weight[:_KEPT_EVIDENCE])
        # What is said again moves to the end, where it is kept longest.
        ids = [anomaly.said.message_id for anomaly in found]
        held = {name: None for name in self._suspects if name not in ids}
        kept = [*held, *dict.fromkeys(ids)][-_KEPT_SUSPECTS:]
        self._suspects = dict.fromkeys(kept)

    def _follow(self, report: DriftReport) -> None:
        if self._verdicts:
            *earlier, last = self._verdicts
            settled = last.is_settled(report.turn, self.plan.patience)
            now = (
                last
                if settled
                else last.then(report, self.plan.schedule, patience=self.plan.patience)
            )
            self._verdicts = (*earlier, now)
            if settled and self.plan.schedule.trigger(report) is None:
                self._evidence = ()

    def _decided(self, report: DriftReport, since: int) -> RecoveryStep:
        last = self._verdicts[-1] if self._verdicts else None
        schedule = self.plan.schedule
        if last is not None and last.outcome == "pending":
            return self._step(None, None, "continue")
        failed = last is not None and last.outcome in {"failed", "relapsed"}
        trigger = schedule.trigger(report, since)
        if trigger is None:
            return self._step(None, None, "continue")
        injected_at = [verdict.injected_at for verdict in self._verdicts]
        if not schedule.allows(report.turn, injected_at):
            exhausted = bool(injected_at) and len(injected_at) >= schedule.maximum
            return self._step(None, trigger, self.plan.when_exhausted if exhausted else "continue")
        variant = self.plan.variant
        if failed and last is not None:
            variant, trigger = stronger(checked_variant(last.variant)), last.outcome
        verdict = RecoveryVerdict(report.turn, trigger, variant, before=self._points)
        self._verdicts = (*self._verdicts, verdict)
        return self._step(variant, trigger, "reinject" if failed else "continue")

    def _step(self, inject: Variant | None, trigger: str | None, route: Route) -> RecoveryStep:
        last = self._verdicts[-1] if self._verdicts else None
        return RecoveryStep(
            inject=inject,
            trigger=trigger,
            active=last is not None and last.outcome != "recovered",
            route=route,
            verdict=last,
            evidence=self._evidence,
            suspects=tuple(self._suspects),
        )

    @property
    def state(self) -> dict[str, Any]:
        """All that is known of the session, as plain JSON types."""
        return {
            "turn": self._turn,
            "points": [point.to_dict() for point in self._points],
            "verdicts": [verdict.to_dict() for verdict in self._verdicts],
            "evidence": [anomaly.to_dict() for anomaly in self._evidence],
            "suspects": list(self._suspects),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on where a `state` ends.

        Raises:
            ConfigurationError: It is no such state; the session is then as it was.
        """
        try:
            points = tuple(map(Point.from_dict, state["points"]))
            verdicts = tuple(map(RecoveryVerdict.from_dict, state["verdicts"]))
            evidence = tuple(map(Anomaly.from_dict, state["evidence"]))
            suspects = dict.fromkeys(map(str, state["suspects"]))
            turn = int(state["turn"])
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"this is no recovery state: {error!r}.") from error
        self._turn, self._points = turn, points
        self._verdicts, self._evidence, self._suspects = verdicts, evidence, suspects
