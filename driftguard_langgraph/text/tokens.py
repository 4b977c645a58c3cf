"""How many tokens a text has."""

from __future__ import annotations

from collections.abc import Callable

TokenCounter = Callable[[str], int]
"""Returns the number of tokens of a text."""

_BYTES_PER_TOKEN = 4


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has: one for four bytes of UTF-8, rounded up.

    For English that is context-drift-analyzer's rule of four characters. Other scripts have
    fewer characters to a token and more bytes to a character, so bytes come nearer.
    """
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)
