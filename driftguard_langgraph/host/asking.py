"""Asking about a proposed step until there is an answer that can be acted on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from driftguard_langgraph.host.answers import ask, question
from driftguard_langgraph.reviews import GuardReview

Again = Callable[[Any, int], GuardReview | str]
"""Reviews an edited step, the so many-th of this execution; a text says why it is no step."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What was decided about a proposed step.

    Attributes:
        action: The step: the proposed one, or the one that a person made of it.
        reviews: Every review on the way; the last is of `action`. Its decision is `override`
            when somebody accepted the risk, and `acknowledge` when somebody did not.
        rejected: Whether a person said no.
    """

    action: Any
    reviews: tuple[GuardReview, ...]
    rejected: bool = False


def settle(
    action: Any, review: GuardReview, again: Again
) -> Generator[Callable[[], Any], Any, Settled]:
    """Ask a person about a step; yield what may block, to be sent its result.

    The question is put for every proposal, and the graph pauses only when there is something to
    ask; see `answers.ask` for why.

    Args:
        action: The proposed step.
        review: The review of it, under the policy `acknowledge`.
        again: Reviews what a person makes of it.
    """
    problem: str | None = None
    reviews = [review]
    while True:
        required = problem is not None or not review.may_run
        answer = ask(question(action, review, problem), required=required)
        if answer is None:
            return Settled(action, tuple(reviews))
        if isinstance(answer, str):
            problem = answer
            continue
        if answer.decision == "approve":
            if not review.may_run:
                reviews[-1] = replace(review, decision="override")
            return Settled(action, tuple(reviews))
        if answer.decision == "reject":
            reviews[-1] = replace(review, decision="acknowledge")
            return Settled(action, tuple(reviews), rejected=True)
        found = yield partial(again, answer.action, len(reviews))
        if isinstance(found, GuardReview):
            action, review, problem = answer.action, found, None
            reviews.append(review)
        else:
            problem = found
