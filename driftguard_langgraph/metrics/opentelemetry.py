"""What guards do, on the current OpenTelemetry span and meter; needs the extra `opentelemetry`.

    from driftguard_langgraph import DriftGuard
    from driftguard_langgraph.metrics.opentelemetry import OpenTelemetryHook

    guard = DriftGuard(hooks=[OpenTelemetryHook()])

Each event of the guard becomes an event of the span it happens in (`driftguard.review`,
`driftguard.record`, `driftguard.settled`, `driftguard.run_outcome`, `driftguard.prune`,
`driftguard.failure`), and the span of a review gets `driftguard.decision`,
`driftguard.warnings` and `driftguard.confidence` of its newest review, so that traces can be
searched for them. The counters of `DriftGuard.metrics_snapshot()` are counters of the meter
`driftguard_langgraph` (`driftguard.reviews`, ...), beside the histograms
`driftguard.review.confidence`, `driftguard.review.duration` and `driftguard.record.duration`.

Only the API is needed: without an SDK nothing is recorded and nothing fails. No attribute holds
recorded text, an error's message, or a namespace unless `namespace_label` makes one of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftguard_langgraph._version import __version__
from driftguard_langgraph.counters import increments
from driftguard_langgraph.errors import MissingExtra
from driftguard_langgraph.events import (
    EpisodeRecorded,
    Event,
    MemoryFailed,
    MemoryPruned,
    ReviewCompleted,
    RunOutcomeRecorded,
    WarningSettled,
)
from driftguard_langgraph.metrics.labels import (
    CONFIDENCE_BUCKETS,
    SECONDS_BUCKETS,
    NamespaceLabel,
    checked_label,
    described,
    stem,
)

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

Attributes = dict[str, str | int | float | bool]

METER = "driftguard_langgraph"


class OpenTelemetryHook:
    """A hook that writes events to the current span and counts them with a meter; thread-safe.

    Args:
        meter_provider: Whose meter counts; None is the global one, also if it is set later.
        namespace_label: Says of a namespace what the attribute `driftguard.namespace` shall be;
            each text that it returns is a series of its own for every metric. None: no such
            attribute.

    Raises:
        MissingExtra: opentelemetry-api is not installed.
        ConfigurationError: `namespace_label` is no function.
    """

    def __init__(
        self,
        meter_provider: MeterProvider | None = None,
        *,
        namespace_label: NamespaceLabel | None = None,
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError:
            raise MissingExtra.of("OpenTelemetryHook", "opentelemetry") from None
        self._label = checked_label(namespace_label)
        self._current_span = trace.get_current_span
        meter = metrics.get_meter(METER, __version__, meter_provider)
        self._counters = {
            name: meter.create_counter(f"driftguard.{stem(name)}", description=text)
            for name, text in described().items()
        }
        self._confidence = meter.create_histogram(
            "driftguard.review.confidence",
            description="Highest confidence of the warnings of a review that warned",
            explicit_bucket_boundaries_advisory=CONFIDENCE_BUCKETS,
        )
        self._review_seconds, self._record_seconds = (
            meter.create_histogram(
                f"driftguard.{what}.duration",
                unit="s",
                description=f"How long a {what} took",
                explicit_bucket_boundaries_advisory=SECONDS_BUCKETS,
            )
            for what in ("review", "record")
        )

    def __call__(self, event: Event, /) -> None:
        """Write one event to the current span, and count it."""
        whose: Attributes = {}
        if self._label is not None:
            whose["driftguard.namespace"] = str(self._label(event.namespace))
        self._trace(event, whose)
        self._count(event, whose)

    def _trace(self, event: Event, whose: Attributes) -> None:
        span = self._current_span()
        if not span.is_recording():
            return
        name, attributes = _told(event)
        span.add_event(name, {**attributes, **whose})
        if isinstance(event, ReviewCompleted):
            for searched in ("decision", "warnings", "confidence"):
                span.set_attribute(f"driftguard.{searched}", attributes[f"driftguard.{searched}"])

    def _count(self, event: Event, whose: Attributes) -> None:
        own = whose
        if isinstance(event, MemoryFailed):
            own = {**whose, "driftguard.operation": event.operation}
        for name, amount in increments(event):
            self._counters[name].add(amount, own)
        if isinstance(event, ReviewCompleted) and event.decision != "skipped":
            self._review_seconds.record(event.seconds, whose)
            if event.warnings:
                self._confidence.record(event.confidence, whose)
        elif isinstance(event, EpisodeRecorded):
            self._record_seconds.record(event.seconds, whose)


def _told(event: Event) -> tuple[str, Attributes]:
    """Return the name and the attributes of the span event about an event."""
    match event:
        case ReviewCompleted():
            names = "decision policy warnings reinforcements withheld muted confidence"
            return "driftguard.review", _attributes(event, names)
        case EpisodeRecorded():
            return "driftguard.record", _attributes(event, "kind stored nodes_created nodes_merged")
        case WarningSettled():
            return "driftguard.settled", _attributes(event, "arm role success")
        case RunOutcomeRecorded():
            return "driftguard.run_outcome", _attributes(event, "success replaced actions")
        case MemoryPruned():
            names = "episodes_removed nodes_removed edges_removed"
            return "driftguard.prune", _attributes(event, names)
        case MemoryFailed():
            return "driftguard.failure", _attributes(event, "operation")


def _attributes(event: Event, names: str) -> Attributes:
    return {f"driftguard.{name}": getattr(event, name) for name in names.split()}
