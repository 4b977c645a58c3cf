"""Meaning by shared words: no model, any language that puts spaces between words.

Words are compared by their stems, and those of everyday talk do not count. The fixed zones are
context-drift-analyzer's: whole words, and the share of the context that is repeated.
"""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from driftguard_langgraph.drift.reading.smalltalk import content_words
from driftguard_langgraph.drift.strategies.base import ScoreMap, TopicContext
from driftguard_langgraph.drift.strategies.scale import score_of
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.judgement.lexicon import FUNCTION_WORDS, NEGATIONS

BACKEND = "lexical"
"""What measures meaning where no model does."""

_KEYWORD_LEVEL = (-0.29, 4.92)
_OVERLAP_LEVEL = (-0.29, 10.4)
"""Log-odds of a turn without a shared word, and how much is added per unit of overlap; fitted
as those of the semantic strategy."""
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_COUNTS_KEPT = 512


class KeywordStrategy:
    """Measures by how many of the context's most frequent words are said.

    Args:
        top_n: How many words of the context count; 0 is all.
        score_map: `calibrated`, or `zones`: the share of these words that is said.

    Raises:
        ConfigurationError: `top_n` is negative.
    """

    name = "keyword"
    backend = BACKEND

    def __init__(self, top_n: int = 30, score_map: ScoreMap = "calibrated") -> None:
        if top_n < 0:
            raise ConfigurationError(f"top_n={top_n} must be 0 (all words) or more.")
        self._top_n = top_n or None
        self._zones = score_map == "zones"

    def score(self, said: str, context: TopicContext) -> float | None:
        """Return how far something that is said serves the context; see `TopicStrategy`."""
        if self._zones:
            return self._share(said, context.text)
        words = frozenset(content_words(said))
        home = self._top(_counts(context.text))
        if not words or not home:
            return None
        begun = frozenset[str]().union(*map(_counts, context.opening))
        hits = sum(
            1.0 if word in home else context.opening_weight if word in begun else 0.0
            for word in words
        )
        return _level(hits / math.sqrt(len(words)), _KEYWORD_LEVEL)

    def _share(self, said: str, context: str) -> float:
        home = self._top(Counter(_plain_words(context)))
        if not home:
            return 100.0
        return 100.0 * len(home.intersection(_plain_words(said))) / len(home)

    def _top(self, counts: Counter[str]) -> frozenset[str]:
        return frozenset(word for word, _ in counts.most_common(self._top_n))


class TokenOverlapStrategy:
    """Measures by the cosine of word frequencies, with the nearest piece of the context.

    Args:
        score_map: `calibrated`, or `zones`: the cosine with the whole context, times 100.
    """

    name = "token_overlap"
    backend = BACKEND

    def __init__(self, score_map: ScoreMap = "calibrated") -> None:
        self._zones = score_map == "zones"

    def score(self, said: str, context: TopicContext) -> float | None:
        """Return how far something that is said serves the context; see `TopicStrategy`."""
        if self._zones:
            home = Counter(_plain_words(context.text))
            return 100.0 * _cosine(Counter(_plain_words(said)), home) if home else 100.0
        words = Counter(content_words(said))
        if not words or not context.pieces:
            return None
        near = max(_cosine(words, _counts(piece)) for piece in context.pieces)
        begun = max((_cosine(words, _counts(text)) for text in context.opening), default=0.0)
        return _level(max(near, context.opening_weight * begun), _OVERLAP_LEVEL)


def _level(overlap: float, line: tuple[float, float]) -> float:
    without, per_unit = line
    return score_of(without + per_unit * overlap)


@lru_cache(maxsize=_COUNTS_KEPT)
def _counts(text: str) -> Counter[str]:
    return Counter(content_words(text))


def _plain_words(text: str) -> list[str]:
    words = text.lower().translate(_PUNCTUATION).split()
    return [word for word in words if word not in FUNCTION_WORDS and word not in NEGATIONS]


def _cosine(left: Mapping[str, int], right: Mapping[str, int]) -> float:
    shared = sum(count * right.get(word, 0) for word, count in left.items())
    if not shared:
        return 0.0
    lengths = sum(n * n for n in left.values()) * sum(n * n for n in right.values())
    return shared / math.sqrt(lengths)
