"""The model behind the measures of single sentences: it is given no more of a text than it needs.

Time to embed grows with the length (about 0.1 s per 1,000 characters on a CPU), and a "sentence"
without a full stop may be as long as the message.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.embeddings.base import Embedder

MOST_CHARS = 1_000
"""Characters of a text that are embedded, as many as the topic score reads of a turn. Rules and
sentences have 100 to 300."""
_HEAD = 600
"""How many of them stand at its beginning; the others are its end, where what is asked for stands
after a long preface."""


class ShortenedEmbedder:
    """Embeds the beginning and the end of a long text, and a shorter one whole.

    Args:
        inner: The model.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner

    @property
    def model_id(self) -> str:
        """Name of the model."""
        return self._inner.model_id

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._inner.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape `(len(texts), dimension)`.

        Raises:
            EmbeddingError: The model failed.
        """
        return self._inner.embed([_shortened(text) for text in texts])


def _shortened(text: str) -> str:
    if len(text) <= MOST_CHARS:
        return text
    return f"{text[:_HEAD]} {text[_HEAD + 1 - MOST_CHARS :]}"
