"""The samples of the public conformance suite, under the name that the tests know."""

from __future__ import annotations

from driftguard_langgraph.testing.samples import (
    DIMENSION,
    HOME,
    NOON,
    SPACE,
    SeededEmbedder,
    append,
    episode,
    given_up,
    vector,
)

__all__ = [
    "DIMENSION",
    "HOME",
    "NOON",
    "SPACE",
    "SeededEmbedder",
    "append",
    "episode",
    "given_up",
    "vector",
]
