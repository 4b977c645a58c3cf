"""Stepping through recorded runs with a guard: predict, then record."""

from __future__ import annotations

import statistics
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.evaluation.findings import (
    Finding,
    Grounds,
    Happened,
    Shortlist,
    grounds_of,
)
from driftguard_langgraph.evaluation.readers import OnInvalid
from driftguard_langgraph.evaluation.scores import LabelSource, Reliability, Tally
from driftguard_langgraph.evaluation.steps import Batch, Step
from driftguard_langgraph.evaluation.stream_memory import StreamMemory
from driftguard_langgraph.html.text import clipped
from driftguard_langgraph.text.actions import render_tool_call


@dataclass(frozen=True, slots=True)
class _Prediction:
    grounds: Grounds | None
    baselines: dict[str, bool]
    repeat_kind: str | None
    earlier: str | None
    seconds: float

    @property
    def warned(self) -> bool:
        return self.grounds is not None


class Replay:
    """The state of one replay: open memories, counts, findings and times.

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
        self.baselines: defaultdict[str, Tally] = defaultdict(Tally)
        self.reliability = Reliability()
        self.warned = Shortlist()
        self.missed = Shortlist()
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

    @property
    def ms_per_step_p95(self) -> float:
        """The time that 95% of the steps take at most, in milliseconds."""
        ordered = sorted(self._times)
        return 1000 * ordered[-(-95 * len(ordered) // 100) - 1] if ordered else 0.0

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
            review = memory.review(step)
        except InvalidEpisode as error:
            self._refused(step, error)
            return None
        seconds = time.perf_counter() - started
        return _Prediction(
            grounds=grounds_of(review),
            baselines=memory.baselines_warn(step),
            repeat_kind=memory.repeat_kind(step),
            earlier=memory.earlier(step),
            seconds=seconds,
        )

    def _settle(self, step: Step, prediction: _Prediction) -> None:
        memory = self._memory(step)
        started = time.perf_counter()
        try:
            memory.record(step)
        except InvalidEpisode as error:
            self._refused(step, error)
            return
        self._times.append(prediction.seconds + time.perf_counter() - started)
        memory.note(step)
        self._labelled.add(step.repeats is not None)
        self._count(step, prediction)
        self._keep(step, prediction)

    def _count(self, step: Step, prediction: _Prediction) -> None:
        tallies = [self.total, self.by_tool[step.tool]]
        if step.source is not None:
            tallies.append(self.by_source[step.source])
        for tally in tallies:
            tally.add(step, prediction.warned, prediction.repeat_kind)
        if prediction.grounds is not None:
            self.reliability.add(step, prediction.grounds.confidence)
        for name, warned in prediction.baselines.items():
            self.baselines[name].add(step, warned, prediction.repeat_kind)

    def _keep(self, step: Step, prediction: _Prediction) -> None:
        happened = _happened(step, prediction)
        if happened is None:
            return
        shortlist = self.missed if happened == "miss" else self.warned
        shortlist.add(
            Finding(
                where=step.where,
                stream=step.stream,
                tool=step.tool,
                action=clipped(_words(step)),
                happened=happened,
                came_back=clipped(step.feedback),
                grounds=prediction.grounds,
                repeats=prediction.repeat_kind,
                earlier=prediction.earlier,
            )
        )

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


def _happened(step: Step, prediction: _Prediction) -> Happened | None:
    if not prediction.warned:
        return None if prediction.repeat_kind is None else "miss"
    if step.failed:
        return "hit"
    return "ambiguous" if step.ambiguous else "false alarm"


def _words(step: Step) -> str:
    if isinstance(step.action, str):
        return step.action
    return render_tool_call(step.action["name"], step.action["args"])
