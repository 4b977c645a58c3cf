"""Reviews without a memory behind them."""

from __future__ import annotations

from typing import Any

from driftguard_langgraph.reviews import Evidence, GuardReview, GuardWarning
from driftguard_langgraph.types import Match, utc_now

UNIT = "ab" * 16
"""What the sample review was drawn as."""


def warning(trigger: str = "drop table") -> GuardWarning:
    """Return a warning of which only the remembered step has to be said."""
    return GuardWarning(
        trigger=trigger,
        risk="denied",
        outcome="lost",
        frequency=1,
        confidence=0.8,
        severity="medium",
        last_seen=utc_now(),
        action_text=trigger,
        feedback_text="denied",
        outcome_text="lost",
        episode_ids=("e1",),
        match=Match(1.0, same=True, similarity=1.0, kind="exact"),
        evidence=Evidence(1, 1, 0.6, 1.0, 0, 1.0, 0.15),
    )


def review(step: str = "drop it", **details: Any) -> GuardReview:
    """Return a review that warns, unless the details say otherwise."""
    given = {"warnings": (warning(),), "decision": "warn", "unit": UNIT, "review_id": "r1"}
    return GuardReview(step, **{**given, **details})
