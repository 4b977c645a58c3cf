"""Sentences of a text, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

MAX_SENTENCES = 400
"""Sentences of one message that are read; a turn has at most 20,000 characters."""
_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bMr\.)(?<!\bDr\.)(?<!\bMs\.)"
    r"[\"')\]]?\s+|(?<=[。！？])|\n+"
)
_BULLET = re.compile(r"\s*(?:[-*•·–]|\d{1,3}[.)]|[a-z][.)])\s+")
_CLOSED = re.compile(r"[.!?。！？;]\s*$")
_TAIL = 20
"""Characters at the end of a sentence that say whether it asks."""
_TAG = re.compile(r",\s*(?:right|ok|okay|correct|yes|no|isn't it|agreed)\s*\?\W*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a text.

    Attributes:
        text: Its words, without a bullet.
        start: Where it starts in the text.
        end: Where it ends.
    """

    text: str
    start: int
    end: int

    @property
    def asks(self) -> bool:
        """Whether it is a question; "..., right?" wants no answer."""
        return _asks(self.text[-_TAIL:])


@lru_cache(maxsize=1024)
def _asks(tail: str) -> bool:
    return not _TAG.search(tail) and tail.rstrip("\"')”").endswith(("?", "？"))


def sentences(text: str, limit: int | None = MAX_SENTENCES) -> list[Sentence]:
    """Return the sentences of a text with their places.

    A line break ends a sentence unless the next line goes on in lower case; a line that ends
    with a colon takes the next one along, if that is no list item.

    Args:
        text: Any text.
        limit: How many are read of a very long one; None reads all, as of a baseline.
    """
    found: list[Sentence] = []
    for start, end in _spans(text):
        raw = text[start:end]
        bullet = _BULLET.match(raw)
        begin = start + (bullet.end() if bullet else len(raw) - len(raw.lstrip()))
        body = text[begin:end].rstrip()
        if any(map(str.isalnum, body)):
            found.append(Sentence(body, begin, begin + len(body)))
        if len(found) == limit:
            break
    return found


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _END.finditer(text):
        if "\n" in mark.group() and _goes_on(text, start, mark):
            continue
        yield start, mark.start()
        start = mark.end()
    yield start, len(text)


def _goes_on(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a line break is inside of a sentence."""
    if mark.group().count("\n") > 1 or mark.end() >= len(text):
        return False
    # Only the ends of the two lines are looked at: their length must not matter.
    before = text[max(start, mark.start() - 3) : mark.start()].rstrip()
    after = text[mark.end() : mark.end() + 60]
    if not before or _BULLET.match(after):
        return False
    if before.endswith(":"):
        return True
    return not _CLOSED.search(before) and after.lstrip()[:1].islower()
