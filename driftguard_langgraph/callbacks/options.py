"""What can be asked of the callback handler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from driftguard_langgraph.callbacks.runs import RunKind
from driftguard_langgraph.errors import ConfigurationError

Mode = Literal["observe", "block"]

KINDS: tuple[RunKind, ...] = get_args(RunKind)
"""What can be recorded, and is by default."""


def check_mode(mode: object, policy: object, min_confidence: object) -> None:
    """Check that what is to be stopped fits the mode.

    Args:
        mode: `observe` or `block`.
        policy: What follows from a warning, None if not given.
        min_confidence: From which confidence on, None if not given.

    Raises:
        ConfigurationError: It does not, or one of them is unknown.
    """
    if mode not in get_args(Mode):
        raise ConfigurationError(f"mode={mode!r} must be 'observe' or 'block'.")
    if mode == "observe" and (policy is not None or min_confidence is not None):
        raise ConfigurationError(
            "policy and min_confidence say what is stopped; mode='observe' stops nothing. "
            "Leave them out, or set mode='block'."
        )
    if policy not in (None, "block", "acknowledge"):
        raise ConfigurationError(
            f"policy={policy!r} must be 'block' or 'acknowledge': a callback handler can raise "
            "and cannot tell the model anything. DriftGuardMiddleware knows the other policies."
        )


def checked_kinds(record: object) -> frozenset[RunKind]:
    """Return the kinds of runs that are to be recorded.

    Args:
        record: Their names.

    Raises:
        ConfigurationError: One is unknown, or there is none.
    """
    listed = isinstance(record, Iterable) and not isinstance(record, str)
    given = list(record) if listed else []  # type: ignore[call-overload]
    if not given or any(kind not in KINDS for kind in given):
        raise ConfigurationError(
            f"record={record!r} must list what is recorded, of {', '.join(KINDS)}."
        )
    return frozenset(given)
