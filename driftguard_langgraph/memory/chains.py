"""Walking from an action to what it led to, only where some episode went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from driftguard_langgraph.memory.stores.records import ChainPath


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a walk goes: edges deep, neighbours per node, chains in all."""

    depth: int
    branching: int
    paths: int


@dataclass(frozen=True, slots=True)
class Chain:
    """One way from an action onwards.

    Attributes:
        nodes: Node ids from the action on, at most `Bounds.depth` edges long.
        edge_frequency: How often the action led to the second node; 0 for a lone action.
        path: The episodes that went this way.
    """

    nodes: tuple[str, ...]
    edge_frequency: int
    path: ChainPath


def walk(paths: Sequence[ChainPath], bounds: Bounds) -> list[Chain]:
    """Return the chains of one action node, strongest edge first.

    Args:
        paths: The paths that start at the node, in the order they were first seen.
        bounds: How far to go. Where a bound cuts, the strongest links are kept.
    """
    return list(islice(_walk(paths, bounds), bounds.paths))


def _walk(paths: Sequence[ChainPath], bounds: Bounds) -> Iterator[Chain]:
    by_feedback: dict[str, list[ChainPath]] = {}
    for path in paths:
        by_feedback.setdefault(path.feedback, []).append(path)
    strength = {feedback: sum(p.frequency for p in ps) for feedback, ps in by_feedback.items()}
    strongest = sorted(by_feedback, key=lambda feedback: -strength[feedback])
    for feedback in strongest[: bounds.branching]:
        onwards = sorted(by_feedback[feedback], key=lambda path: -path.frequency)
        if bounds.depth == 1:
            yield Chain(onwards[0].key[:2], strength[feedback], onwards[0])
            continue
        for path in onwards[: bounds.branching]:
            yield Chain(path.key, strength[feedback], path)
