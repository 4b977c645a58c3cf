"""What simpler memories would have said: no figure of ours is printed without them.

- **always warn**: before every step.
- **same text**: the action's text, with case and punctuation folded, failed before.
- **same text, redeemed**: the same, and a later success takes the failure back.
- **cosine 0.90**: the text's embedding is that near to one that failed before.
"""

from __future__ import annotations

import re
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

COSINE = 0.90
"""Similarity of the last baseline: the one at which plain cosine was measured to miss least
while it still leaves most corrected steps alone."""

SAME_TEXT = "same text"
SAME_TEXT_REDEEMED = "same text, redeemed"
ALWAYS = "always warn"
NEAR = f"cosine {COSINE:.2f}"

_ROOM = 16
"""Vectors for which a new memory has room; it doubles when it is full."""

_PUNCTUATION = re.compile(r"[\W_]+")

Vector = NDArray[np.float32]


class Baseline(Protocol):
    """A memory of failures with one simple rule."""

    def warns(self, text: str, vector: Vector) -> bool:
        """Return whether it warns before an action, given its text and embedding."""

    def record(self, text: str, vector: Vector, *, failed: bool) -> None:
        """Remember how the action went."""


class AlwaysWarn:
    """Warns before everything."""

    def warns(self, text: str, vector: Vector) -> bool:
        """Return True."""
        return True

    def record(self, text: str, vector: Vector, *, failed: bool) -> None:
        """Remember nothing."""


class SameText:
    """Warns when the same words failed before.

    Args:
        redeems: Whether a success of the same words takes the failure back.
    """

    def __init__(self, *, redeems: bool) -> None:
        self._redeems = redeems
        self._failed: set[str] = set()

    def warns(self, text: str, vector: Vector) -> bool:
        """Return whether the folded text failed before."""
        return folded(text) in self._failed

    def record(self, text: str, vector: Vector, *, failed: bool) -> None:
        """Remember a failure, or take one back."""
        if failed:
            self._failed.add(folded(text))
        elif self._redeems:
            self._failed.discard(folded(text))


class NearVector:
    """Warns when an embedding as near as `COSINE` failed before."""

    def __init__(self) -> None:
        self._vectors = np.empty((0, 0), dtype=np.float32)
        self._count = 0

    def warns(self, text: str, vector: Vector) -> bool:
        """Return whether a failed action is near enough."""
        known = self._vectors[: self._count]
        return bool(self._count) and float((known @ vector).max()) >= COSINE

    def record(self, text: str, vector: Vector, *, failed: bool) -> None:
        """Remember a failure."""
        if not failed:
            return
        if self._count == len(self._vectors):
            larger = np.empty((max(_ROOM, 2 * self._count), len(vector)), dtype=np.float32)
            larger[: self._count] = self._vectors[: self._count] if self._count else 0
            self._vectors = larger
        self._vectors[self._count] = vector
        self._count += 1


def new_baselines() -> dict[str, Baseline]:
    """Return one memory of each kind, by name, in the order in which they are shown."""
    return {
        ALWAYS: AlwaysWarn(),
        SAME_TEXT: SameText(redeems=False),
        SAME_TEXT_REDEEMED: SameText(redeems=True),
        NEAR: NearVector(),
    }


def folded(text: str) -> str:
    """Return the text without case and punctuation."""
    return _PUNCTUATION.sub(" ", text.casefold()).strip()
