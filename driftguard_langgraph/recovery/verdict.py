"""Did the scaffold work? The drift before and after an injection, and a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from driftguard_langgraph.drift.report import DriftReport, ThreatLevel
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.html.drift_cards import recovery_card
from driftguard_langgraph.recovery.schedule import InjectionSchedule

Outcome = Literal["pending", "recovered", "failed", "relapsed"]
"""`pending` until the session is back (`recovered`), the turns are over (`failed`), or what was
recovered asks for a scaffold again (`relapsed`)."""

BEFORE = 6
"""Turns before the injection that the trajectory keeps."""


@dataclass(frozen=True, slots=True)
class Point:
    """One turn of a trajectory.

    Attributes:
        turn: Its number.
        score: Topic score, 0..100.
        corruption: Strength of the evidence, 0..1.
        level: Threat level.
    """

    turn: int
    score: float
    corruption: float
    level: ThreatLevel

    @classmethod
    def of(cls, report: DriftReport) -> Point:
        """Return the point of a report."""
        return cls(
            report.turn,
            round(report.score, 2),
            round(report.corruption, 4),
            ThreatLevel(report.threat_level),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return asdict(self) | {"level": self.level.value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Point:
        """Return the point that `to_dict` described."""
        return cls(
            int(data["turn"]),
            float(data["score"]),
            float(data["corruption"]),
            ThreatLevel(data["level"]),
        )


@dataclass(frozen=True, slots=True)
class RecoveryVerdict:
    """What became of one injection.

    Attributes:
        injected_at: Turn after which the scaffold was injected.
        trigger: What asked for it: `alarm`, `level`, `score`, `turn` or `failed` (an earlier
            scaffold did not help).
        variant: Variant of the scaffold.
        outcome: The verdict so far.
        recovered_at: Turn at which the session was back, None if it is not.
        before: The turns before the injection, the last being the one that asked for it.
        after: The turns since.
    """

    injected_at: int
    trigger: str
    variant: str
    outcome: Outcome = "pending"
    recovered_at: int | None = None
    before: tuple[Point, ...] = ()
    after: tuple[Point, ...] = ()

    @property
    def time_to_recover(self) -> int | None:
        """Turns from the injection until the session was back, None if it is not."""
        return None if self.recovered_at is None else self.recovered_at - self.injected_at

    def then(
        self, report: DriftReport, schedule: InjectionSchedule, *, patience: int
    ) -> RecoveryVerdict:
        """Return the verdict after one more turn.

        Args:
            report: The report of the turn.
            schedule: What counts as asking for a scaffold, and as being back.
            patience: Turns within which the session must be back, and twice as many within
                which asking again is a relapse.
        """
        if self.outcome in {"failed", "relapsed"} or report.turn <= self.injected_at:
            return self
        since = report.turn - self.injected_at
        after = (*self.after, Point.of(report))[-4 * patience :]
        if self.outcome == "recovered":
            again = schedule.trigger(report) is not None
            return replace(self, after=after, outcome="relapsed" if again else "recovered")
        if schedule.released(report):
            return replace(self, after=after, outcome="recovered", recovered_at=report.turn)
        return replace(self, after=after, outcome="failed" if since >= patience else "pending")

    def is_settled(self, turn: int, patience: int) -> bool:
        """Whether a recovery has held so long that asking again is a new episode."""
        recovered = self.recovered_at
        return recovered is not None and turn - recovered > 2 * patience

    def explain(self) -> str:
        """Say in one line what happened."""
        start = self.before[-1] if self.before else None
        end = self.after[-1] if self.after else None
        moved = (
            f"corruption {start.corruption:.2f} -> {end.corruption:.2f}, "
            f"score {start.score:.0f} -> {end.score:.0f}"
            if start and end
            else "no turn since"
        )
        took = f" in {self.time_to_recover} turns" if self.recovered_at is not None else ""
        return (
            f"{self.outcome}{took} after the {self.variant} scaffold at turn "
            f"{self.injected_at} ({self.trigger}): {moved}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return asdict(self) | {
            "before": [point.to_dict() for point in self.before],
            "after": [point.to_dict() for point in self.after],
            "time_to_recover": self.time_to_recover,
        }

    def _repr_html_(self) -> str:
        return recovery_card(self.to_dict(), self.explain())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RecoveryVerdict:
        """Return the verdict that `to_dict` described.

        Raises:
            ConfigurationError: It is no such description.
        """
        try:
            values = {name: value for name, value in data.items() if name != "time_to_recover"}
            values["before"] = tuple(map(Point.from_dict, data["before"]))
            values["after"] = tuple(map(Point.from_dict, data["after"]))
            return cls(**values)
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"no recovery verdict: {error!r}.") from None
