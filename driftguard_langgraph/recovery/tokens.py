"""How many tokens a text has."""

from __future__ import annotations

from collections.abc import Callable

TokenCounter = Callable[[str], int]
"""Returns the number of tokens of a text."""

CHARS_PER_TOKEN = 4
"""About so many characters make a token of English text (OpenAI's rule of thumb)."""


def estimated_tokens(text: str) -> int:
    """Return an estimate of the tokens of a text, rounded up."""
    return -(-len(text) // CHARS_PER_TOKEN)
