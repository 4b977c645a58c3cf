"""Where to go after a review: run the step, revise it, or stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, cast, get_args

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes.guard_review import OBJECTIONS
from driftguard_langgraph.nodes.options import check_count, check_names
from driftguard_langgraph.types import REFUSALS, Decision

ReviewRoute = Literal["proceed", "revise", "stop"]

DEFAULT_MAX_REVISIONS = 2
"""Two more proposals per step: one that heeds the warning, one that heeds its own."""


def create_route_on_review(
    *,
    max_revisions: int = DEFAULT_MAX_REVISIONS,
    review_key: str = "guard_review",
    revisions_key: str = "guard_revisions",
) -> Callable[[Any], ReviewRoute]:
    """Return a function for `add_conditional_edges` after a review node.

    It answers `"proceed"` when the memory has nothing against the step (`proceed`,
    `override`, `skipped`, `unavailable`). When it objects (`warn`, `block`, `acknowledge`,
    `speed_bump`) it answers `"revise"` up to `max_revisions` times in a row; the objection
    after those is final: `"proceed"` for a warning, `"stop"` for a refusal. The next step
    then starts with a fresh budget.

    Args:
        max_revisions: How often one step may go back to the planner; 0 for never.
        review_key: Where the review node writes its review.
        revisions_key: Where it counts its objections in a row.

    Raises:
        ConfigurationError: An argument is not usable. At run time: the state holds no
            review, or no count beside an objection.
    """
    check_count("max_revisions", max_revisions, 0)
    check_names({"review_key": review_key, "revisions_key": revisions_key})

    def route_on_review(state: Any) -> ReviewRoute:
        decision = _decision(_get(state, review_key), review_key)
        if decision not in OBJECTIONS:
            return "proceed"
        objections = _get(state, revisions_key)
        if not objections:
            raise ConfigurationError(
                f"the state does not keep '{revisions_key}', so the revisions of a step "
                f"cannot be counted. Add `{revisions_key}: int` to its schema, or extend "
                "DriftGuardState."
            )
        # Nobody has to reset the count: every (max_revisions + 1)-th objection in a row
        # ends a step, so the next one starts a new budget.
        if objections % (max_revisions + 1):
            return "revise"
        return "stop" if decision in REFUSALS else "proceed"

    return route_on_review


def route_on_review(state: Any) -> ReviewRoute:
    """Route after a review with the default names and budget; see `create_route_on_review`.

    Args:
        state: The graph's state.
    """
    return _DEFAULT_ROUTE(state)


_DEFAULT_ROUTE = create_route_on_review()


def _get(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def _decision(review: Any, key: str) -> Decision:
    found = review.get("decision") if isinstance(review, Mapping) else None
    if found not in get_args(Decision):
        raise ConfigurationError(
            f"the state has no review under '{key}': put this edge after a guard review "
            "node and give both the same review_key."
        )
    return cast("Decision", found)
