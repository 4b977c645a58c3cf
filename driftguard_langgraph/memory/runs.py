"""Making a verdict about a whole run of what a caller reports, checked before it is kept."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.memory.episodes import checked_severity, checked_time
from driftguard_langgraph.memory.stores.records import RunVerdict
from driftguard_langgraph.text.validation import (
    TextLimits,
    observed_text,
    place_id,
)
from driftguard_langgraph.types import RunReceipt, utc_now


def build_verdict(
    thread_id: str | None,
    run_id: str | None,
    success: bool,
    outcome: str,
    severity: str,
    limits: TextLimits,
    decided_at: datetime | None = None,
) -> RunVerdict:
    """Check what a caller reports and make a verdict of it.

    Args:
        thread_id: The thread that ended.
        run_id: The run that ended.
        success: How.
        outcome: What it led to.
        severity: How bad or valuable that was.
        limits: What the outcome may hold.
        decided_at: When it was given, with a time zone; by default now.

    Raises:
        InvalidEpisode: Something given cannot be kept; the message says what.
        ConfigurationError: Not exactly one of the two ids is given.
    """
    if (thread_id is None) == (run_id is None):
        raise ConfigurationError(
            "a verdict is about one thread or about one run: give thread_id=... or run_id=..."
        )
    if not isinstance(success, bool):
        raise InvalidEpisode(f"success={success!r} must be True or False.")
    scope: Literal["thread", "run"] = "run" if thread_id is None else "thread"
    return RunVerdict(
        scope=scope,
        # As the ids in the provenance of episodes are kept, or they would not meet.
        run=place_id(run_id if thread_id is None else thread_id, f"{scope}_id", limits.redactor),
        success=success,
        outcome=observed_text(outcome, "outcome", limits),
        severity=checked_severity(severity),
        decided_at=utc_now() if decided_at is None else checked_time(decided_at, "decided_at"),
    )


def run_receipt(
    verdict: RunVerdict,
    status: Literal["stored", "replaced", "unknown", "unavailable"],
    *,
    actions: int = 0,
    error: str | None = None,
) -> RunReceipt:
    """Return what the caller is told about a verdict, as plain JSON."""
    return RunReceipt(
        status=status,
        thread_id=verdict.run if verdict.scope == "thread" else None,
        run_id=verdict.run if verdict.scope == "run" else None,
        success=verdict.success,
        outcome=verdict.outcome,
        actions=actions,
        error=error,
    )
