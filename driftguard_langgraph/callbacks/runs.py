"""The runs that are going on: who runs beneath whom, and which errors were already seen."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.host.tool_calls import Place
from driftguard_langgraph.reviews import GuardReview

MAX_RUNS = 4_096
"""Runs that are remembered at once; the longest silent is forgotten first. An end event may
never come: a stream that nobody reads to its end, a process that is cancelled."""

MAX_ERRORS = 32
"""Errors of children that one run remembers."""

MAX_CAUSES = 32
"""How far the causes of an error are followed."""

RunKind = Literal["tools", "chains", "retrievers", "models"]


@dataclass(slots=True)
class Run:
    """One run that has started and not ended.

    Attributes:
        run_id: Its id.
        parent_id: The run that it is part of, None at the root.
        kind: What runs.
        name: Its name.
        recorded: Whether its failure is recorded as a step of its own.
        covers: Whether what runs beneath it belongs to it.
        inputs: What it was given, if it is recorded.
        call_id: The id that a chat model gave the tool call.
        metadata: The metadata of the run.
        place: Where it runs.
        review: The review of it, when there was one.
        errors: What its children raised.
    """

    run_id: UUID
    parent_id: UUID | None
    kind: RunKind
    name: str
    recorded: bool = False
    covers: bool = False
    inputs: object = None
    call_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    place: Place = field(default_factory=Place)
    review: GuardReview | None = None
    errors: deque[BaseException] = field(default_factory=lambda: deque(maxlen=MAX_ERRORS))

    def has_seen(self, error: BaseException) -> bool:
        """Whether an error, or what it was made of, came up from a child.

        Args:
            error: What the run raised.
        """
        seen = {id(each) for each in self.errors}
        return any(id(cause) in seen for cause in causes(error))


class RunMap:
    """The runs that are going on; bounded, and safe to use from any thread."""

    def __init__(self) -> None:
        self._runs: OrderedDict[UUID, Run] = OrderedDict()
        self._lock = ForkSafeLock()

    def __len__(self) -> int:
        """Return how many runs are remembered."""
        return len(self._runs)

    def is_covered(self, parent_id: UUID | None) -> bool:
        """Whether what starts beneath a run belongs to a step above it.

        Args:
            parent_id: The run, None for none.
        """
        with self._lock:
            parent = None if parent_id is None else self._runs.get(parent_id)
            return parent is not None and parent.covers

    def start(self, run: Run) -> None:
        """Remember a run; its parent is as fresh as it is.

        Args:
            run: The run.
        """
        with self._lock:
            if run.parent_id is not None and run.parent_id in self._runs:
                self._runs.move_to_end(run.parent_id)
            self._runs[run.run_id] = run
            while len(self._runs) > MAX_RUNS:
                self._runs.popitem(last=False)

    def end(self, run_id: UUID) -> Run | None:
        """Forget a run and return it; None if it is not known (any more).

        Args:
            run_id: Its id.
        """
        with self._lock:
            return self._runs.pop(run_id, None)

    def pass_up(self, run: Run, error: BaseException) -> None:
        """Let the parent of a run know that an error was dealt with.

        Args:
            run: The run, already ended.
            error: What it raised.
        """
        with self._lock:
            parent = None if run.parent_id is None else self._runs.get(run.parent_id)
            if parent is not None:
                parent.errors.append(error)


def causes(error: BaseException) -> list[BaseException]:
    """Return an error and what it was made of: causes, contexts, members of a group.

    Args:
        error: The error.
    """
    found = [error]
    known = {id(error)}
    for each in found:
        inner = each.exceptions if isinstance(each, BaseExceptionGroup) else ()
        for cause in (each.__cause__, each.__context__, *inner):
            if cause is not None and id(cause) not in known and len(found) < MAX_CAUSES:
                known.add(id(cause))
                found.append(cause)
    return found
