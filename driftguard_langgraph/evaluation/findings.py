"""What a backtest found, step by step, and not more of it than can be looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from driftguard_langgraph.html.text import clipped
from driftguard_langgraph.reviews import GuardReview

KEPT = 500
"""Warned steps, and missed ones, that are kept each; the rest is counted."""

Happened = Literal["hit", "false alarm", "ambiguous", "miss"]
"""What followed: the warned step failed, succeeded, succeeded after the same action had
failed; or a step failed again without a warning."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """The remembered failure behind a warning.

    Attributes:
        action: What was tried.
        feedback: What came back.
        frequency: How often it had been seen.
        confidence: Of the warning, 0..1.
        matched: What settled the match, see `types.MatchKind`.
        remedy: What had worked instead, if that was known.
    """

    action: str
    feedback: str
    frequency: int
    confidence: float
    matched: str
    remedy: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the grounds as plain JSON."""
        return {
            "action": self.action,
            "feedback": self.feedback,
            "frequency": self.frequency,
            "confidence": round(self.confidence, 4),
            "matched": self.matched,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One step that was warned, or should have been.

    Attributes:
        where: Where it was read from.
        stream: Its stream.
        tool: Its tool.
        action: What was about to be done.
        happened: How it ended.
        came_back: What the step returned.
        grounds: Why it was warned; None for a miss.
        repeats: For a repeat, how it repeats an earlier failure.
        earlier: Where that failure is, when that is known.
    """

    where: str
    stream: str
    tool: str
    action: str
    happened: Happened
    came_back: str
    grounds: Grounds | None = None
    repeats: str | None = None
    earlier: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain JSON."""
        return {
            "where": self.where,
            "stream": self.stream,
            "tool": self.tool,
            "action": self.action,
            "happened": self.happened,
            "came_back": self.came_back,
            "grounds": None if self.grounds is None else self.grounds.to_dict(),
            "repeats": self.repeats,
            "earlier": self.earlier,
        }


@dataclass(slots=True)
class Shortlist:
    """The first findings of a kind, and how many there were.

    Attributes:
        kept: Up to `KEPT` of them, in order.
        count: All of them.
    """

    kept: list[Finding] = field(default_factory=list)
    count: int = 0

    @property
    def has_room(self) -> bool:
        """Whether the next one will be kept."""
        return self.count < KEPT

    @property
    def left_out(self) -> int:
        """How many were not kept."""
        return self.count - len(self.kept)

    def add(self, finding: Finding) -> None:
        """Take one finding."""
        if self.has_room:
            self.kept.append(finding)
        self.count += 1

    def to_dict(self) -> dict[str, Any]:
        """Return the list as plain JSON."""
        return {
            "count": self.count,
            "left_out": self.left_out,
            "steps": [finding.to_dict() for finding in self.kept],
        }


def grounds_of(review: GuardReview) -> Grounds | None:
    """Return the grounds of the first warning, None if the review holds none."""
    if not review.warnings:
        return None
    first = review.warnings[0]
    return Grounds(
        action=clipped(first.action_text),
        feedback=clipped(first.feedback_text),
        frequency=first.frequency,
        confidence=first.confidence,
        matched=first.match.kind,
        remedy=None if first.remedy is None else clipped(first.remedy),
    )
