"""Asking somebody about a refused step: the question, the answers, and replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from driftguard_langgraph.html.text import SHOWN_CHARS, printable
from driftguard_langgraph.reviews import GuardReview

ACCEPTED_ANSWERS = (
    "True, 'yes', 'approve' or {'decision': 'approve'} to run the step anyway; "
    "False, 'no', 'reject' or {'decision': 'reject'} to send it back; "
    "{'decision': 'edit', 'action': 'words' or {'name': ..., 'args': {...}}} to propose another"
)


_SAID = {
    **dict.fromkeys(("yes", "y", "true"), "approve"),
    **dict.fromkeys(("no", "n", "false"), "reject"),
}
"""What people say for a decision."""


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
        if isinstance(value, str):
            said = value.strip(" \t\n.!\"'").lower()
            return {"decision": _SAID.get(said, said)}
        return value

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


def ask(value: Mapping[str, Any], *, required: bool) -> GuardAnswer | str | None:
    """Return the answer to a question, pausing the graph for it when `required`.

    LangGraph matches answers to questions by their order within the node and replays the
    node from its start. By then the memory may have changed: what was refused may be fine,
    or out of reach. The question is therefore put for every proposal, and only the pause is
    left out, so that an answer already given (a "reject" above all) is never dropped.

    Args:
        value: The question.
        required: Whether to pause when there is no answer yet.

    Returns:
        The answer; a text says why what was answered is none; None if nobody was asked.
    """
    try:
        # As JSON schema, by which LangGraph checks nothing: it would make an error of what can
        # be asked again.
        said = interrupt(dict(value), response_schema=GuardAnswer.model_json_schema())
    except GraphInterrupt:
        if required:
            raise
        return None
    try:
        return GuardAnswer.model_validate(said)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        return (
            f"{_one_line(repr(said))} does not answer the question ({problem['msg']}). "
            f"Accepted: {ACCEPTED_ANSWERS}."
        )


def _message(review: GuardReview) -> str:
    if not review.warnings:
        return f"Run this step? {_one_line(review.query)}"
    top = review.warnings[0]
    happened = map(_one_line, (top.action_text, top.feedback_text, top.outcome_text))
    return (
        f"A step like this failed before (seen {top.frequency}x, confidence "
        f"{top.confidence:.2f}): {' -> '.join(happened)}. Run it anyway?"
    )


def _one_line(text: str) -> str:
    # A line of its own could pass for another question, or for the answer to this one.
    return printable(" ".join(text.split()), SHOWN_CHARS)
