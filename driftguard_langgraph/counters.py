"""Counting what the guard does: a hook that turns events into counters and gauges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypedDict

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.events import (
    EpisodeRecorded,
    Event,
    MemoryFailed,
    MemoryPruned,
    ReviewCompleted,
    RunOutcomeRecorded,
    WarningSettled,
)


class MetricsSnapshot(TypedDict):
    """Counters since the guard was made, and gauges."""

    counters: dict[str, int]
    gauges: dict[str, float]


COUNTERS = (
    "reviews_total",
    "reviews_skipped_total",
    "reviews_blocked_total",
    "reviews_ack_required_total",
    "reviews_bumped_total",
    "reviews_overridden_total",
    "reviews_unavailable_total",
    "review_warnings_total",
    "review_reinforcements_total",
    "review_warnings_withheld_total",
    "review_warnings_muted_total",
    "settled_heeded_total",
    "settled_heeded_failed_total",
    "settled_overridden_total",
    "settled_overridden_failed_total",
    "settled_withheld_total",
    "settled_withheld_failed_total",
    "settled_muted_total",
    "settled_muted_failed_total",
    "records_total",
    "records_duplicate_total",
    "run_outcomes_total",
    "nodes_created_total",
    "nodes_merged_total",
    "edges_created_total",
    "edges_reused_total",
    "prune_runs_total",
    "prune_episodes_removed_total",
    "prune_nodes_removed_total",
    "prune_edges_removed_total",
    "memory_failures_total",
)
"""Every counter; all start at 0 so that a dashboard sees them from the beginning."""

_OF_DECISION = {
    "skipped": "reviews_skipped_total",
    "block": "reviews_blocked_total",
    "acknowledge": "reviews_ack_required_total",
    "speed_bump": "reviews_bumped_total",
    "override": "reviews_overridden_total",
    "unavailable": "reviews_unavailable_total",
}


def increments(event: Event) -> Iterator[tuple[str, int]]:
    """Say what one event adds to which of the `COUNTERS`.

    Args:
        event: What the guard reported.

    Yields:
        A counter's name and what to add to it; never the same name twice.
    """
    match event:
        case ReviewCompleted():
            yield from _of_review(event)
        case EpisodeRecorded():
            yield from _of_record(event)
        case WarningSettled():
            shown = "heeded" if event.role == "instead" else "overridden"
            name = shown if event.arm == "shown" else event.arm
            yield f"settled_{name}_total", 1
            if not event.success:
                yield f"settled_{name}_failed_total", 1
        case RunOutcomeRecorded():
            yield "run_outcomes_total", 1
        case MemoryPruned():
            yield "prune_runs_total", 1
            yield "prune_episodes_removed_total", event.episodes_removed
            yield "prune_nodes_removed_total", event.nodes_removed
            yield "prune_edges_removed_total", event.edges_removed
        case MemoryFailed():
            yield "memory_failures_total", 1


def _of_review(event: ReviewCompleted) -> Iterator[tuple[str, int]]:
    if event.decision != "skipped":
        yield "reviews_total", 1
    if event.decision in _OF_DECISION:
        yield _OF_DECISION[event.decision], 1
    yield "review_warnings_total", event.warnings
    yield "review_reinforcements_total", event.reinforcements
    yield "review_warnings_withheld_total", event.withheld
    yield "review_warnings_muted_total", event.muted


def _of_record(event: EpisodeRecorded) -> Iterator[tuple[str, int]]:
    if not event.stored:
        yield "records_duplicate_total", 1
        return
    yield "records_total", 1
    yield "nodes_created_total", event.nodes_created
    yield "nodes_merged_total", event.nodes_merged
    yield "edges_created_total", event.edges_created
    yield "edges_reused_total", event.edges_reused


class MetricsCollector:
    """Counts events in this process, each once; thread-safe."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._counts: Counter[str] = Counter()
        self._confidences = 0
        self._confidence_total = 0.0
        self._last_confidence = 0.0

    def __call__(self, event: Event, /) -> None:
        """Count one event."""
        with self._lock:
            self._counts.update(dict(increments(event)))
            if isinstance(event, ReviewCompleted) and event.warnings:
                self._last_confidence = event.confidence
                self._confidence_total += event.confidence
                self._confidences += 1

    def snapshot(self) -> MetricsSnapshot:
        """Return what was counted so far, as plain JSON.

        The gauges describe reviews that warned: the last confidence, their sum and mean.
        """
        with self._lock:
            average = self._confidence_total / self._confidences if self._confidences else 0.0
            return MetricsSnapshot(
                counters={name: self._counts[name] for name in COUNTERS},
                gauges={
                    "last_review_confidence": self._last_confidence,
                    "review_confidence_average": average,
                    "review_confidence_total": self._confidence_total,
                },
            )
