"""The embedder seam: what the guard needs of a model, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors. Implementations load lazily and are thread-safe."""

    @property
    def model_id(self) -> str:
        """Stable name of the model *and* the way it is run; vectors of two ids never mix."""

    @property
    def dimension(self) -> int:
        """Length of the vectors. May load the model."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape `(len(texts), dimension)`.

        Raises:
            EmbeddingError: The model could not be loaded or run.
        """
