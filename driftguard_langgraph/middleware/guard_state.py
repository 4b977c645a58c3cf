"""What guarded agents keep of a thread, in private state: plain JSON, each part with a reducer.

Tool calls of one message run at the same time, each in a task of its own, and all of them may
write; the reducers make the outcome independent of their order. LangGraph takes the last item of
an annotation for the reducer, so it stands behind the marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState
from langchain.agents.middleware.types import PrivateStateAttr

MAX_BUMPED = 500
"""Triggers that a thread remembers as shown; the oldest are forgotten, and shown once more."""

MAX_ADVICE = 32
"""Calls of a thread whose evidence the model goes on seeing, the newest."""

MAX_OPEN = 32
"""Refused calls that are not settled yet."""


def latest(held: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the newer of two counts; only one node writes them."""
    return dict(new if new is not None else held or {})


def joined(held: list[str] | None, new: list[str] | None) -> list[str]:
    """Return both lists without repetitions, the newest at the end."""
    return list(dict.fromkeys([*(held or ()), *(new or ())]))[-MAX_BUMPED:]


def newest_advice(held: Mapping[str, str] | None, new: Mapping[str, str] | None) -> dict[str, str]:
    """Return both mappings, no more than the newest `MAX_ADVICE` of their entries."""
    merged = {**(held or {}), **(new or {})}
    return dict(list(merged.items())[-MAX_ADVICE:])


def still_open(
    held: Mapping[str, Any] | None, new: Mapping[str, Any] | None
) -> dict[str, dict[str, Any]]:
    """Return both mappings without what is None in the newer one: that is settled."""
    merged = {**(held or {}), **(new or {})}
    kept = [(key, value) for key, value in merged.items() if value is not None]
    return dict(kept[-MAX_OPEN:])


class GuardAgentState(AgentState[Any]):
    """State of an agent whose tool calls are guarded; for the middleware alone.

    Attributes:
        driftguard_bumped: What `speed_bump` has shown in this thread.
        driftguard_advice: What the model is told about calls that ran, by the id of the call.
        driftguard_open: Refused calls until another one runs, by the id of the review.
        driftguard_progress: Which calls had which results, to tell what repeats.
    """

    driftguard_bumped: NotRequired[Annotated[list[str], PrivateStateAttr, joined]]
    driftguard_advice: NotRequired[Annotated[dict[str, str], PrivateStateAttr, newest_advice]]
    driftguard_open: NotRequired[Annotated[dict[str, Any], PrivateStateAttr, still_open]]
    driftguard_progress: NotRequired[Annotated[dict[str, Any], PrivateStateAttr, latest]]
