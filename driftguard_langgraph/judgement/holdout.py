"""Which warned steps stay silent, so that there is something to compare with. Pure.

What is drawn is a *unit*: one step, as it is compared, in one thread. All matches of a review
share its draw, so no review is half silent and a control is free of warnings altogether. A
unit is drawn by a keyed hash of who and what it is, and by nothing that was remembered about
it: the draw cannot depend on how the step will end, which makes the two arms comparable, and
it stays the same when LangGraph replays a node, when a thread goes back in time, in every
process, and whatever was learned in between. The same step again in the same thread is
silent again; said in other words, or in another thread, it is drawn anew.

Without a thread there is nothing that a replay would share but the id of the review, which is
random unless the caller gives one: then each review is a unit.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import replace

from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.text.validation import checked_id
from driftguard_langgraph.types import Policy

UNIT_BYTES = 16
"""Length of the digest that names a unit: among 10^9 units two share one with p < 10^-20."""

_RANGE = 2**64


def opened(
    step: str, policy: Policy, holdout: float, thread_id: str | None, review_id: str | None
) -> GuardReview:
    """Return a review of which nothing is known yet but what it is of.

    Args:
        step: The reviewed step as it is compared.
        policy: The policy that will decide.
        holdout: The share of units that are held out, 0..1.
        thread_id: The thread that the step belongs to, if it is known.
        review_id: Id of the review; a random one without.

    Raises:
        InvalidEpisode: It can be no id.
    """
    name = uuid.uuid4().hex if review_id is None else checked_id(review_id, "review_id")
    parts = ("review", name) if thread_id is None else ("thread", str(thread_id), step)
    unit = hashlib.blake2b(_message(parts), digest_size=UNIT_BYTES).hexdigest()
    return GuardReview(step, policy=policy, review_id=name, unit=unit, holdout=holdout)


def silenced(review: GuardReview, namespace: Sequence[str], seed: int | str | None) -> GuardReview:
    """Return a review whose warnings are withheld if its unit is drawn.

    Args:
        review: With all that was found.
        namespace: Whose memory.
        seed: See `is_held_out`.
    """
    if not review.warnings or not is_held_out(review.unit, namespace, review.holdout, seed):
        return review
    return replace(review, withheld=review.warnings, warnings=(), chains=(), confidence=0.0)


def is_held_out(
    unit: str, namespace: Sequence[str], holdout: float, seed: int | str | None
) -> bool:
    """Say whether the warnings of a unit are kept silent.

    A unit that is held out at one share is held out at every larger one.

    Args:
        unit: See `GuardReview.unit`.
        namespace: Whose memory.
        holdout: Share of units to hold out, 0..1.
        seed: Draws other units; None is a seed like any other.
    """
    # The same seed from the environment is a text.
    key = None if seed is None else str(seed)
    drawn = hashlib.blake2b(_message([key, *namespace, unit]), digest_size=8).digest()
    return int.from_bytes(drawn, "big") / _RANGE < holdout


def _message(parts: Sequence[object]) -> bytes:
    return json.dumps(parts).encode()
