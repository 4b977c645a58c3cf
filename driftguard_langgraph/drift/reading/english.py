"""Whether a text is English, for models that measure nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

# Its import reads a folder: here, and not in a call that may run in an event loop.
from simplemma import in_target_language

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LONG_PART = re.compile(r"[^\W\d_]{3,}")
_READ_CHARS = 300
_READ_WORDS = 24
"""How much of a text is looked at: enough to tell a language."""
_LATIN_END = "\u0250"
_FEWEST_WORDS = 3
_KNOWN_SHARE = 0.5
"""Share of English words that an English text is above. Of 7,916 turns of English dialogues
12 are not; fifteen sentences in other languages had 0 to .5, one .8."""
_KNOWN_SHARE_SHORT = 0.4
"""The same of three words, one of which may be slang."""


def reads_english(text: str) -> bool:
    """Whether a text is English as far as its words tell.

    Names and other capitalised words are passed over. A text of one or two words passes if it
    is in Latin script.

    Args:
        text: Any text; only its first 300 characters are looked at.
    """
    head = text[:_READ_CHARS]
    if not head.isascii() and not _is_latin(head):
        return False
    words = [word for word in _WORD.findall(head) if word.islower() and len(word) > 1]
    words = words[:_READ_WORDS]
    if len(words) < _FEWEST_WORDS:
        return True
    share = _known_share(words)
    return share >= _KNOWN_SHARE_SHORT if len(words) == _FEWEST_WORDS else share > _KNOWN_SHARE


def _known_share(words: Iterable[str]) -> float:
    """Return the share of English ones among the different words of three letters and more."""
    parts = set(_LONG_PART.findall(" ".join(words)))
    return sum(map(_is_known, parts)) / len(parts) if parts else 0.0


@lru_cache(maxsize=65_536)
def _is_known(word: str) -> bool:
    return in_target_language(word, lang="en") > 0.0


def _is_latin(text: str) -> bool:
    letters = list(filter(str.isalpha, text))
    return 2 * sum(letter < _LATIN_END for letter in letters) >= len(letters)
