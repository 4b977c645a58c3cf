"""Episodes, placements and vectors for tests of a memory, without a model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import numpy as np

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    Appended,
    EmbeddingSpace,
    Placed,
    Placement,
    Vector,
)
from driftguard_langgraph.types import Action, Episode, Kind, Namespace, NodeType

DIMENSION = 16
"""Numbers in the vectors that `vector` makes by default."""

SPACE = EmbeddingSpace("made-up", DIMENSION)
HOME: Namespace = ("driftguard",)
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def vector(text: str, dimension: int = DIMENSION) -> Vector:
    """Return a unit vector that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    drawn = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return drawn / np.float32(np.linalg.norm(drawn))


def episode(
    episode_id: str = "e1",
    action: str | Action = "delete the temp directory",
    feedback: str = "build cache was wiped",
    outcome: str = "next build took 40 minutes",
    *,
    kind: Kind = "mistake",
    namespace: Namespace = HOME,
    thread: str | None = None,
    created_at: datetime = NOON,
    **others: Any,
) -> Episode:
    """Return an episode of which only what matters to a test has to be said."""
    return Episode(
        episode_id=episode_id,
        namespace=namespace,
        kind=kind,
        action=Action(action) if isinstance(action, str) else action,
        feedback=feedback,
        outcome=outcome,
        created_at=created_at,
        provenance={} if thread is None else {"thread_id": thread},
        **others,
    )


def append(
    store: BaseMemoryStore,
    what: Episode,
    nodes: Mapping[str, str] | None = None,
    space: EmbeddingSpace = SPACE,
) -> Appended:
    """Append an episode; each text is a node of its own unless `nodes` names another."""

    def placed(role: NodeType, text: str) -> Placed:
        node = (nodes or {}).get(text, text)
        known = store.wordings(what.namespace, what.kind, role, [node])
        return Placed(text, node, vector(text, space.dimension), created=not known)

    with store.exclusive():
        placement = Placement(
            placed("action", what.action.text),
            placed("feedback", what.feedback),
            placed("outcome", what.outcome),
        )
        return store.append(what, placement, space)


class _Given(Exception):
    """Raised to give a block up."""


@contextmanager
def given_up(store: BaseMemoryStore) -> Iterator[None]:
    """Open an exclusive block that raises at its end."""
    with suppress(_Given), store.exclusive():
        yield
        raise _Given


class SeededEmbedder:
    """Vectors of texts without a model: equal for equal texts, else unrelated."""

    def __init__(self, model_id: str = SPACE.model_id, dimension: int = DIMENSION) -> None:
        self.model_id = model_id
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return one row for each text."""
        return np.stack([vector(text, self.dimension) for text in texts])
