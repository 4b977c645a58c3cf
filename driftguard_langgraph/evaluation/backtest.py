"""Replaying recorded runs: what would the guard have said?

The guard only ever knows what it would have known at that moment. Each stream has a memory
of its own, in this process and apart from the user's; it is released when the stream's last
step is done, so the size of a file does not matter, only how many streams are open at the
same time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.failures import FailurePredicate, looks_failed
from driftguard_langgraph.evaluation.readers import (
    OnBytes,
    OnInvalid,
    check_readable,
    read_batches,
)
from driftguard_langgraph.evaluation.replay import Replay
from driftguard_langgraph.evaluation.scores import BacktestResult
from driftguard_langgraph.evaluation.steps import Batch, Step
from driftguard_langgraph.evaluation.stream_memory import StreamMemory
from driftguard_langgraph.settings import DriftGuardSettings

MemoryScope = Literal["stream", "all"]
"""Whose failures a step can be warned of: those of its stream, or of everything read."""


StreamOf = Callable[[Step], str]


class Progress(Protocol):
    """Told how far the work is."""

    def __call__(self, phase: Literal["reading", "replaying"], done: int, total: int, /) -> None:
        """Receive how much of a phase is done: bytes of `reading`, steps of `replaying`."""


def backtest(
    paths: Sequence[Path],
    *,
    format: str | None = None,
    memory: MemoryScope = "stream",
    settings: DriftGuardSettings | None = None,
    embeddings: object | None = None,
    is_failure: FailurePredicate = looks_failed,
    on_invalid: OnInvalid | None = None,
    progress: Progress | None = None,
) -> BacktestResult:
    """Replay the files in order and count what the guard would have said.

    The files are read twice: first as a whole, so that a bad line is reported before the
    long work begins, then step by step.

    Args:
        paths: Recorded runs, see `readers`.
        format: Name of their format; told by the content of each file if None.
        memory: Whether each stream remembers for itself, or all share one memory.
        settings: Thresholds and embedder of the guard; the user's own by default. The policy
            is always `warn`, nothing is held out, and a failing store or embedder raises.
        embeddings: An embedder, or LangChain `Embeddings`, instead of the settings' one.
        is_failure: Decides about results of which a log does not say how they went.
        on_invalid: Told about every entry that cannot be replayed, which is then left out;
            without it the first one is raised.
        progress: Told how far the work is.

    Raises:
        ConfigurationError: A file cannot be opened, or none holds a step.
        InvalidEpisode: An entry is not valid and there is no `on_invalid`.
    """
    # A held-out warning would be counted as none.
    fixed = {"on_store_error": "closed", "holdout": 0.0}
    settings = (settings or DriftGuardSettings()).model_copy(update=fixed)
    stream_of: StreamOf = (lambda step: "all") if memory == "all" else (lambda step: step.stream)
    tell = progress or (lambda phase, done, total: None)
    skipped = _Skipped(on_invalid)
    read = partial(_read_all, paths, format, is_failure)
    streams = _survey(paths, read, stream_of, skipped.callback, tell)
    embedder = resolve_embedder(embeddings, settings)
    embedder.embed(["the model is loaded before the clock starts"])
    replay = Replay(partial(StreamMemory, embedder, settings), stream_of, streams, skipped.callback)
    already_told = None if on_invalid is None else _ignore
    started = time.perf_counter()
    for batch in read(already_told):
        replay.run(batch)
        tell("replaying", replay.done, streams.total())
    seconds = time.perf_counter() - started
    return _result(paths, replay, len(streams), skipped.count, seconds, embedder.model_id)


def _result(
    paths: Sequence[Path],
    replay: Replay,
    streams: int,
    skipped: int,
    seconds: float,
    model_id: str,
) -> BacktestResult:
    return BacktestResult(
        files=tuple(str(path) for path in paths),
        streams=streams,
        total=replay.total,
        by_tool=dict(replay.by_tool),
        by_source=dict(replay.by_source),
        baselines=dict(replay.baselines),
        warned=replay.warned,
        missed=replay.missed,
        labels=replay.labels,
        skipped=skipped,
        ms_per_step=replay.ms_per_step,
        ms_per_step_p95=replay.ms_per_step_p95,
        seconds=seconds,
        model_id=model_id,
        reliability=replay.reliability,
    )


class _Skipped:
    """Counts what is left out and passes the reason on, if anything may be left out."""

    def __init__(self, on_invalid: OnInvalid | None) -> None:
        self.count = 0
        self._on_invalid = on_invalid
        self.callback = None if on_invalid is None else self._skip

    def _skip(self, message: str) -> None:
        self.count += 1
        if self._on_invalid is not None:
            self._on_invalid(message)


def _ignore(message: str) -> None:
    """Say nothing: the first reading has reported it."""


def _survey(
    paths: Sequence[Path],
    read: Callable[[OnInvalid | None, OnBytes | None], Iterator[Batch]],
    stream_of: StreamOf,
    on_invalid: OnInvalid | None,
    progress: Progress,
) -> Counter[str]:
    """Read everything once and count the steps of each stream."""
    for path in paths:
        check_readable(path)
    total = sum(path.stat().st_size for path in paths)
    streams: Counter[str] = Counter()
    for batch in read(on_invalid, lambda done: progress("reading", done, total)):
        streams.update(map(stream_of, batch))
    if not streams:
        raise ConfigurationError(
            f"no step with an outcome in {', '.join(str(path) for path in paths)}: expected "
            "trace steps, or messages with tool calls and their results."
        )
    return streams


def _read_all(
    paths: Sequence[Path],
    format: str | None,
    is_failure: FailurePredicate,
    on_invalid: OnInvalid | None,
    on_bytes: OnBytes | None = None,
) -> Iterator[Batch]:
    before = 0
    for path in paths:
        report = None if on_bytes is None else partial(_shifted, on_bytes, before)
        yield from read_batches(
            path, format=format, is_failure=is_failure, on_invalid=on_invalid, on_bytes=report
        )
        before += path.stat().st_size


def _shifted(on_bytes: OnBytes, before: int, read: int) -> None:
    on_bytes(before + read)
