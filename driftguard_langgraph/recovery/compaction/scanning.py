"""One pass over a text: its words, numbers, addresses and identifiers, with their places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Shape = Literal["url", "email", "path", "token"]
"""What a piece of text is by its form alone."""

MAX_LENGTH = 200
"""Longer pieces (a key, a data URL) are data: they name nothing that a reader could recall."""

_CHAR = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A word character of a script that separates words: digits between others stand alone."""
_SCAN = re.compile(
    r"(?P<url>\b(?:https?|ftp|wss?)://[^\s<>\"'`\\^{}|]+|\bwww\.[^\s<>\"'`\\^{}|]+)"
    r"|(?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})"
    r"|(?P<path>(?<![\w/.~)])(?:~|\.{1,2})?(?:/[\w.@+-]*\w){1,20}/?"
    r"|\b[A-Za-z]:(?:\\[\w.-]{1,80}){1,20})"
    rf"|(?P<token>[$€£¥₹]?(?:(?<![\w)\]])[-\u2212](?=\d))?{_CHAR}+"
    rf"(?:(?:[-–.:/&'’](?=\w)|(?<=\d)(?:,(?=\d)|[\u00a0\u202f\u2009](?=\d{{3}}))){_CHAR}+)*"
    r"(?:(?<=\d)[ \u00a0\u202f]?[%€£₹](?!\d))?)"
)
_OPENS = re.compile(r"\n|[.!?…:;。！？：；][\"”’')\]]*\s|[。！？：；]|[\"“«„(\[{>•*·–—-]\s?$|[#|]")
_TITLES = frozenset("dr mr mrs ms prof st sr jr inc no vs".split())
_NUMBERED = re.compile(r"[.)]\s")
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text.

    Attributes:
        text: As written.
        start: Where it starts.
        shape: What it is by its form.
        gap: What stands between the piece before and this one.
        opens: Whether it opens a sentence, a line, a bracket or a quotation, so that a capital
            letter says nothing.
        labelled: Whether it stands behind a colon.
    """

    text: str
    start: int
    shape: Shape
    gap: str
    opens: bool
    labelled: bool

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


def pieces(text: str) -> Iterator[Piece]:
    """Yield the pieces of a text in order; numbers of list items are none.

    Args:
        text: Any text.
    """
    end = 0
    before = ""
    for found in _SCAN.finditer(text):
        shown = found.group().rstrip(".,;:!?)]’'") if found.lastgroup == "url" else found.group()
        # The gap may be a long row of signs; only its two ends say anything.
        gap = text[end : found.start()] if found.start() - end <= 80 else "\n"
        in_list = shown.isdigit() and (not end or "\n" in gap) and len(shown) <= 3
        if len(shown) <= MAX_LENGTH and not (
            in_list and _NUMBERED.match(text, found.start() + len(shown))
        ):
            titled = gap == ". " and before.lower() in _TITLES
            opens = not end or (not titled and _OPENS.search(gap) is not None)
            yield Piece(shown, found.start(), _shape(found.lastgroup), gap, opens, ":" in gap)
        before = shown
        end = found.start() + len(shown)


def _shape(name: str | None) -> Shape:
    match name:
        case "url" | "email" | "path":
            return name
        case _:
            return "token"


def folded_words(text: str) -> list[str]:
    """Return the words and numbers of a text, without case, width and punctuation."""
    return _WORDS.findall(unicodedata.normalize("NFKC", text).casefold())
