"""Failures of other steps that this step would repeat: for the same cause, or for any reason.

A look-alike is refused because it differs in something. Evidence may say that the
difference is none: the part that the feedback blamed is still there, or the identifier that
differs made no difference before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from driftguard_langgraph.judgement.culprit import blamed, contains, does_the_same
from driftguard_langgraph.judgement.relevance import MIN_IDENTIFIERS, names_identifier, slots
from driftguard_langgraph.memory.neighbours import Neighbour, Neighbourhood
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import ChainPath
from driftguard_langgraph.types import Action, Match, Namespace

_REVERSED = ("different_polarity", "different_direction")
"""What turns a step around turns around what a shared part says about it."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A remembered failure of another step that speaks about this one.

    Attributes:
        neighbour: The failed step, with the match that says why it counts.
        path: The chain it led to.
    """

    neighbour: Neighbour
    path: ChainPath


class CauseFinder:
    """Finds the causes that no success refuted.

    Args:
        store: The memory.
        namespace: Whose memory.
        action: The reviewed step.
        worked: Successes near it.
        min_similarity: Lowest cosine at which a failure is near enough to share a cause.
    """

    def __init__(
        self,
        store: BaseMemoryStore,
        namespace: Namespace,
        action: Action,
        worked: Neighbourhood,
        min_similarity: float,
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._action = action
        self._min_similarity = min_similarity
        self._witnesses = [
            neighbour.wording
            for neighbour in (*worked.same.values(), *worked.others)
            if neighbour.wording.action.tool_name == action.tool_name
        ]

    def find(self, failed: Neighbourhood) -> list[Cause]:
        """Return the causes among failures near the step, nearest first, one per chain.

        Args:
            failed: Failures near it.
        """
        suspects = [
            neighbour
            for neighbour in failed.others
            if neighbour.wording.similarity >= self._min_similarity
            and neighbour.wording.action.tool_name == self._action.tool_name
        ]
        pairs = list(self._with_paths(suspects))
        found: dict[tuple[str, str, str], Cause] = {}
        for cause in (*self._blamed(pairs), *self._indifferent(pairs)):
            found.setdefault(cause.path.key, cause)
        return list(found.values())

    def _with_paths(self, suspects: list[Neighbour]) -> Iterator[tuple[Neighbour, ChainPath]]:
        nodes = list(dict.fromkeys(neighbour.wording.node for neighbour in suspects))
        paths = self._store.paths(self._namespace, "mistake", nodes) if nodes else ()
        for neighbour in suspects:
            for path in paths:
                if path.action == neighbour.wording.node:
                    yield neighbour, path

    def _blamed(self, pairs: Iterable[tuple[Neighbour, ChainPath]]) -> Iterator[Cause]:
        """Yield failures whose blamed part this step contains as well."""
        for neighbour, path in pairs:
            failed = neighbour.wording.action
            parts = blamed(failed, path.feedback_text)
            if neighbour.match.kind in _REVERSED or not contains(self._action, parts):
                continue
            if does_the_same(failed, self._action, parts) and not self._succeeded(
                (w.node for w in self._witnesses if contains(w.action, parts)), path.last_seen
            ):
                yield _cause(neighbour, path, "same_culprit", parts)

    def _indifferent(self, pairs: Iterable[tuple[Neighbour, ChainPath]]) -> Iterator[Cause]:
        """Yield failures of a step that failed alike whatever the identifier."""
        wanted = slots(self._action)
        alike: dict[tuple[str, str], dict[str, tuple[Neighbour, ChainPath]]] = {}
        for neighbour, path in pairs:
            for place, identifier in slots(neighbour.wording.action).items():
                if place in wanted and not names_identifier(path.feedback_text, identifier):
                    alike.setdefault((place, path.feedback), {})[identifier] = (neighbour, path)
        for (place, _), under in alike.items():
            succeeded = any(place in slots(wording.action) for wording in self._witnesses)
            if len(under) >= MIN_IDENTIFIERS and not succeeded:
                neighbour, path = next(iter(under.values()))
                yield _cause(neighbour, path, "same_frame", under)

    def _succeeded(self, nodes: Iterable[str], since: datetime) -> bool:
        wanted = sorted(set(nodes))
        if not wanted:
            return False
        return self._store.count_since(self._namespace, "success", wanted, since) > 0


def _cause(
    neighbour: Neighbour,
    path: ChainPath,
    kind: Literal["same_culprit", "same_frame"],
    shared: Iterable[str],
) -> Cause:
    similarity = neighbour.wording.similarity
    match = Match(
        score=min(max(similarity, 0.0), 1.0),
        same=True,
        similarity=similarity,
        kind=kind,
        shared=tuple(sorted(shared)),
    )
    return Cause(Neighbour(neighbour.wording, match), path)
