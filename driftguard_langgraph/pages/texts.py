"""Recorded texts and times as the page holds them."""

from __future__ import annotations

from datetime import UTC, datetime

CHARS = 400
"""Characters of a recorded text that the page holds."""


def bounded(text: str, limit: int = CHARS, whole: int | None = None) -> str:
    """Return the text, of a long one the beginning and how much was cut.

    Args:
        text: As it was recorded, or what a higher limit left of it.
        limit: Characters that are kept.
        whole: How long it was when it was recorded; by default as it is.
    """
    cut = (len(text) if whole is None else whole) - limit
    return text if cut <= 0 else f"{text[:limit]}… (+{cut:,} characters)"


def stamp(at: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the second."""
    return at.astimezone(UTC).isoformat(timespec="seconds")
