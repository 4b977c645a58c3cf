from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

from driftguard_langgraph.counters import COUNTERS, MetricsCollector
from driftguard_langgraph.events import (
    EpisodeRecorded,
    MemoryFailed,
    MemoryPruned,
    ReviewCompleted,
    RunOutcomeRecorded,
    WarningSettled,
    emit,
)
from driftguard_langgraph.types import Decision

NS = ("a",)


def reviewed(decision: Decision, warnings: int = 0, confidence: float = 0.0) -> ReviewCompleted:
    return ReviewCompleted(NS, "warn", decision, warnings, 0, confidence)


def test_everything_starts_at_zero_and_is_json() -> None:
    snapshot = MetricsCollector().snapshot()

    assert snapshot["counters"] == dict.fromkeys(COUNTERS, 0)
    assert json.loads(json.dumps(snapshot)) == snapshot


def test_each_event_counts_once() -> None:
    metrics = MetricsCollector()
    for event in (
        reviewed("proceed"),
        reviewed("block", 2, 0.8),
        reviewed("warn", 1, 0.6),
        reviewed("skipped"),
        EpisodeRecorded(NS, "mistake", True, 2, 1, 1, 1),
        EpisodeRecorded(NS, "mistake", False, 0, 0, 0, 0),
        RunOutcomeRecorded(NS, False, False, 3),
        MemoryPruned(NS, 4, 3, 2),
        MemoryFailed(NS, "review", "gone"),
    ):
        emit(event, [metrics])

    counted = {k: v for k, v in metrics.snapshot()["counters"].items() if v}
    assert counted == {
        "reviews_total": 3,
        "reviews_skipped_total": 1,
        "reviews_blocked_total": 1,
        "review_warnings_total": 3,
        "records_total": 1,
        "records_duplicate_total": 1,
        "run_outcomes_total": 1,
        "nodes_created_total": 2,
        "nodes_merged_total": 1,
        "edges_created_total": 1,
        "edges_reused_total": 1,
        "prune_runs_total": 1,
        "prune_episodes_removed_total": 4,
        "prune_nodes_removed_total": 3,
        "prune_edges_removed_total": 2,
        "memory_failures_total": 1,
    }


def test_a_settled_warning_counts_by_what_was_done_with_it_and_how_it_ended() -> None:
    metrics = MetricsCollector()
    metrics(ReviewCompleted(NS, "warn", "proceed", 0, 0, 0.0, withheld=2, muted=1))
    for arm, role, success in (
        ("shown", "instead", True),
        ("shown", "instead", False),
        ("shown", "ran", False),
        ("withheld", "ran", True),
        ("muted", "ran", False),
    ):
        metrics(WarningSettled(NS, arm, role, success))  # type: ignore[arg-type]

    counted = {k: v for k, v in metrics.snapshot()["counters"].items() if v}
    assert counted == {
        "reviews_total": 1,
        "review_warnings_withheld_total": 2,
        "review_warnings_muted_total": 1,
        "settled_heeded_total": 2,
        "settled_heeded_failed_total": 1,
        "settled_overridden_total": 1,
        "settled_overridden_failed_total": 1,
        "settled_withheld_total": 1,
        "settled_muted_total": 1,
        "settled_muted_failed_total": 1,
    }


def test_gauges_describe_the_reviews_that_warned() -> None:
    metrics = MetricsCollector()
    for confidence in (0.6, 0.8):
        metrics(reviewed("warn", 1, confidence))
    metrics(reviewed("proceed"))

    gauges = metrics.snapshot()["gauges"]
    assert gauges["last_review_confidence"] == 0.8
    assert round(gauges["review_confidence_average"], 9) == 0.7
    assert round(gauges["review_confidence_total"], 9) == 1.4


def test_counting_from_many_threads_loses_nothing() -> None:
    metrics = MetricsCollector()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: metrics(reviewed("warn", 1, 0.5)), range(2000)))

    assert metrics.snapshot()["counters"]["reviews_total"] == 2000
