from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer

from driftguard_langgraph.errors import MissingExtra
from driftguard_langgraph.events import MemoryFailed, ReviewCompleted
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.metrics.opentelemetry import OpenTelemetryHook
from driftguard_langgraph.nodes import (
    DriftGuardState,
    create_guard_review_node,
    create_record_outcome_node,
)

BAD = "delete the temp directory"
FAILED: dict[str, Any] = {"candidate_action": BAD, "feedback": "denied", "success": False}


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracer(spans: InMemorySpanExporter) -> Tracer:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    return provider.get_tracer("test")


@pytest.fixture
def reader() -> Iterator[InMemoryMetricReader]:
    reader = InMemoryMetricReader()
    yield reader
    reader.shutdown()


@pytest.fixture
def hook(reader: InMemoryMetricReader) -> OpenTelemetryHook:
    return OpenTelemetryHook(MeterProvider([reader]))


@pytest.fixture
def guard(hook: OpenTelemetryHook) -> DriftGuard:
    return DriftGuard(store=EphemeralMemoryStore(), hooks=[hook])


def events_of(span: ReadableSpan) -> list[tuple[str, dict[str, Any]]]:
    return [(event.name, dict(event.attributes or {})) for event in span.events]


def points(reader: InMemoryMetricReader) -> dict[str, Any]:
    data = reader.get_metrics_data()
    assert data is not None
    scope = data.resource_metrics[0].scope_metrics[0]
    assert scope.scope.name == "driftguard_langgraph"
    return {metric.name: metric.data.data_points[0] for metric in scope.metrics}


def test_reviews_and_records_are_events_of_the_current_span(
    guard: DriftGuard, tracer: Tracer, spans: InMemorySpanExporter
) -> None:
    guard.record(BAD, "denied", "aborted")
    with tracer.start_as_current_span("step"):
        guard.review(BAD, policy="block")
        guard.record_success("archive the logs", "done", "space again")
    (span,) = spans.get_finished_spans()
    (review, record) = events_of(span)
    assert review[0] == "driftguard.review"
    assert review[1]["driftguard.decision"] == "block"
    assert record == (
        "driftguard.record",
        {
            "driftguard.kind": "success",
            "driftguard.stored": True,
            "driftguard.nodes_created": 3,
            "driftguard.nodes_merged": 0,
        },
    )
    attributes = dict(span.attributes or {})
    assert attributes["driftguard.decision"] == "block"
    assert attributes["driftguard.warnings"] == 1
    assert attributes["driftguard.confidence"] == review[1]["driftguard.confidence"]


async def test_nodes_of_an_async_graph_write_to_the_span_around_it(
    guard: DriftGuard, tracer: Tracer, spans: InMemorySpanExporter
) -> None:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(DriftGuardState)
    builder.add_node(create_guard_review_node(guard))
    builder.add_node(create_record_outcome_node(guard))
    builder.add_edge(START, "guard_review").add_edge("guard_review", "record_outcome")
    with tracer.start_as_current_span("run"):
        await builder.compile().ainvoke(FAILED)
    (span,) = spans.get_finished_spans()
    assert [name for name, _ in events_of(span)] == ["driftguard.review", "driftguard.record"]


def test_the_meter_counts_what_the_snapshot_counts(
    guard: DriftGuard, reader: InMemoryMetricReader
) -> None:
    guard.record(BAD, "denied", "aborted")
    guard.review(BAD)
    seen = points(reader)
    counted = guard.metrics_snapshot()["counters"]
    for name, value in counted.items():
        if value:
            assert seen[f"driftguard.{name.removesuffix('_total')}"].value == value
    assert seen["driftguard.review.duration"].count == 1
    assert seen["driftguard.record.duration"].sum > 0
    assert seen["driftguard.review.confidence"].count == 1


def test_no_attribute_holds_text_an_error_or_a_namespace(
    hook: OpenTelemetryHook,
    tracer: Tracer,
    spans: InMemorySpanExporter,
    reader: InMemoryMetricReader,
) -> None:
    with tracer.start_as_current_span("step"):
        hook(MemoryFailed(("tenant-7",), "review", "the secret file is locked"))
    (span,) = spans.get_finished_spans()
    assert events_of(span) == [("driftguard.failure", {"driftguard.operation": "review"})]
    point = points(reader)["driftguard.memory_failures"]
    assert dict(point.attributes) == {"driftguard.operation": "review"}


def test_a_namespace_is_an_attribute_in_the_form_that_was_asked_for(
    reader: InMemoryMetricReader,
) -> None:
    hook = OpenTelemetryHook(MeterProvider([reader]), namespace_label=lambda ns: ns[0])
    hook(ReviewCompleted(("acme", "user-7"), "warn", "proceed", 0, 0, 0.0))
    point = points(reader)["driftguard.reviews"]
    assert dict(point.attributes) == {"driftguard.namespace": "acme"}


def test_without_a_span_and_an_sdk_nothing_happens() -> None:
    guard = DriftGuard(store=EphemeralMemoryStore(), hooks=[OpenTelemetryHook()])
    assert guard.review(BAD).decision == "proceed"
    assert guard.metrics_snapshot()["counters"]["reviews_total"] == 1


def test_a_missing_api_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtra, match=r"driftguard-langgraph\[opentelemetry\]"):
        OpenTelemetryHook()
