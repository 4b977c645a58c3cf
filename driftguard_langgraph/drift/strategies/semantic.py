"""Meaning by an embedding model: nearer to the context than to the topics of the world?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from driftguard_langgraph.drift.reading.english import reads_english
from driftguard_langgraph.drift.strategies.base import ScoreMap, TopicContext
from driftguard_langgraph.drift.strategies.geometry import Background, Home, Matrix
from driftguard_langgraph.drift.strategies.scale import score_of
from driftguard_langgraph.drift.strategies.topics import TOPICS
from driftguard_langgraph.embeddings._lazy import Lazy
from driftguard_langgraph.embeddings.base import Embedder

_SLOPE = 0.735
_OFFSET = 0.975
_PRIOR = 4.8
"""Log-odds of a turn = prior + ln(words) * (slope * contrast - offset): the more words, the
more a contrast says. The line is a logistic regression on labelled dialogues; that it counts
1.5 times, plus 3 for a session being on purpose until its turns say otherwise, was chosen on
the same dialogues by false alarms against delay."""
_LEAST = -3.0
"""Least log-odds of a turn: one foreign turn takes a session from FRESH to MILD, the second
below MODERATE, and three turns at home bring it back."""
_LEAST_IF_VAGUE = 0.4
"""The same if the context names no purpose: 60 of 100. What has none cannot be left."""
_FEWEST_WORDS = 2
_MOST_WORDS = 40
_CONTEXTS_KEPT = 16
_SESSIONS_KEPT = 256
_ZONE_LOW, _ZONE_HIGH, _ZONE_TOP = 0.10, 0.20, 0.32


class SemanticStrategy:
    """Measures by the vectors of an embedding model.

    A text is on purpose as far as it is nearer to a piece of the context, or to the opening
    of the session, than to any topic that the context has nothing to do with.

    A context that names no purpose ("You are a helpful assistant.") leaves it to the opening
    to say what the session is for, and the score then does not fall below 60.

    Args:
        embedder: The model; give one with a cache.
        score_map: `calibrated`, or `zones`: see `zone_score`.
        english_only: Whether the model measures English only; a text in another language is
            then not measured. None: only the default model does.
    """

    name = "semantic"

    def __init__(
        self,
        embedder: Embedder,
        score_map: ScoreMap = "calibrated",
        *,
        english_only: bool | None = None,
    ) -> None:
        self._embedder = embedder
        self._zones = score_map == "zones"
        self._english_only = english_only
        self._background = Lazy(lambda: Background.of(embedder.embed(TOPICS)))
        self._home = lru_cache(maxsize=_CONTEXTS_KEPT)(self._read_home)
        self._session = lru_cache(maxsize=_SESSIONS_KEPT)(self._read_session)

    @property
    def backend(self) -> str:
        """Id of the embedding model."""
        return self._embedder.model_id

    def score(self, said: str, context: TopicContext) -> float | None:
        """Return how far something that is said serves the context; see `TopicStrategy`.

        Raises:
            EmbeddingError: The model failed.
        """
        if not said.strip() or not self._measures(said):
            return None
        if self._zones:
            return self._zone(said, context.text)
        home = self._session(context.pieces, context.opening, context.opening_weight)
        if home.is_empty:
            return None
        contrast = home.contrast(self._embedder.embed([said]))
        words = min(max(len(said.split()), _FEWEST_WORDS), _MOST_WORDS)
        level = _PRIOR + math.log(words) * (_SLOPE * contrast - _OFFSET)
        least = home.purpose * _LEAST + (1.0 - home.purpose) * _LEAST_IF_VAGUE
        return score_of(max(least, level))

    def _zone(self, said: str, context: str) -> float | None:
        if not context:
            return None
        reference, spoken = self._embedder.embed([context, said])
        return zone_score(float(reference @ spoken))

    def _measures(self, text: str) -> bool:
        english_only = self._english_only
        if english_only is None:
            english_only = "all-minilm" in self.backend.lower()
        return not english_only or reads_english(text)

    def _read_home(self, pieces: tuple[str, ...]) -> Home:
        return Home.of(self._vectors(pieces), self._background.get())

    def _read_session(
        self, pieces: tuple[str, ...], opening: tuple[str, ...], opening_weight: float
    ) -> Home:
        return self._home(pieces).opened(self._vectors(opening), opening_weight)

    def _vectors(self, texts: Sequence[str]) -> Matrix:
        return self._embedder.embed(list(filter(self._measures, texts)))


def zone_score(cosine: float) -> float:
    """Return a score by the fixed zones of context-drift-analyzer.

    Args:
        cosine: Cosine of what is said with the whole context, -1..1.

    Returns:
        0..100: 25 at a cosine of .10, 75 at .20, 100 from .32.
    """
    if cosine <= _ZONE_LOW:
        score = 250.0 * cosine
    elif cosine <= _ZONE_HIGH:
        score = 25.0 + 50.0 * (cosine - _ZONE_LOW) / (_ZONE_HIGH - _ZONE_LOW)
    else:
        score = 75.0 + 25.0 * min(1.0, (cosine - _ZONE_HIGH) / (_ZONE_TOP - _ZONE_HIGH))
    return min(100.0, max(0.0, score))
