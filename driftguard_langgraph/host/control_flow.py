"""Exceptions that say nothing about the step that raised them."""

from __future__ import annotations

from langgraph import errors as host_errors

from driftguard_langgraph.errors import DriftGuardError


def is_control_flow(error: BaseException) -> bool:
    """Whether an exception steers the run, or is ours, and is no failure of a step.

    A refusal by another door of ours (a callback handler inside a middleware) is ours; so is a
    memory out of reach. What is no `Exception` is somebody's wish to stop.

    Args:
        error: What a step raised.
    """
    if not isinstance(error, Exception):
        return True
    bad_resume = getattr(host_errors, "is_invalid_resume", None)
    ours = isinstance(error, host_errors.GraphBubbleUp | DriftGuardError)
    return ours or (bad_resume is not None and bool(bad_resume(error)))
