"""Quoting recorded text in a prompt so that nothing in it can act.

A quotation is one line: `> ` and a JSON string. It has no line breaks, so it can begin no
section, list, fence or message of its own; what other formats read as structure (backticks,
angle brackets, square brackets, hashes, role names before a colon) is replaced by look-alikes;
and its length is bounded. Whoever reads the prompt sees words, never structure.
"""

from __future__ import annotations

import json
import re
import unicodedata

from driftguard_langgraph.text.validation import visible_text

MAX_QUOTE = 240
"""Longest quotation, in characters: two sentences."""

_LOOK_ALIKES = str.maketrans(
    {"`": "ʼ", "~": "∼", "<": "‹", ">": "›", "[": "⟦", "]": "⟧", "{": "⦃", "}": "⦄",
     "#": "＃", "|": "¦", "\\": "＼", '"': "”", "*": "∗"}
)  # fmt: skip
_ROLE = re.compile(
    r"\b(system|developer|user|human|assistant|ai|tool|function|instructions?)[ \t]*[:：]",
    re.IGNORECASE,
)


def quoted(text: str, limit: int = MAX_QUOTE) -> str:
    """Return a text as one line of quotation.

    Args:
        text: Any text.
        limit: Longest quotation, in characters of the text.
    """
    line = one_line(text, limit)
    return "> " + json.dumps(line, ensure_ascii=False)


def one_line(text: str, limit: int = MAX_QUOTE) -> str:
    """Return a text without line breaks, control characters and structure, of bounded length."""
    shown = visible_text(text[: 4 * limit])
    words = "".join(" " if _breaks(char) else char for char in shown).split()
    line = _ROLE.sub(r"\1 –", " ".join(words).translate(_LOOK_ALIKES))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


_JOINERS = frozenset("\u200c\u200d")
"""Invisible characters that Persian, Hindi and emoji are written with."""


def _breaks(char: str) -> bool:
    """Whether a character ends a line, is invisible, or changes the direction of writing."""
    if char in _JOINERS:
        return False
    return char.isspace() or unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp", "Co", "Cn"}
