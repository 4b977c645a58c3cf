"""Notes that are written as data: keys and values read as the sentences that they stand for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

MAX_ENTRIES = 100
"""Values of one note that are read."""
_DEPTH = 6
"""Levels of nesting that are read; deeper ones are data of a program."""
_ASSIGNED = re.compile(r"\b([^\W\d_]+(?:_\w+)*)\s?=\s?([^\s,;=]{1,40})")
"""One setting: a name of words, and its value."""


def spelled_out(text: str) -> str:
    """Return a note with its keys and values as sentences; any other text as it is.

    `{"terms": {"safe": "not yet broken"}}` becomes "terms." and "safe: not yet broken.", and
    `max_order=50` becomes "max order is 50,".

    Args:
        text: What a scaffold says.
    """
    start = text.lstrip()[:1]
    if start and start in "{[":
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, Mapping | list):
            return "\n".join(
                line for line, _ in zip(_lines(data), range(MAX_ENTRIES), strict=False)
            )
    return _ASSIGNED.sub(_sentence, text) if "=" in text else text


def _sentence(found: re.Match[str]) -> str:
    return f"{found.group(1).replace('_', ' ')} is {found.group(2)},"


def _lines(data: object, name: str = "", depth: int = 0) -> Iterator[str]:
    if depth > _DEPTH:
        return
    if isinstance(data, Mapping):
        if name:
            yield f"{name}."
        for key, value in data.items():
            yield from _lines(value, str(key).replace("_", " "), depth + 1)
    elif isinstance(data, Sequence) and not isinstance(data, str):
        for value in data:
            yield from _lines(value, name, depth + 1)
    elif isinstance(data, str) or (isinstance(data, int | float) and not isinstance(data, bool)):
        yield f"{name}: {data}" if name else str(data)
