"""Answers to tool calls: the ones that stand in for a result, and notes behind a result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from driftguard_langgraph.host.tool_calls import Place
from driftguard_langgraph.judgement.open_warnings import with_objections
from driftguard_langgraph.reviews import GuardReview

MARK = "driftguard"
"""Key of a refusal's `additional_kwargs`: what it shows and leaves open; no model sees it."""


def refusal(
    request: ToolCallRequest, text: str, reviews: Iterable[GuardReview] = ()
) -> ToolMessage:
    """Return the answer to a call that does not run.

    Args:
        request: The call.
        text: What the model is told.
        reviews: The reviews that led to it.
    """
    return answer_to(request.tool_call, text, reviews, Place.of(request.runtime).identity.run_id)


def answer_to(
    call: Mapping[str, Any],
    text: str,
    reviews: Iterable[GuardReview] = (),
    run_id: str | None = None,
    repeated: int = 0,
) -> ToolMessage:
    """Return the answer to a call that does not run; see `refusal`.

    Args:
        call: The call.
        text: What the model is told.
        reviews: The reviews that led to it.
        run_id: The present run, if it is known.
        repeated: How often the call was repeated, if that is why it does not run.
    """
    kept = list(reviews)
    triggers = [
        warning.trigger
        for review in kept
        if review.decision == "speed_bump"
        for warning in review.warnings
    ]
    left_open = with_objections((), kept, run_id)
    mark = {"bumped": triggers, "open": left_open, "repeated": repeated}
    return ToolMessage(
        text,
        tool_call_id=call["id"],
        name=call["name"],
        status="error",
        additional_kwargs={MARK: mark},
    )


def mark_of(message: object) -> Mapping[str, Any] | None:
    """Return what a refusal of ours shows and leaves open, None for any other message."""
    if not isinstance(message, ToolMessage):
        return None
    found = message.additional_kwargs.get(MARK)
    return found if isinstance(found, Mapping) else None


def annotated(message: ToolMessage, note: str) -> ToolMessage:
    """Return a copy of a tool's answer with a note behind it."""
    content = message.content
    told: Any = f"{content}\n\n{note}" if isinstance(content, str) else [
        *content, {"type": "text", "text": note}
    ]  # fmt: skip
    return message.model_copy(update={"content": told})


def reviewed(call: Mapping[str, Any], review: GuardReview) -> dict[str, Any]:
    """Return what a stream event tells of a review.

    Args:
        call: The proposed call.
        review: The review of it.
    """
    top = review.warnings[0].to_dict() if review.warnings else None
    return {
        "tool": call["name"],
        "action": review.query,
        "decision": review.decision,
        "policy": review.policy,
        "warnings": len(review.warnings),
        "reinforcements": len(review.reinforcements),
        "confidence": round(review.confidence, 6),
        "top_warning": top,
    }
