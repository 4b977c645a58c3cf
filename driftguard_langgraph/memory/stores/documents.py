"""Episodes, vectors and verdicts as plain JSON, for stores that keep documents."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

import numpy as np

from driftguard_langgraph.errors import CorruptStore
from driftguard_langgraph.memory.stores.records import EmbeddingSpace, RunVerdict, Vector
from driftguard_langgraph.types import SEVERITIES, Action, Episode, Kind, NodeType

Document = dict[str, Any]
Nodes = Mapping[NodeType, str]
"""The graph node of each text of an episode."""

MAX_SHOWN = 60
"""Characters of a wrong value that an error shows."""

Found = TypeVar("Found")
Known = TypeVar("Known")
_WRONG = (AttributeError, LookupError, TypeError, ValueError, OverflowError)

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
    except _WRONG as error:
        raise CorruptStore(f"{what} cannot be read: {_problem(error)}.") from error


@contextmanager
def at(place: str) -> Iterator[None]:
    """Say where in a document it was that something could not be read.

    Args:
        place: The path to it, as JavaScript would write it.
    """
    try:
        yield
    except CorruptStore as error:
        told = str(error)
        inner = told.removeprefix("at ")
        joint = "." if inner != told else ": "
        raise CorruptStore(f"at {place}{joint}{inner}") from error


def member(document: Any, name: str, read: Callable[[Any], Found]) -> Found:
    """Return what is under a name in a JSON object.

    Args:
        document: The object.
        name: The name.
        read: Makes of it what it stands for.

    Raises:
        ValueError: It is missing, or is not what it should be; the message says which.
    """
    if not isinstance(document, Mapping):
        raise TypeError(f"{_shown(document)} is no object")
    if name not in document:
        raise ValueError(f"{name!r} is missing")
    try:
        return read(document[name])
    except _WRONG as error:
        raise ValueError(f"{name!r}: {_problem(error)}") from error


def _problem(error: Exception) -> str:
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)


def _shown(value: object) -> str:
    written = repr(value)
    return written if len(written) <= MAX_SHOWN else f"{written[:MAX_SHOWN]}…"


def episode_document(placed: PlacedEpisode) -> Document:
    """Write an episode and its nodes as JSON."""
    return {**placed.episode.to_dict(), "nodes": {role: placed.nodes[role] for role in ROLES}}


def read_episode(document: Any) -> PlacedEpisode:
    """Read an episode and its nodes back.

    Raises:
        CorruptStore: It is not one.
    """
    with reading("an episode"):
        episode = Episode(
            episode_id=member(document, "episode_id", text),
            namespace=member(document, "namespace", lambda labels: tuple(map(text, labels))),
            kind=member(document, "kind", one_of("mistake", "success")),
            action=Action(
                member(document, "action", text),
                member(document, "tool_name", lambda name: None if name is None else text(name)),
                member(document, "tool_args", lambda args: None if args is None else mapping(args)),
            ),
            feedback=member(document, "feedback", text),
            outcome=member(document, "outcome", text),
            severity=member(document, "severity", one_of(*SEVERITIES)),
            created_at=member(document, "created_at", read_time),
            provenance=member(document, "provenance", mapping),
            metadata=member(document, "metadata", mapping),
        )
        nodes = member(document, "nodes", mapping)
        return PlacedEpisode(episode, {role: member(nodes, role, text) for role in ROLES})


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
            scope=member(document, "scope", one_of("thread", "run")),
            run=member(document, "run", text),
            success=member(document, "success", bool),
            outcome=member(document, "outcome", text),
            severity=member(document, "severity", one_of(*SEVERITIES)),
            decided_at=member(document, "decided_at", read_time),
        )


def read_use(document: Any) -> tuple[Kind, str, datetime]:
    """Read back when the warnings of an action were last shown: kind, node and time.

    Raises:
        CorruptStore: It is not that.
    """
    with reading("a use"):
        return (
            member(document, "kind", one_of("mistake", "success")),
            member(document, "action", text),
            member(document, "last_used", read_time),
        )


def read_space(document: Any) -> EmbeddingSpace:
    """Read an embedding space back.

    Raises:
        CorruptStore: It is not one.
    """
    with reading("the embedding space"):
        return EmbeddingSpace(
            member(document, "model_id", text), member(document, "dimension", _dimension)
        )


def read_time(value: Any) -> datetime:
    """Read a time with a zone.

    Raises:
        ValueError: It is none.
    """
    moment = datetime.fromisoformat(text(value))
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
        held = base64.b64decode(text(value), validate=True)
        whole = len(held) == 4 * space.dimension
        numbers = np.frombuffer(held if whole else b"", "<f4")
        if not whole or not np.isfinite(numbers).all():
            raise ValueError(f"it is not {space.dimension} numbers")
        return numbers.astype(np.float32)


def text(value: Any) -> str:
    """Return a value if it is a text.

    Raises:
        TypeError: It is none.
        ValueError: It is no valid Unicode.
    """
    if not isinstance(value, str):
        raise TypeError(f"{_shown(value)} is no text")
    value.encode()
    return value


def mapping(value: Any) -> dict[str, Any]:
    """Return a copy of a value if it is a JSON object.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, Mapping):
        raise TypeError(f"{_shown(value)} is no object")
    return dict(value)


def whole_number(value: Any) -> int:
    """Return a value if it is a whole number.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(value, int):
        raise TypeError(f"{_shown(value)} is no whole number")
    return value


def _dimension(value: Any) -> int:
    if whole_number(value) < 1:
        raise ValueError(f"{value} is less than 1")
    return int(value)


def one_of(*known: Known) -> Callable[[Any], Known]:
    """Return a reader that takes these texts only; it raises `ValueError` for any other."""

    def read(value: Any) -> Known:
        if value not in known:
            raise ValueError(f"{_shown(value)} is none of {', '.join(map(str, known))}")
        return known[known.index(value)]

    return read
