"""What a model is told about a tool call: why it was not run, or what failed before.

Everything that was recorded is untrusted: it stands in one-line quotations of bounded length.
"""

from __future__ import annotations

from driftguard_langgraph.recovery.quoting import one_line, quoted
from driftguard_langgraph.reviews import GuardReview, GuardWarning

MAX_WARNINGS = 3
"""Remembered failures that one text names; the rest is counted."""

_NEXT = {
    "block": "Do not propose it again; choose another step.",
    "speed_bump": "Choose another step, or propose exactly this call again to run it all the same.",
    "acknowledge": "A person did not accept the risk. Choose another step.",
}


def refusal_text(review: GuardReview) -> str:
    """Say why a call was not run, with the evidence and what to do instead.

    Args:
        review: A review whose decision is a refusal.
    """
    return "\n".join(
        (
            "Not run: the failure memory knows this step.",
            *_evidence(review.warnings),
            _NEXT.get(review.decision, "Choose another step."),
        )
    )


def advice_text(review: GuardReview) -> str:
    """Say what is remembered of a call that was run all the same.

    Args:
        review: A review with warnings.
    """
    return "\n".join(
        (
            "[Note of the failure memory, not of the tool. Steps like this one failed before.]",
            *_evidence(review.warnings),
            "Check the result before you rely on it; prefer another step to repeating this one.",
        )
    )


def unavailable_text(error: str | None) -> str:
    """Say why a call is refused that could not be reviewed.

    Args:
        error: What went wrong.
    """
    why = one_line(error or "unknown error")
    return (
        f"Not run: the failure memory could not be asked ({why}), and steps that cannot be "
        "reviewed are refused (on_store_error='closed'). Try again later, or tell the user."
    )


def edited_text(shown: str) -> str:
    """Say that a person changed a call before it was run.

    Args:
        shown: The call that ran, rendered.
    """
    return "\n".join(
        (
            "[Note of the failure memory, not of the tool. A person changed this call:]",
            quoted(shown),
        )
    )


def _evidence(warnings: tuple[GuardWarning, ...]) -> list[str]:
    lines: list[str] = []
    for warning in warnings[:MAX_WARNINGS]:
        seen = "once" if warning.frequency == 1 else f"{warning.frequency} times"
        lines += (
            f"Failed {seen} (confidence {warning.confidence:.2f}):",
            quoted(warning.action_text),
            f"{quoted(warning.feedback_text)} {one_line(warning.outcome_text)}",
        )
    more = len(warnings) - MAX_WARNINGS
    return [*lines, f"and {more} more."] if more > 0 else lines
