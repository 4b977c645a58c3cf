"""What follows from the evidence. Pure: no memory, no host."""

from __future__ import annotations

from collections.abc import Collection

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.types import POLICIES, Decision, Policy


def checked_policy(policy: str) -> Policy:
    """Return `policy` if it is one.

    Raises:
        ConfigurationError: It is not.
    """
    for known in POLICIES:
        if policy == known:
            return known
    raise ConfigurationError(f"unknown policy {policy!r}: choose one of {', '.join(POLICIES)}.")


def decide(
    review: GuardReview,
    min_confidence: float,
    *,
    acknowledged: bool = False,
    bumped: Collection[str] = (),
) -> Decision:
    """Decide what follows from a review under its policy.

    Args:
        review: The evidence, and the policy.
        min_confidence: Below this confidence nothing is stopped, 0..1.
        acknowledged: Whether somebody accepted the risk of this step.
        bumped: Triggers that a speed bump already answered in this thread.
    """
    if not review.warnings:
        return "proceed"
    if review.policy in ("warn", "record_only") or review.confidence < min_confidence:
        return "warn"
    if acknowledged:
        return "override"
    if review.policy == "speed_bump":
        seen = all(warning.trigger in bumped for warning in review.warnings)
        return "override" if seen else "speed_bump"
    return "block" if review.policy == "block" else "acknowledge"


def refusal_message(review: GuardReview) -> str:
    """Say in one line what is refused, why, and what to do about it."""
    warning = review.warnings[0]
    seen = "once" if warning.frequency == 1 else f"{warning.frequency} times"
    reason = (
        f"{review.query!r} repeats {warning.action_text!r}, which failed {seen}: "
        f"{warning.feedback_text!r} -> {warning.outcome_text!r} "
        f"(confidence {review.confidence:.2f})."
    )
    advice = {
        "block": "Choose another step.",
        "speed_bump": "Choose another step, or propose it again to run it all the same.",
        "acknowledge": "Pass acknowledged=True once the risk is accepted.",
    }
    return f"{reason} {advice[review.decision]}"
