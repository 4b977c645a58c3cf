"""From what the user gave to the strategy that measures the topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.drift.strategies.base import TopicStrategy
from driftguard_langgraph.drift.strategies.composite import CompositeStrategy
from driftguard_langgraph.drift.strategies.lexical import KeywordStrategy, TokenOverlapStrategy
from driftguard_langgraph.drift.strategies.semantic import SemanticStrategy
from driftguard_langgraph.embeddings.cache import CachedEmbedder
from driftguard_langgraph.embeddings.resolve import resolve_embedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings

STRATEGIES = ("semantic", "keyword", "token_overlap")
"""The names that stand for a strategy."""


def resolve_strategy(given: object | None, settings: DriftGuardSettings) -> TopicStrategy:
    """Return the strategy to use.

    Args:
        given: A strategy, one of the names in `STRATEGIES`, an `Embedder`, a LangChain
            `Embeddings` object or a callable from a text to its vector (all three are the
            semantic strategy on it), or a sequence of these (a composite with equal
            weights). None is the semantic strategy on the embedder that the settings name.
        settings: `drift_score_map`, and the `embedding_*` settings.

    Raises:
        ConfigurationError: It is something else.
        MissingExtra: The chosen embedding backend is not installed.
    """
    if isinstance(given, list | tuple):
        parts = cast("Sequence[object]", given)
        return CompositeStrategy([resolve_strategy(part, settings) for part in parts])
    if isinstance(given, str):
        return _named(given, settings)
    if given is not None and not isinstance(given, type) and isinstance(given, TopicStrategy):
        return given
    embeddings = given
    is_model = isinstance(given, type) or any(
        hasattr(given, name) for name in ("embed", "embed_documents")
    )
    if callable(given) and not is_model:
        embeddings = CachedEmbedder(CallableEmbedder(given), settings.embedding_cache_size)
    return SemanticStrategy(resolve_embedder(embeddings, settings), settings.drift_score_map)


def _named(name: str, settings: DriftGuardSettings) -> TopicStrategy:
    if name == "semantic":
        return resolve_strategy(None, settings)
    if name == "keyword":
        return KeywordStrategy(score_map=settings.drift_score_map)
    if name == "token_overlap":
        return TokenOverlapStrategy(settings.drift_score_map)
    raise ConfigurationError(f"strategy {name!r} must be one of: {', '.join(STRATEGIES)}.")


class CallableEmbedder:
    """An embedder out of a function from a text to its vector.

    Args:
        function: The function; it is called once a text.
    """

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function
        self._dimension: int | None = None

    @property
    def model_id(self) -> str:
        """Name of the function."""
        name = getattr(self._function, "__qualname__", type(self._function).__qualname__)
        return f"callable:{name}"

    @property
    def dimension(self) -> int:
        """Length of the vectors; embeds one word if nothing was embedded yet."""
        if self._dimension is None:
            self.embed(["dimension"])
        return self._dimension or 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, as the function returns it."""
        vectors = np.asarray([self._function(text) for text in texts], dtype=np.float32)
        self._dimension = int(vectors.shape[1]) if vectors.ndim == 2 else 0
        return vectors
