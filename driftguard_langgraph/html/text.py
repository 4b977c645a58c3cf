"""Somebody else's text as it may be shown: with nothing that acts on a screen or in a page.

Recorded text is data. What could move a cursor, turn the reading direction round or hide is
shown as an escape, white space of every width as a space, and what HTML reads as markup as the
character it is, between tags and in attributes alike.
"""

from __future__ import annotations

import unicodedata
from html import escape

SHOWN_CHARS = 400
"""Characters of a text that are kept and shown where a caller has no measure of its own."""

_JOINERS = frozenset("\u200c\u200d")
"""Shape the letters of Persian and the languages of India, and emoji; they do nothing else."""


class _Shown(dict[int, str]):
    """What stands for a character: found out once, as texts of 20,000 characters are common."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isprintable() or character in "\n\t" or character in _JOINERS:
            shown = character
        elif unicodedata.category(character) == "Zs":
            shown = " "
        else:
            shown = character.encode("unicode_escape").decode()
        self[code] = shown
        return shown


_SHOWN = _Shown()


def clipped(text: str, limit: int = SHOWN_CHARS) -> str:
    """Return the text, cut if it is long.

    Args:
        text: Any text.
        limit: The most characters to return, 1 or more; the last one of a cut text is "…".
    """
    return text if len(text) <= limit else text[: limit - 1] + "…"


def printable(text: str, limit: int | None = None) -> str:
    """Return the text with control characters shown instead of passed on.

    Line ends and tabs stay, every other kind of space is a space.

    Args:
        text: Any text, also with NUL, reading direction marks or lone surrogates.
        limit: Characters after which it is cut; None for all of it. Escapes come on top.
    """
    cut = text if limit is None else clipped(text, limit)
    return cut if cut.isprintable() else cut.replace("\r\n", "\n").translate(_SHOWN)


def escaped(text: str, limit: int | None = None) -> str:
    """Return the text as it may stand in HTML, between tags or in a quoted attribute.

    Args:
        text: Any text.
        limit: Characters after which it is cut; None for all of it. Escapes come on top.
    """
    return escape(printable(text, limit))
