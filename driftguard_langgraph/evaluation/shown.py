"""Somebody else's text as it may be shown: short, and with nothing that acts on a screen."""

from __future__ import annotations

SHOWN_CHARS = 400
"""Characters of a text that are kept and shown."""


def clipped(text: str) -> str:
    """Return the text, cut if it is long."""
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"


def printable(text: str) -> str:
    """Return the text, cut if it is long, with control characters shown instead of passed on."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode()
        for c in clipped(text)
    )
