"""Row codecs of the SQL stores: pure, no I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from driftguard_langgraph.errors import SchemaMismatch
from driftguard_langgraph.memory.stores.records import (
    EPISODE_SAMPLE,
    ChainPath,
    EmbeddingSpace,
    RunVerdict,
    Vector,
    Wording,
)
from driftguard_langgraph.types import SEVERITIES, Action, Episode, Namespace


class Row(Protocol):
    """A row whose columns are read by name."""

    def __getitem__(self, key: str, /) -> Any:
        """Return the value of a column."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def encode_namespace(namespace: Namespace) -> str:
    """Write a namespace so that any strings in it stay apart."""
    return _encoded(tuple(namespace))


@lru_cache(1024)
def _encoded(namespace: Namespace) -> str:
    return json.dumps(namespace, ensure_ascii=False)


def decode_namespace(value: str) -> Namespace:
    """Read a namespace back."""
    return tuple(json.loads(value))


@lru_cache(8)
def decode_space(value: str) -> EmbeddingSpace:
    """Read back what `json.dumps` wrote of the fields of a space."""
    return EmbeddingSpace(**json.loads(value))


def digest(text: str) -> bytes:
    """Return the 16 bytes by which a text is told apart from every other."""
    return hashlib.sha256(text.encode()).digest()[:16]


def encode_time(moment: datetime) -> int:
    """Write a time as microseconds since 1970, UTC."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def decode_time(value: int) -> datetime:
    """Read a time back."""
    return _EPOCH + timedelta(microseconds=value)


def checked_vector(vector: Vector, space: EmbeddingSpace) -> Vector:
    """Return a vector.

    Raises:
        SchemaMismatch: It is not a vector of this space.
    """
    if vector.shape != (space.dimension,):
        raise SchemaMismatch(
            f"a vector of shape {vector.shape} is not one of {space.model_id}, whose vectors "
            f"have {space.dimension} numbers: check the embedder's `dimension`."
        )
    return vector


def encode_vector(vector: Vector, space: EmbeddingSpace) -> bytes:
    """Write a vector as little-endian 32-bit floats.

    Raises:
        SchemaMismatch: It is not a vector of this space.
    """
    return checked_vector(vector, space).astype("<f4", copy=False).tobytes()


def decode_vectors(rows: Sequence[Row]) -> Vector:
    """Read the vectors of some rows as one matrix, a row each."""
    joined = np.frombuffer(b"".join(row["vector"] for row in rows), "<f4")
    return joined.reshape(len(rows), -1)


def decode_action(text: str, tool_name: str | None, tool_args: str | None) -> Action:
    """Read an action back."""
    return Action(text, tool_name, None if tool_args is None else json.loads(tool_args))


def decode_wording(row: Row, similarity: float = 1.0) -> Wording:
    """Read a row of a wording query."""
    action = decode_action(row["text"], row["tool_name"], row["tool_args"])
    return Wording(row["node"], action, similarity)


def decode_episode(row: Row) -> Episode:
    """Read a row of an episode query."""
    return Episode(
        episode_id=row["episode_id"],
        namespace=decode_namespace(row["namespace"]),
        kind=row["kind"],
        action=decode_action(row["action"], row["tool_name"], row["tool_args"]),
        feedback=row["feedback"],
        outcome=row["outcome"],
        severity=SEVERITIES[row["severity"]],
        created_at=decode_time(row["created_at"]),
        provenance=json.loads(row["provenance"]),
        metadata=json.loads(row["metadata"]),
    )


def decode_run(row: Row) -> RunVerdict:
    """Read a verdict back."""
    return RunVerdict(
        scope=row["scope"],
        run=row["run"],
        success=bool(row["success"]),
        outcome=row["outcome"],
        severity=SEVERITIES[row["severity"]],
        decided_at=decode_time(row["decided_at"]),
    )


def decode_paths(rows: Iterable[Row]) -> list[ChainPath]:
    """Join the rows of a path query, one for each wording of a path, oldest path first."""
    paths: dict[tuple[str, str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["oldest"])):
        paths.setdefault((row["a"], row["f"], row["o"]), []).append(row)
    return [_joined(key, ways) for key, ways in paths.items()]


def _joined(key: tuple[str, str, str], ways: list[Row]) -> ChainPath:
    newest = max(ways, key=lambda way: int(way["newest"]))
    sample = sorted((pair for way in ways for pair in json.loads(way["sample"])), reverse=True)
    used = [way["last_used"] for way in ways if way["last_used"] is not None]
    return ChainPath(
        *key,
        frequency=sum(way["frequency"] for way in ways),
        first_seen=decode_time(min(way["first_seen"] for way in ways)),
        last_seen=decode_time(max(way["last_seen"] for way in ways)),
        last_used=decode_time(max(used)) if used else None,
        severity=SEVERITIES[max(way["severity"] for way in ways)],
        feedback_text=newest["feedback_text"],
        outcome_text=newest["outcome_text"],
        episode_ids=tuple(episode_id for _, episode_id in sample[:EPISODE_SAMPLE]),
    )
