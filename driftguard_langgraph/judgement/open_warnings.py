"""Objections that are not settled yet: what a shell keeps of them until a step was executed.

Plain JSON, small and bounded, so that it can live in a graph's state. What is kept serves as
`instead_of` when the next step is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from driftguard_langgraph.judgement.settlement import MAX_SETTLEMENTS
from driftguard_langgraph.reviews import GuardReview

_KEPT = ("review_id", "unit", "query", "decision", "holdout", "withheld")


def with_objections(
    held: object, reviews: Iterable[GuardReview], run_id: str | None
) -> list[dict[str, Any]]:
    """Return what was held and the new objections; of the same step the first one counts.

    Args:
        held: What the state holds, from here.
        reviews: Reviews that objected.
        run_id: The run they belong to, if it is known.
    """
    kept = objections(held, run_id)
    seen = {each.get("query") for each in kept}
    new = [_trimmed(review, run_id) for review in reviews if review.query not in seen]
    return [*kept, *new][-MAX_SETTLEMENTS:]


def objections(held: object, run_id: str | None) -> list[dict[str, Any]]:
    """Return the open objections of a run.

    One that another run left behind is not open any more: that run ended without a step in
    the place of what it gave up.

    Args:
        held: What the state holds; anything that is not from here is passed over.
        run_id: The present run, if it is known.
    """
    given = held if isinstance(held, list | tuple) else ()
    mappings = (dict(each) for each in given if isinstance(each, Mapping))
    return [each for each in mappings if each.get("run_id") == run_id]


def _trimmed(review: GuardReview, run_id: str | None) -> dict[str, Any]:
    plain = review.to_dict()
    named = {
        key: [{"trigger": warning["trigger"]} for warning in plain[key]]
        for key in ("warnings", "muted")
    }
    return {**{key: plain[key] for key in _KEPT}, **named, "run_id": run_id}
