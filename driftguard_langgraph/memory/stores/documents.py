"""Episodes, vectors and verdicts as plain JSON, for stores that keep documents."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from driftguard_langgraph.errors import CorruptStore
from driftguard_langgraph.memory.stores.records import EmbeddingSpace, RunVerdict, Vector
from driftguard_langgraph.types import SEVERITIES, Action, Episode, NodeType

Document = dict[str, Any]
Nodes = Mapping[NodeType, str]
"""The graph node of each text of an episode."""

ROLES: tuple[NodeType, ...] = ("action", "feedback", "outcome")


class PlacedEpisode(NamedTuple):
    """An episode with the nodes that its texts were placed in."""

    episode: Episode
    nodes: Nodes


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Report JSON that is not what it should be.

    Args:
        what: What is being read, for the error message.

    Raises:
        CorruptStore: Something is missing, or of the wrong type.
    """
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise CorruptStore(f"{what} cannot be read ({problem}).") from error


def episode_document(placed: PlacedEpisode) -> Document:
    """Write an episode and its nodes as JSON."""
    return {**placed.episode.to_dict(), "nodes": {role: placed.nodes[role] for role in ROLES}}


def read_episode(document: Any) -> PlacedEpisode:
    """Read an episode and its nodes back.

    Raises:
        CorruptStore: It is not one.
    """
    with reading("an episode"):
        args = document["tool_args"]
        name = document["tool_name"]
        episode = Episode(
            episode_id=_text(document["episode_id"]),
            namespace=tuple(_text(label) for label in document["namespace"]),
            kind="success" if _one_of(document["kind"], "mistake", "success") else "mistake",
            action=Action(
                _text(document["action"]),
                None if name is None else _text(name),
                None if args is None else dict(args),
            ),
            feedback=_text(document["feedback"]),
            outcome=_text(document["outcome"]),
            severity=SEVERITIES[_one_of(document["severity"], *SEVERITIES)],
            created_at=read_time(document["created_at"]),
            provenance=dict(document["provenance"]),
            metadata=dict(document["metadata"]),
        )
        return PlacedEpisode(episode, {role: _text(document["nodes"][role]) for role in ROLES})


def texts_of(episode: Episode) -> dict[NodeType, str]:
    """Return the three texts of an episode by their roles."""
    return {
        "action": episode.action.text,
        "feedback": episode.feedback,
        "outcome": episode.outcome,
    }


def run_document(verdict: RunVerdict) -> Document:
    """Write a verdict about a run as JSON."""
    return {
        "scope": verdict.scope,
        "run": verdict.run,
        "success": verdict.success,
        "outcome": verdict.outcome,
        "severity": verdict.severity,
        "decided_at": verdict.decided_at.isoformat(),
    }


def read_run(document: Any) -> RunVerdict:
    """Read a verdict back.

    Raises:
        CorruptStore: It is not one.
    """
    with reading("a verdict about a run"):
        return RunVerdict(
            scope="run" if _one_of(document["scope"], "thread", "run") else "thread",
            run=_text(document["run"]),
            success=bool(document["success"]),
            outcome=_text(document["outcome"]),
            severity=SEVERITIES[_one_of(document["severity"], *SEVERITIES)],
            decided_at=read_time(document["decided_at"]),
        )


def read_space(document: Any) -> EmbeddingSpace:
    """Read an embedding space back.

    Raises:
        CorruptStore: It is not one.
    """
    with reading("the embedding space"):
        dimension = document["dimension"]
        if not isinstance(dimension, int) or dimension < 1:
            raise ValueError(dimension)
        return EmbeddingSpace(_text(document["model_id"]), dimension)


def read_time(value: Any) -> datetime:
    """Read a time with a zone.

    Raises:
        ValueError: It is none.
    """
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError(f"{value} has no time zone")
    return moment.astimezone(UTC)


def vector_text(encoded: bytes) -> str:
    """Write the bytes of a vector, little-endian 32-bit floats, as base64."""
    return base64.b64encode(encoded).decode()


def read_vector(value: Any, space: EmbeddingSpace) -> Vector:
    """Read a vector back.

    Raises:
        CorruptStore: It is not a vector of this space.
    """
    with reading("a vector"):
        numbers = np.frombuffer(base64.b64decode(_text(value), validate=True), "<f4")
        if numbers.shape != (space.dimension,) or not np.isfinite(numbers).all():
            raise ValueError(f"not {space.dimension} numbers")
        return numbers.astype(np.float32)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    value.encode()
    return value


def _one_of(value: Any, *known: str) -> int:
    return known.index(value)
