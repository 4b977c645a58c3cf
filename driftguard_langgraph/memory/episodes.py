"""Making an episode of what a caller reports: everything is checked before anything is kept."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, TypedDict

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.judgement.settlement import (
    ReviewLike,
    Settlement,
    as_metadata,
    kept_in,
    settlements,
)
from driftguard_langgraph.text.actions import ActionLike, as_action, plain_json
from driftguard_langgraph.text.redaction import Redactor
from driftguard_langgraph.text.validation import (
    TextLimits,
    checked_id,
    checked_namespace,
    observed_text,
    place_id,
)
from driftguard_langgraph.types import (
    SEVERITIES,
    Episode,
    Kind,
    Namespace,
    Receipt,
    Severity,
    utc_now,
)


class EpisodeDetails(TypedDict, total=False):
    """What may be told about an outcome besides the three texts.

    Attributes:
        severity: How bad (or valuable) it was: `low`, `medium` (the default), `high` or
            `critical`.
        episode_id: Idempotency key: recording the same one again changes nothing. By
            default a random one.
        provenance: Where it was seen: `thread_id`, `run_id`, `checkpoint_ns`,
            `tool_call_id`, `source`. Values are strings.
        metadata: Anything else worth keeping, as plain JSON.
        created_at: When it was observed, with a time zone; by default now.
        namespace: Whose memory; by default the guard's own.
        review: The review of this very step, a `GuardReview` or its `to_dict()`, so that its
            warnings are settled; see `judgement.settlement`. That of another step is ignored.
        instead_of: The review of a step that was refused or given up because of its warning,
            and in whose place this one ran; or several. That of this very step is ignored.
    """

    severity: Severity
    episode_id: str | None
    provenance: Mapping[str, str] | None
    metadata: Mapping[str, Any] | None
    created_at: datetime | None
    namespace: Sequence[str] | None
    review: ReviewLike | None
    instead_of: ReviewLike | Sequence[ReviewLike] | None


def build_episode(
    kind: Kind,
    action: ActionLike,
    feedback: str,
    outcome: str,
    limits: TextLimits,
    default_namespace: Namespace,
    *,
    namespace: Sequence[str] | None = None,
    severity: str = "medium",
    episode_id: str | None = None,
    provenance: Mapping[str, str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    created_at: datetime | None = None,
    review: ReviewLike | None = None,
    instead_of: ReviewLike | Sequence[ReviewLike] | None = None,
) -> Episode:
    """Check what a caller reports and make an episode of it.

    Args:
        kind: Mistake or success.
        action: What was tried.
        feedback: The immediate signal.
        outcome: What it led to.
        limits: How long texts may be.
        default_namespace: Whose memory, unless `namespace` says otherwise.
        namespace: See `EpisodeDetails`, as for all that follow.
        severity: How bad or valuable it was.
        episode_id: Idempotency key.
        provenance: Where it was seen.
        metadata: Anything else.
        created_at: When it was observed.
        review: The review of this step.
        instead_of: Reviews of steps in whose place it ran.

    Raises:
        InvalidEpisode: Something given cannot be kept; the message says what.
        ConfigurationError: The namespace is not one.
    """
    step = as_action(action, limits)
    given = _checked_mapping(metadata, "metadata")
    now = (_redacted(each, limits) for each in settlements(step.text, review, instead_of))
    # What an export held is taken over as it was; a redactor has no business with digests.
    settled = (*now, *kept_in(given))
    name = uuid.uuid4().hex if episode_id is None else episode_id
    return Episode(
        episode_id=checked_id(name, redactor=limits.redactor),
        namespace=default_namespace if namespace is None else checked_namespace(namespace),
        kind=kind,
        action=step,
        feedback=observed_text(feedback, "feedback", limits),
        outcome=observed_text(outcome, "outcome", limits),
        severity=checked_severity(severity),
        created_at=utc_now() if created_at is None else checked_time(created_at, "created_at"),
        provenance=_checked_provenance(_checked_mapping(provenance, "provenance"), limits.redactor),
        metadata=plain_json(given, "metadata", limits.redactor) | as_metadata(settled),
    )


def _redacted(settled: Settlement, limits: TextLimits) -> Settlement:
    # The ids of reviews are made of those of threads.
    name = checked_id(settled.review_id, "review_id", limits.redactor)
    return replace(settled, review_id=name)


def receipt_for(
    episode: Episode,
    status: Literal["stored", "duplicate", "unavailable"],
    *,
    nodes_created: int = 0,
    nodes_merged: int = 0,
    error: str | None = None,
) -> Receipt:
    """Return what the caller is told about an episode, as plain JSON."""
    return Receipt(
        status=status,
        episode_id=episode.episode_id,
        kind=episode.kind,
        action=episode.action.text,
        feedback=episode.feedback,
        outcome=episode.outcome,
        nodes_created=nodes_created,
        nodes_merged=nodes_merged,
        error=error,
    )


def checked_severity(value: str) -> Severity:
    """Return `value` if it is a severity.

    Raises:
        InvalidEpisode: It is not.
    """
    for known in SEVERITIES:
        if value == known:
            return known
    raise InvalidEpisode(f"severity {value!r} must be one of {', '.join(SEVERITIES)}.")


def checked_time(value: datetime, name: str) -> datetime:
    """Return a moment in UTC.

    Raises:
        InvalidEpisode: It has no time zone, or is out of range in UTC.
    """
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise InvalidEpisode(
            f"{name}={value!r} must be a datetime with a time zone, for example datetime.now(UTC)."
        )
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidEpisode(f"{name}={value!r} is out of range in UTC.") from None


def _checked_mapping(value: Mapping[str, Any] | None, field: str) -> dict[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise InvalidEpisode(f"{field} must be a mapping, not {type(value).__name__}.")
    return dict(value or {})


def _checked_provenance(value: Mapping[str, str], redactor: Redactor | None) -> dict[str, str]:
    return {
        place_id(key, "a provenance key", redactor): place_id(
            text, f"provenance[{key!r}]", redactor
        )
        for key, text in value.items()
    }
