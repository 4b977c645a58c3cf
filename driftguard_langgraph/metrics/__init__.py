"""Exporters of what the guard counts: hooks for `DriftGuard(hooks=[...])`.

`metrics.prometheus` serves Prometheus, `metrics.opentelemetry` spans and meters; each needs its
extra. Without either, `DriftGuard.metrics_snapshot()` has the same counters. One hook may serve
any number of guards, and a guard any number of hooks; each counts an event once.
"""
