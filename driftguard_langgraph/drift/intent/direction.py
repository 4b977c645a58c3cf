"""The direction in which sentences that work against rules differ from those that do not.

A vector says mostly what a sentence is *about*. Of examples of one trade that share their matter
and differ in their stance, what they share is taken out first; what is left to tell the two apart
is a ridge regression. On the first sentences of three other authors it ranks a note that corrupts
above one that does not with .67, .74 and .75; the nearest examples alone with .50 to .66.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.drift.intent.keeping import KEEPING
from driftguard_langgraph.drift.intent.loosening import LOOSENING
from driftguard_langgraph.embeddings.base import Embedder

Matrix = NDArray[np.float32]
"""One vector a row."""

_RIDGE = 1.4
"""Shrinkage, in mean squared extents of a dimension; .4 to 4 measure within .01."""
_SMALLEST = 1e-6


@dataclass(frozen=True, slots=True)
class Direction:
    """What one model's vectors have against rules.

    Attributes:
        weights: Weight of each dimension, scaled so that the examples' own scores have a
            standard deviation of 1.
        offset: Added to the weighted sum: 0 is in between.
        mean: Mean cosine of two examples of different trades.
        spread: Standard deviation of these.
    """

    weights: Matrix
    offset: float
    mean: float
    spread: float

    @classmethod
    def of(cls, embedder: Embedder) -> Direction:
        """Fit it on the examples.

        Args:
            embedder: The model.

        Raises:
            EmbeddingError: The model failed.
        """
        texts = [text for trade in (*LOOSENING, *KEEPING) for text in trade]
        vectors = embedder.embed(texts)
        trades = np.array([*_trades(LOOSENING), *_trades(KEEPING)])
        count = sum(map(len, LOOSENING))
        stance = np.where(np.arange(len(texts)) < count, 1.0, -1.0)
        apart = np.array(trades)[:, np.newaxis] != trades
        cosines = (vectors @ vectors.T)[apart]
        weights, offset = _ridge(_without_trade(vectors, trades), stance)
        spread = max(float(cosines.std()), _SMALLEST)
        return cls(weights, offset, float(cosines.mean()), spread)

    def scores(self, vectors: Matrix, rules: Matrix) -> Matrix:
        """Return how much each text is against rules; 0 is in between, 1 is clear.

        Args:
            vectors: One row a text.
            rules: One row a rule; what the texts share with these is their matter.
        """
        basis = np.linalg.qr(rules.T)[0]
        stance = vectors - (vectors @ basis) @ basis.T
        found: Matrix = (stance @ self.weights + self.offset).astype(np.float32)
        return found

    def nearness(self, vectors: Matrix, rules: Matrix) -> Matrix:
        """Return how near each text is to each rule, in deviations above the usual cosine.

        Args:
            vectors: One row a text.
            rules: One row a rule.

        Returns:
            Shape `(texts, rules)`.
        """
        near: Matrix = (vectors @ rules.T - np.float32(self.mean)) / np.float32(self.spread)
        return near


def _trades(sets: Sequence[Sequence[str]]) -> Iterator[int]:
    """Yield the number of the trade of each example."""
    for number, texts in enumerate(sets):
        yield from [number] * len(texts)


def _without_trade(vectors: Matrix, trades: NDArray[np.int_]) -> Matrix:
    """Return the vectors without what all of their trade share."""
    left = vectors.copy()
    for trade in range(int(trades.max()) + 1):
        members = trades == trade
        shared = vectors[members].mean(axis=0)
        shared /= max(float(np.linalg.norm(shared)), _SMALLEST)
        left[members] -= np.outer(vectors[members] @ shared, shared)
    return left


def _ridge(vectors: Matrix, stance: NDArray[np.float64]) -> tuple[Matrix, float]:
    """Return weights and offset that tell the two stances apart, both counting alike."""
    share = float((stance > 0).mean())
    counts = np.where(stance > 0, 0.5 / share, 0.5 / (1.0 - share))
    middle = vectors.mean(axis=0)
    centred = (vectors - middle).astype(np.float64)
    # A model that tells nothing apart has no direction; it must not fail for that.
    extent = max(float((centred**2).sum()) / centred.shape[1], _SMALLEST)
    gram = (centred.T * counts) @ centred + _RIDGE * extent * np.eye(centred.shape[1])
    weights = np.linalg.solve(gram, (centred.T * counts) @ (stance - stance.mean()))
    scores = centred @ weights + stance.mean()
    scale = max(float(scores.std()), _SMALLEST)
    offset = (float(stance.mean()) - float(middle @ weights)) / scale
    return (weights / scale).astype(np.float32), offset
