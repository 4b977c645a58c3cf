"""Texts that are longer than a model reads: embedded in pieces, then averaged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the rows scaled to length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)


def average_pieces(
    vectors: NDArray[np.float32], tokens: Sequence[int], owners: Sequence[int], count: int
) -> NDArray[np.float32]:
    """Return one unit vector per text from the vectors of its pieces.

    Args:
        vectors: One unit vector per piece.
        tokens: Number of tokens of each piece, the weight of its vector.
        owners: Index of the text each piece belongs to; every text has at least one.
        count: Number of texts.
    """
    if len(owners) == count:
        return vectors[np.argsort(np.asarray(owners))]
    weighted = vectors * np.asarray(tokens, dtype=np.float32)[:, np.newaxis]
    sums = np.zeros((count, vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, np.asarray(owners), weighted)
    return unit(sums)
