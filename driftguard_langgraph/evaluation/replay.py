"""Stepping through recorded runs with a guard: predict, then record."""

from __future__ import annotations

import json
import statistics
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.readers import OnInvalid
from driftguard_langgraph.evaluation.scores import LabelSource, Tally
from driftguard_langgraph.evaluation.steps import NO_FEEDBACK, Batch, Step
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings

FAILED, SUCCEEDED = "step failed", "step succeeded"
"""Recorded as the outcome: a trace tells nothing of what a step led to in the end."""

UNNAMED_KIND = "unspecified"
"""Kind of a labelled repeat whose label names no kind."""

_Signature = tuple[str, str, str]


class StreamMemory:
    """One stream's guard, and the failures seen in it (for traces without labels)."""

    def __init__(self, embedder: Embedder, settings: DriftGuardSettings) -> None:
        self._guard = DriftGuard(
            store=EphemeralMemoryStore(), embeddings=embedder, settings=settings
        )
        self._failed: set[_Signature] = set()

    def warns(self, step: Step) -> bool:
        """Return whether the guard warns before this step."""
        return bool(self._guard.before_step(step.action, "warn").warnings)

    def repeat_kind(self, step: Step) -> str | None:
        """Say how the step repeats an earlier failure: by its labels, else by what was seen.

        Without labels a failed step is a repeat when the same tool failed before on the same
        action (`exact`) or with the same error text (`same_error`).
        """
        if step.repeats is not None:
            return (step.repeat_kind or UNNAMED_KIND) if step.repeats else None
        if not step.failed:
            return None
        action, error = _signatures(step)
        if action in self._failed:
            return "exact"
        return "same_error" if step.feedback != NO_FEEDBACK and error in self._failed else None

    def record(self, step: Step) -> None:
        """Remember how the step went."""
        if not step.failed:
            self._guard.record_success(step.action, step.feedback, SUCCEEDED)
            return
        self._guard.record(step.action, step.feedback, FAILED)
        self._failed.update(_signatures(step))

    def close(self) -> None:
        """Release the guard's memory."""
        self._guard.close()


def _signatures(step: Step) -> tuple[_Signature, _Signature]:
    words = step.action if isinstance(step.action, str) else json.dumps(step.action, sort_keys=True)
    return (step.tool, "action", words), (step.tool, "error", " ".join(step.feedback.split()))


@dataclass(frozen=True, slots=True)
class _Prediction:
    warned: bool
    repeat_kind: str | None
    seconds: float


class Replay:
    """The state of one replay: open memories, counts and times.

    Args:
        new_memory: Makes the memory of a stream.
        stream_of: Names the stream of a step.
        streams: How many steps each stream will have; its memory is released after the last.
        on_invalid: Told about every step that the guard refuses, which is then left out;
            without it the first one is raised.
    """

    def __init__(
        self,
        new_memory: Callable[[], StreamMemory],
        stream_of: Callable[[Step], str],
        streams: Counter[str],
        on_invalid: OnInvalid | None,
    ) -> None:
        self.done = 0
        self.total = Tally()
        self.by_tool: defaultdict[str, Tally] = defaultdict(Tally)
        self.by_source: defaultdict[str, Tally] = defaultdict(Tally)
        self._new_memory = new_memory
        self._stream_of = stream_of
        self._left = Counter(streams)
        self._on_invalid = on_invalid
        self._memories: dict[str, StreamMemory] = {}
        self._labelled: set[bool] = set()
        self._times = array("d")

    @property
    def labels(self) -> LabelSource:
        """Where the knowledge about repeats came from."""
        if len(self._labelled) > 1:
            return "mixed"
        return "given" if True in self._labelled else "derived"

    @property
    def ms_per_step(self) -> float:
        """Median time of one review and one record, in milliseconds."""
        return 1000 * statistics.median(self._times) if self._times else 0.0

    def run(self, batch: Batch) -> None:
        """Review every step of the batch, then record every one of them.

        Raises:
            InvalidEpisode: The guard refuses a step and there is no `on_invalid`.
        """
        for step, prediction in [(step, self._predict(step)) for step in batch]:
            if prediction is not None:
                self._settle(step, prediction)
            self._release(step)

    def _memory(self, step: Step) -> StreamMemory:
        stream = self._stream_of(step)
        if stream not in self._memories:
            self._memories[stream] = self._new_memory()
        return self._memories[stream]

    def _predict(self, step: Step) -> _Prediction | None:
        memory = self._memory(step)
        started = time.perf_counter()
        try:
            warned = memory.warns(step)
        except InvalidEpisode as error:
            self._refused(step, error)
            return None
        return _Prediction(warned, memory.repeat_kind(step), time.perf_counter() - started)

    def _settle(self, step: Step, prediction: _Prediction) -> None:
        started = time.perf_counter()
        try:
            self._memory(step).record(step)
        except InvalidEpisode as error:
            self._refused(step, error)
            return
        self._times.append(prediction.seconds + time.perf_counter() - started)
        self._labelled.add(step.repeats is not None)
        tallies = [self.total, self.by_tool[step.tool]]
        if step.source is not None:
            tallies.append(self.by_source[step.source])
        for tally in tallies:
            tally.add(step, prediction.warned, prediction.repeat_kind)

    def _refused(self, step: Step, error: InvalidEpisode) -> None:
        message = f"{step.where}: {error}"
        if self._on_invalid is None:
            raise InvalidEpisode(message) from None
        self._on_invalid(message)

    def _release(self, step: Step) -> None:
        self.done += 1
        stream = self._stream_of(step)
        self._left[stream] -= 1
        if not self._left[stream]:
            self._memories.pop(stream).close()
