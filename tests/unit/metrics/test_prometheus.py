from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter, generate_latest

from driftguard_langgraph.counters import COUNTERS
from driftguard_langgraph.errors import ConfigurationError, MissingExtra
from driftguard_langgraph.events import (
    EpisodeRecorded,
    Hook,
    MemoryFailed,
    ReviewCompleted,
)
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.metrics.prometheus import PrometheusMetrics

NS = ("acme", "user-7")
WARNED = ReviewCompleted(NS, "block", "block", 2, 0, 0.84, seconds=0.02)


def exposed(registry: CollectorRegistry) -> dict[str, float]:
    """Return the samples of a scrape, as Prometheus reads them."""
    lines = generate_latest(registry).decode().splitlines()
    samples = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name: float(value) for name, value in samples}


def guarded(hooks: Sequence[Hook]) -> DriftGuard:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0, 2.0] for text in texts]

    class Model:
        model_id = "lengths"
        dimension = 3

        def embed(self, texts: Sequence[str]) -> object:
            import numpy as np

            vectors = np.array(embed(list(texts)), dtype=np.float32).reshape(-1, 3)
            return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return DriftGuard(store=EphemeralMemoryStore(), embeddings=Model(), hooks=hooks)


def test_a_scrape_and_the_snapshot_of_a_guard_say_the_same() -> None:
    registry = CollectorRegistry()
    guard = guarded([PrometheusMetrics(registry)])
    guard.record("delete the temp directory", "denied", "aborted")
    guard.review("delete the temp directory", policy="block")
    guard.record_success("archive the logs", "done", "space again")
    guard.prune()

    seen = exposed(registry)
    counted = guard.metrics_snapshot()["counters"]
    assert counted["reviews_blocked_total"] == 1
    for name, value in counted.items():
        assert seen.get(f"driftguard_{name}", 0) == value, name
    assert seen["driftguard_review_seconds_count"] == 1
    assert seen["driftguard_review_seconds_sum"] > 0
    assert seen["driftguard_record_seconds_count"] == 2
    gauges = guard.metrics_snapshot()["gauges"]
    assert seen["driftguard_last_review_confidence"] == gauges["last_review_confidence"] > 0
    assert seen["driftguard_review_confidence_sum"] == gauges["review_confidence_total"]


def test_every_counter_is_exposed_at_zero_with_its_help_before_anything_happens() -> None:
    registry = CollectorRegistry()
    PrometheusMetrics(registry)
    text = generate_latest(registry).decode()
    for name in COUNTERS:
        assert f"# TYPE driftguard_{name} counter" in text
        assert f"# HELP driftguard_{name} " in text
    values = {k: v for k, v in exposed(registry).items() if not k.endswith("_created")}
    assert values["driftguard_reviews_total"] == 0
    assert set(values.values()) == {0.0}


def test_confidence_is_a_histogram_of_the_reviews_that_warned() -> None:
    registry = CollectorRegistry()
    hook = PrometheusMetrics(registry)
    for event in (WARNED, ReviewCompleted(NS, "warn", "proceed", 0, 0, 0.0, seconds=0.5)):
        hook(event)
    seen = exposed(registry)
    assert seen['driftguard_review_confidence_bucket{le="0.8"}'] == 0
    assert seen['driftguard_review_confidence_bucket{le="0.9"}'] == 1
    assert seen["driftguard_review_confidence_count"] == 1
    assert seen['driftguard_review_seconds_bucket{le="0.025"}'] == 1
    assert seen["driftguard_review_seconds_count"] == 2


def test_a_skipped_review_has_no_duration() -> None:
    registry = CollectorRegistry()
    PrometheusMetrics(registry)(ReviewCompleted(NS, "record_only", "skipped", 0, 0, 0.0))
    seen = exposed(registry)
    assert (seen["driftguard_reviews_skipped_total"], seen["driftguard_reviews_total"]) == (1, 0)
    assert seen["driftguard_review_seconds_count"] == 0


