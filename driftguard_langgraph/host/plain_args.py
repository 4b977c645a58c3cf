"""Arguments of a tool call as plain JSON that can be kept, whatever a model or a test put in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.text.validation import visible_text

MAX_DEPTH = 32
"""Levels that are kept as they are; what lies deeper is told in words."""


def plain_args(value: Any, depth: int = 0) -> Any:
    """Return a value as plain JSON: what is none is told in words, broken text is repaired.

    Args:
        value: An argument, or all of them.
        depth: How deep it lies.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return visible_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if depth < MAX_DEPTH:
        if isinstance(value, Mapping):
            return {visible_text(words(key)): plain_args(value[key], depth + 1) for key in value}
        if isinstance(value, list | tuple):
            return [plain_args(item, depth + 1) for item in value]
    return visible_text(words(value) if depth < MAX_DEPTH else type(value).__name__)


def words(value: object) -> str:
    """Return what an object says of itself; the name of its type, if it fails to."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - anybody's `__str__`, and it must not cost a tool call
        return type(value).__name__
