"""Counting what the guard does: a hook that turns events into counters and gauges."""

from __future__ import annotations

from collections import Counter
from typing import TypedDict

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.events import (
    EpisodeRecorded,
    Event,
    MemoryFailed,
    MemoryPruned,
    ReviewCompleted,
    RunOutcomeRecorded,
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
            match event:
                case ReviewCompleted():
                    self._count_review(event)
                case EpisodeRecorded():
                    self._count_record(event)
                case RunOutcomeRecorded():
                    self._counts["run_outcomes_total"] += 1
                case MemoryPruned():
                    self._counts["prune_runs_total"] += 1
                    self._counts["prune_episodes_removed_total"] += event.episodes_removed
                    self._counts["prune_nodes_removed_total"] += event.nodes_removed
                    self._counts["prune_edges_removed_total"] += event.edges_removed
                case MemoryFailed():
                    self._counts["memory_failures_total"] += 1

    def _count_review(self, event: ReviewCompleted) -> None:
        if event.decision != "skipped":
            self._counts["reviews_total"] += 1
        if event.decision in _OF_DECISION:
            self._counts[_OF_DECISION[event.decision]] += 1
        self._counts["review_warnings_total"] += event.warnings
        self._counts["review_reinforcements_total"] += event.reinforcements
        if event.warnings:
            self._last_confidence = event.confidence
            self._confidence_total += event.confidence
            self._confidences += 1

    def _count_record(self, event: EpisodeRecorded) -> None:
        if not event.stored:
            self._counts["records_duplicate_total"] += 1
            return
        self._counts["records_total"] += 1
        self._counts["nodes_created_total"] += event.nodes_created
        self._counts["nodes_merged_total"] += event.nodes_merged
        self._counts["edges_created_total"] += event.edges_created
        self._counts["edges_reused_total"] += event.edges_reused

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
