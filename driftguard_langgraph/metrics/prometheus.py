"""What guards do, as Prometheus metrics; needs the extra `prometheus`.

    from prometheus_client import start_http_server
    from driftguard_langgraph import DriftGuard
    from driftguard_langgraph.metrics.prometheus import PrometheusMetrics

    guard = DriftGuard(hooks=[PrometheusMetrics()])
    start_http_server(9464)

Counters have the names of `DriftGuard.metrics_snapshot()` behind `driftguard_`, for example
`driftguard_reviews_total`, and stand at 0 from the start. Beside them there are the histograms
`driftguard_review_confidence` (of reviews that warned), `driftguard_review_seconds` and
`driftguard_record_seconds`, and the gauge `driftguard_last_review_confidence`. Averages are
left to queries: `rate(..._sum[5m]) / rate(..._count[5m])`.

Series are few: only `driftguard_memory_failures_total` has a label of its own, `operation`,
whose values are the guard's own words. Namespaces often name people and are many, so they are
no label unless you say with `namespace_label` what of them may be one.

Processes count for themselves. Workers that a server forks (gunicorn, uvicorn with several
workers) need prometheus_client's own multiprocess mode (`PROMETHEUS_MULTIPROC_DIR`), which
these metrics support; without it a scrape sees one of the workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.counters import increments
from driftguard_langgraph.errors import ConfigurationError, MissingExtra
from driftguard_langgraph.events import EpisodeRecorded, Event, MemoryFailed, ReviewCompleted
from driftguard_langgraph.metrics.labels import (
    CONFIDENCE_BUCKETS,
    SECONDS_BUCKETS,
    NamespaceLabel,
    checked_label,
    described,
    stem,
)

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

PREFIX = "driftguard_"
OPERATION_COUNTER = "memory_failures_total"
"""The one counter with a label of its own: what the guard was doing."""


class PrometheusMetrics:
    """A hook that counts events in a Prometheus registry; thread-safe.

    Any number of these, and of guards, may share a registry: they count into the same series.

    Args:
        registry: Where the metrics are registered; None is prometheus_client's default.
        namespace_label: Says of a namespace what its label `namespace` shall be, for example
            `lambda namespace: namespace[0]`. Each text that it returns is a series of its own
            for every metric. None: no such label.

    Raises:
        MissingExtra: prometheus_client is not installed.
        ConfigurationError: The registry has metrics of these names by somebody else, or with
            other labels.
    """

    def __init__(
        self,
        registry: CollectorRegistry | None = None,
        *,
        namespace_label: NamespaceLabel | None = None,
    ) -> None:
        try:
            from prometheus_client import REGISTRY
        except ImportError:
            raise MissingExtra.of("PrometheusMetrics", "prometheus") from None
        self._label = checked_label(namespace_label)
        self._families = _families_of(REGISTRY if registry is None else registry, self._label)

    def __call__(self, event: Event, /) -> None:
        """Count one event."""
        labels = {} if self._label is None else {"namespace": str(self._label(event.namespace))}
        for name, amount in increments(event):
            own = labels
            if name == OPERATION_COUNTER and isinstance(event, MemoryFailed):
                own = {**labels, "operation": event.operation}
            _child(self._families.counters[name], own).inc(amount)
        if isinstance(event, ReviewCompleted) and event.decision != "skipped":
            _child(self._families.review_seconds, labels).observe(event.seconds)
            if event.warnings:
                _child(self._families.confidence, labels).observe(event.confidence)
                _child(self._families.last_confidence, labels).set(event.confidence)
        elif isinstance(event, EpisodeRecorded):
            _child(self._families.record_seconds, labels).observe(event.seconds)


@dataclass(frozen=True, slots=True)
class _Families:
    labelnames: tuple[str, ...]
    counters: dict[str, Counter]
    confidence: Histogram
    review_seconds: Histogram
    record_seconds: Histogram
    last_confidence: Gauge


def _child(family: Any, labels: dict[str, str]) -> Any:
    return family.labels(**labels) if labels else family


_families: WeakKeyDictionary[CollectorRegistry, _Families] = WeakKeyDictionary()
_families_lock = ForkSafeLock()


def _families_of(registry: CollectorRegistry, label: NamespaceLabel | None) -> _Families:
    labelnames = () if label is None else ("namespace",)
    with _families_lock:
        families = _families.get(registry)
        if families is None:
            families = _families[registry] = _registered(registry, labelnames)
    if families.labelnames != labelnames:
        raise ConfigurationError(
            f"this registry has DriftGuard's metrics with the labels {families.labelnames}, "
            f"not {labelnames}: give all PrometheusMetrics of a registry a namespace_label, "
            "or none, or give this one a registry of its own."
        )
    return families


def _registered(registry: CollectorRegistry, labelnames: tuple[str, ...]) -> _Families:
    from prometheus_client import Counter, Gauge, Histogram

    common: dict[str, Any] = {"labelnames": labelnames, "registry": registry}
    try:
        return _Families(
            labelnames,
            {name: _counter(Counter, name, text, common) for name, text in described().items()},
            Histogram(
                f"{PREFIX}review_confidence",
                "Highest confidence of the warnings of a review that warned",
                buckets=CONFIDENCE_BUCKETS,
                **common,
            ),
            Histogram(
                f"{PREFIX}review_seconds",
                "Seconds that a review took",
                buckets=SECONDS_BUCKETS,
                **common,
            ),
            Histogram(
                f"{PREFIX}record_seconds",
                "Seconds that recording an outcome took",
                buckets=SECONDS_BUCKETS,
                **common,
            ),
            Gauge(
                f"{PREFIX}last_review_confidence",
                "Confidence of the last review that warned",
                multiprocess_mode="mostrecent",
                **common,
            ),
        )
    except ValueError as error:
        raise ConfigurationError(
            f"the registry cannot take DriftGuard's metrics ({error}): somebody else uses their "
            "names. Give PrometheusMetrics a registry of its own."
        ) from None


def _counter(make: type[Counter], name: str, text: str, common: dict[str, Any]) -> Counter:
    labelnames = common["labelnames"]
    if name == OPERATION_COUNTER:
        labelnames = (*labelnames, "operation")
    return make(f"{PREFIX}{stem(name)}", text, **{**common, "labelnames": labelnames})
