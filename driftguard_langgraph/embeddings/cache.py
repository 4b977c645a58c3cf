"""Embedding once per text, and the check that what a model returns are usable vectors."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import DriftGuardError, EmbeddingError

_Key = str | bytes
_LONGEST_PLAIN_KEY = 200
_SHOWN_CHARS = 60
# A vector shorter than this has no direction worth the name in float32.
_SHORTEST_VECTOR = 1e-6


class CachedEmbedder:
    """Keeps the vectors of the texts seen last, and checks what the model returns.

    Each different text of a call is embedded once, all missing ones in one call of the
    model. What is returned is the caller's own: changing it does not change the cache.

    Args:
        inner: The model.
        size: Number of texts to remember; 0 remembers none.
    """

    def __init__(self, inner: Embedder, size: int) -> None:
        self.inner = inner
        self._size = size
        self._vectors: OrderedDict[_Key, NDArray[np.float32]] = OrderedDict()
        self._lock = ForkSafeLock()

    @property
    def model_id(self) -> str:
        """Name of the model behind the cache."""
        return self.inner.model_id

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self.inner.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape `(len(texts), dimension)`.

        Raises:
            EmbeddingError: The model failed, or returned something other than one finite,
                non-zero vector of the right length per text.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        wanted = {_key(text): text for text in texts}
        vectors = self._remembered(wanted)
        missing = {key: text for key, text in wanted.items() if key not in vectors}
        if missing:
            fresh = dict(zip(missing, self._embed_now(list(missing.values())), strict=True))
            self._remember(fresh)
            vectors |= fresh
        return np.array([vectors[_key(text)] for text in texts])

    def _remembered(self, keys: Iterable[_Key]) -> dict[_Key, NDArray[np.float32]]:
        found = {}
        with self._lock:
            for key in keys:
                if key in self._vectors:
                    self._vectors.move_to_end(key)
                    found[key] = self._vectors[key]
        return found

    def _remember(self, fresh: dict[_Key, NDArray[np.float32]]) -> None:
        with self._lock:
            for key, vector in fresh.items():
                self._vectors[key] = vector.copy()
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)

    def _embed_now(self, texts: list[str]) -> NDArray[np.float32]:
        name = self.inner.model_id
        try:
            raw = self.inner.embed(texts)
            dimension = self.inner.dimension
        except DriftGuardError:
            raise
        except Exception as error:
            raise EmbeddingError(f"the embedder {name} failed: {error!r}.") from error
        return _checked(raw, texts, dimension, name)


def _key(text: str) -> _Key:
    if len(text) <= _LONGEST_PLAIN_KEY:
        return text
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _checked(raw: object, texts: Sequence[str], dimension: int, name: str) -> NDArray[np.float32]:
    try:
        exact = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(
            f"the embedder {name} did not return a matrix of numbers: {error}."
        ) from error
    if exact.shape != (len(texts), dimension):
        raise EmbeddingError(
            f"the embedder {name} returned an array of shape {exact.shape} for {len(texts)} "
            f"text(s); it must be ({len(texts)}, {dimension})."
        )
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    for problem, rows in (
        ("NaN or infinity", ~np.isfinite(lengths)),
        ("a vector of zeros", lengths < _SHORTEST_VECTOR),
    ):
        if rows.any():
            text = texts[int(rows.argmax())]
            raise EmbeddingError(
                f"the embedder {name} returned {problem} for {text[:_SHOWN_CHARS]!r}; "
                "such a text cannot be compared with others."
            )
    usable: NDArray[np.float32] = (exact / lengths).astype(np.float32)
    return usable
