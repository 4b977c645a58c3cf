"""A long context in pieces: a model reads them whole, and one of them may be what a turn is on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from driftguard_langgraph.drift.baseline import BASELINES_KEPT

PIECE_CHARS = 800
"""Longest piece: about 180 tokens, which any sentence model reads whole."""
_SENTENCE_CHARS = 20
"""Shorter sentences ("Be brief.") hold no topic."""
_MAX_SENTENCES = 128
"""Sentences of a context that are compared with a turn; of a longer one, evenly chosen ones."""
_MAX_PIECES = 64
"""Pieces of a context that are compared with a turn: 51,200 characters of it, evenly chosen."""
_BREAK = re.compile(r"(?<=[.!?;:])\s+|\s*\n\s*")


@lru_cache(maxsize=BASELINES_KEPT)
def chunked(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return texts in pieces and in sentences, each once; time is linear in their length.

    Args:
        texts: The parts of a context; no piece spans two of them.
    """
    sentences = [sentence for text in texts for sentence in _sentences(text)]
    pieces = [piece for text in texts for piece in _pieces(text)]
    single = [sentence for sentence in sentences if len(sentence) >= _SENTENCE_CHARS]
    chosen = (*_evenly(pieces, _MAX_PIECES), *_evenly(single, _MAX_SENTENCES))
    return tuple(dict.fromkeys(chosen))


def _sentences(text: str) -> Iterator[str]:
    for sentence in _BREAK.split(text):
        for place in range(0, len(sentence), PIECE_CHARS):
            part = sentence[place : place + PIECE_CHARS].strip()
            if part:
                yield part


def _pieces(text: str) -> Iterator[str]:
    """Yield runs of sentences that fill a piece."""
    held: list[str] = []
    length = 0
    for sentence in _sentences(text):
        if held and length + 1 + len(sentence) > PIECE_CHARS:
            yield " ".join(held)
            held, length = [], 0
        held.append(sentence)
        length += 1 + len(sentence)
    if held:
        yield " ".join(held)


def _evenly(items: Sequence[str], count: int) -> list[str]:
    if len(items) <= count:
        return list(items)
    return [items[place * len(items) // count] for place in range(count)]