def test_no_text_error_or_namespace_becomes_a_label() -> None:
    registry = CollectorRegistry()
    hook = PrometheusMetrics(registry)
    for event in (WARNED, MemoryFailed(NS, "review", "the secret file is locked")):
        hook(event)
    text = generate_latest(registry).decode()
    assert "acme" not in text
    assert "secret" not in text
    assert exposed(registry)['driftguard_memory_failures_total{operation="review"}'] == 1


def test_a_namespace_is_a_label_only_in_the_form_that_was_asked_for() -> None:
    registry = CollectorRegistry()
    hook = PrometheusMetrics(registry, namespace_label=lambda namespace: namespace[0])
    for event in (WARNED, MemoryFailed(NS, "record", "gone"), EpisodeRecorded(NS, "success", False, 0, 0, 0, 0)):  # fmt: skip  # noqa: E501
        hook(event)
    seen = exposed(registry)
    assert seen['driftguard_reviews_total{namespace="acme"}'] == 1
    assert seen['driftguard_records_duplicate_total{namespace="acme"}'] == 1
    assert seen['driftguard_memory_failures_total{namespace="acme",operation="record"}'] == 1
    assert "user-7" not in generate_latest(registry).decode()


def test_guards_and_hooks_share_a_registry_and_each_event_counts_once() -> None:
    registry = CollectorRegistry()
    shared = PrometheusMetrics(registry)
    guards = [guarded([shared]), guarded([shared]), guarded([PrometheusMetrics(registry)])]
    for guard in guards:
        guard.review("paint the fence")
    assert exposed(registry)["driftguard_reviews_total"] == 3


def test_registries_are_kept_apart() -> None:
    one, other = CollectorRegistry(), CollectorRegistry()
    PrometheusMetrics(one)(WARNED)
    PrometheusMetrics(other)
    assert exposed(one)["driftguard_reviews_blocked_total"] == 1
    assert exposed(other)["driftguard_reviews_blocked_total"] == 0


def test_hooks_with_other_labels_cannot_share_a_registry() -> None:
    registry = CollectorRegistry()
    PrometheusMetrics(registry)
    with pytest.raises(ConfigurationError, match="registry of its own"):
        PrometheusMetrics(registry, namespace_label=lambda namespace: namespace[0])


def test_names_that_somebody_else_registered_are_a_configuration_error() -> None:
    registry = CollectorRegistry()
    Counter("driftguard_reviews", "not ours", registry=registry)
    with pytest.raises(ConfigurationError, match="somebody else"):
        PrometheusMetrics(registry)


def test_a_namespace_label_that_is_no_function_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="namespace_label"):
        PrometheusMetrics(CollectorRegistry(), namespace_label="tenant")  # type: ignore[arg-type]


def test_counting_from_many_threads_loses_nothing() -> None:
    registry = CollectorRegistry()
    hook = PrometheusMetrics(registry)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: hook(WARNED), range(2000)))
    seen = exposed(registry)
    assert seen["driftguard_reviews_total"] == 2000
    assert seen["driftguard_review_warnings_total"] == 4000


def test_a_missing_client_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(MissingExtra, match=r"driftguard-langgraph\[prometheus\]"):
        PrometheusMetrics()


FORKED = """
import os
from prometheus_client import CollectorRegistry, generate_latest, multiprocess
from driftguard_langgraph.events import ReviewCompleted
from driftguard_langgraph.metrics.prometheus import PrometheusMetrics
hook = PrometheusMetrics(CollectorRegistry())
event = ReviewCompleted(("a",), "warn", "warn", 1, 0, 0.5)
hook(event)
children = []
for _ in range(3):
    child = os.fork()
    if child == 0:
        hook(event)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
scraped = CollectorRegistry()
multiprocess.MultiProcessCollector(scraped)
print(generate_latest(scraped).decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_workers_are_summed_in_the_clients_multiprocess_mode(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)},
    )
    assert "driftguard_reviews_total 4.0" in done.stdout, done.stderr
