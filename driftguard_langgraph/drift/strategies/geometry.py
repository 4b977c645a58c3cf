"""How near a text is to a context, against how near it is to the topics of the world.

Cosines are read in standard deviations above those of unrelated texts, so that what is fitted
on one embedding model means the same on another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
"""One vector a row."""

_FORGIVEN = 0.4
"""How much of its nearness to the context a topic is forgiven; .25 to .7 measure the same."""
_VAGUE = 2.25
_CLEAR = 4.25
"""How much nearer to a context its nearest topic is than the usual one: of prompts that name no
purpose ("You are a helpful assistant."), and of those that clearly name one."""
_USUAL_CONTRAST = 1.5
_ADAPTED = 0.5
"""Mean contrast of turns that are on purpose, and how far the opening of a session moves it.
Long policies, and people who speak at length, are near to everything they do: what has half
the contrast of their opening is foreign there, and at home elsewhere."""
_MOST_LENIENT = -0.4
"""The least that the opening takes off: a plain opening must not excuse everything."""

_STRAYED = -1.0
_STRAYED_IF_VAGUE = -5.0
"""Contrast below which a first turn is no opening, so that a session which starts elsewhere
does not make that its home; and the same where the context leaves the purpose open."""


@dataclass(frozen=True, slots=True)
class Background:
    """The topics of the world.

    Attributes:
        vectors: One row a topic.
        mean: Mean cosine of two topics.
        spread: Standard deviation of these.
    """

    vectors: Matrix
    mean: float
    spread: float

    @classmethod
    def of(cls, vectors: Matrix) -> Background:
        """Measure the topics against each other.

        Args:
            vectors: One row a topic, at least three.
        """
        cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
        return cls(vectors, float(cosines.mean()), max(float(cosines.std()), 1e-6))

    def nearness(self, references: Matrix, texts: Matrix) -> Matrix:
        """Return how near each text is to each reference, shape `(references, texts)`."""
        cosines: Matrix = references @ texts.T
        return (cosines - np.float32(self.mean)) / np.float32(self.spread)


@dataclass(frozen=True, slots=True)
class Home:
    """A context among the topics.

    Attributes:
        background: The topics.
        vectors: One row a piece of the context; may have none.
        related: How near each topic is to home, 0 or more.
        usual: How near a topic usually is to the context: the more pieces, the nearer.
        purpose: How clear its purpose is, 0..1.
        opening: One row a text of the session's opening; may have none.
        weight: How much these count, 0..1.
        habit: By how much they stand out more than turns on purpose usually do.
    """

    background: Background
    vectors: Matrix
    related: Matrix
    usual: float
    purpose: float
    opening: Matrix
    weight: float = 1.0
    habit: float = 0.0

    @classmethod
    def of(cls, vectors: Matrix, background: Background) -> Home:
        """Measure the pieces of a context against the topics.

        Args:
            vectors: One row a piece; may have none.
            background: The topics.
        """
        if not len(vectors):
            none = np.zeros(len(background.vectors), dtype=np.float32)
            return cls(background, vectors, none, 0.0, 0.0, vectors)
        near = background.nearness(background.vectors, vectors).max(axis=1)
        usual = float(np.median(near))
        clear = (float(near.max()) - usual - _VAGUE) / (_CLEAR - _VAGUE)
        purpose = min(1.0, max(0.0, clear))
        return cls(background, vectors, np.maximum(near, 0.0), usual, purpose, vectors[:0])

    def opened(self, opening: Matrix, opening_weight: float) -> Home:
        """Return the home of a session that has begun.

        What its opening was on is home too, the more so the less the context says what it is
        for; first turns that were not on purpose are passed over.

        Args:
            opening: One row a text of the opening; may have none.
            opening_weight: How much those count, 0..1.
        """
        habit = 0.0
        if len(self.vectors) and len(opening):
            own = self._near(opening) - self._foreign(opening)
            least = self.purpose * _STRAYED + (1.0 - self.purpose) * _STRAYED_IF_VAGUE
            opening, own = opening[own >= least], own[own >= least]
            habit = self._habit(own)
        if not len(opening):
            return self
        weight = opening_weight**self.purpose
        begun = self.background.nearness(self.background.vectors, opening).max(axis=1)
        related = np.maximum(self.related, np.float32(weight) * begun)
        return replace(self, related=related, opening=opening, weight=weight, habit=habit)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare a text with."""
        return not len(self.vectors) and not len(self.opening)

    def contrast(self, spoken: Matrix) -> float:
        """Return how much nearer a text is to home than to any foreign topic.

        Args:
            spoken: The text's vector, shape `(1, dimension)`; home is not empty.

        Returns:
            A difference in standard deviations; about 0 is in between.
        """
        near = float(self._near(spoken)[0]) if len(self.vectors) else -math.inf
        if len(self.opening):
            begun = float(self.background.nearness(self.opening, spoken).max())
            near = max(near, self.weight * begun - self.usual)
        return near - float(self._foreign(spoken)[0]) - self.habit

    def _near(self, texts: Matrix) -> Matrix:
        """Return how near each text is to the nearest piece."""
        near: Matrix = self.background.nearness(self.vectors, texts).max(axis=0)
        return near - np.float32(self.usual)

    def _foreign(self, texts: Matrix) -> Matrix:
        """Return how near each text is to the nearest topic, as far as it is not forgiven."""
        topics = self.background.nearness(self.background.vectors, texts)
        forgiven = np.float32(_FORGIVEN) * self.related[:, np.newaxis]
        foreign: Matrix = (topics - forgiven).max(axis=0)
        return foreign

    def _habit(self, own: Matrix) -> float:
        """Return the habit of an opening with these contrasts."""
        if not len(own):
            return 0.0
        share = _ADAPTED * self.purpose * len(own) / (len(own) + 1.0)
        return max(_MOST_LENIENT, share * (float(own.mean()) - _USUAL_CONTRAST))
