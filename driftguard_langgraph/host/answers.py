"""Asking somebody about a refused step: the question, the answers, and replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.reviews import GuardReview

ACCEPTED_ANSWERS = (
    "True, 'approve' or {'decision': 'approve'} to run the step anyway; "
    "False, 'reject' or {'decision': 'reject'} to send it back; "
    "{'decision': 'edit', 'action': 'words' or {'name': ..., 'args': {...}}} to propose another"
)


class GuardAnswer(BaseModel):
    """What `Command(resume=...)` may say to a step that waits for acknowledgement.

    Attributes:
        decision: Run the step anyway, send it back, or propose `action` instead.
        action: The other step, with `edit` only.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Literal["approve", "reject", "edit"]
    action: str | dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, value: Any) -> Any:
        if isinstance(value, bool):
            return {"decision": "approve" if value else "reject"}
        return {"decision": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _action_belongs_to_edit(self) -> GuardAnswer:
        if (self.decision == "edit") != (self.action is not None):
            raise ValueError("'action' belongs to the decision 'edit', and only to it")
        return self


def question(action: object, review: GuardReview, problem: str | None) -> dict[str, Any]:
    """Return what the person sees, plain JSON.

    Args:
        action: The proposed step as it is in the state.
        review: The evidence against it.
        problem: Why the previous answer could not be used, if there was one.
    """
    shown = dict(action) if isinstance(action, Mapping) else action
    asked: dict[str, Any] = {
        "type": "driftguard",
        "event": "acknowledge",
        "message": _message(review),
        "action": shown,
        "review": review.to_dict(),
        "allowed_decisions": ["approve", "edit", "reject"],
        "accepted_answers": ACCEPTED_ANSWERS,
    }
    return asked if problem is None else {**asked, "problem": problem}


def ask(value: Mapping[str, Any], *, required: bool) -> GuardAnswer | None:
    """Return the answer to a question, pausing the graph for it when `required`.

    LangGraph matches answers to questions by their order within the node and replays the
    node from its start. By then the memory may have changed: what was refused may be fine,
    or out of reach. The question is therefore put for every proposal, and only the pause is
    left out, so that an answer already given (a "reject" above all) is never dropped.

    Args:
        value: The question.
        required: Whether to pause when there is no answer yet.

    Raises:
        ConfigurationError: The answer is none of the accepted ones. It is not kept: the
            graph still waits and can be resumed again.
    """
    try:
        return interrupt(dict(value), response_schema=GuardAnswer)
    except GraphInterrupt:
        if required:
            raise
        return None
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise ConfigurationError(
            f"{problem['input']!r} does not answer the guard's question ({problem['msg']}). "
            f"Accepted: {ACCEPTED_ANSWERS}. The graph still waits; resume it again."
        ) from None


def _message(review: GuardReview) -> str:
    if not review.warnings:
        return f"Run this step? {review.query}"
    top = review.warnings[0]
    return (
        f"A step like this failed before (seen {top.frequency}x, confidence "
        f"{top.confidence:.2f}): {top.action_text} -> {top.feedback_text} -> "
        f"{top.outcome_text}. Run it anyway?"
    )
