"""Watching many sessions with one configuration: what nodes and middleware have in common.

The configuration is immutable. What is known of a session is plain JSON that its owner keeps
(graph state, so it is per thread and part of every checkpoint); each measurement makes a monitor
of its own from it and gives the new JSON back.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from driftguard_langgraph.drift.baseline import Baseline
from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.drift.turns import (
    Channel,
    as_turn,
    digest,
    given_id,
    is_own_scaffold,
    with_id,
)
from driftguard_langgraph.errors import ConfigurationError

logger = logging.getLogger(__name__)

OnError = Literal["open", "closed"]
"""When the monitor fails: the session goes on and it is logged, or the error is raised."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A measurement of the messages that were new.

    Attributes:
        kept: What to keep of the session, plain JSON.
        report: The newest report. Its anomalies and revisions are those of all turns that were
            measured now; while the alarm is on, its explanation is the one of the gravest.
        measured: How many turns were new.
        error: What went wrong, None if nothing did. `kept` is then as it was.
    """

    kept: dict[str, Any]
    report: DriftReport
    measured: int
    error: str | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there was nothing new, so that what is known is still the last word."""
        return self.measured == 0 and self.error is None

    def event(self, node: str) -> dict[str, Any]:
        """Return the custom stream event about it, plain JSON.

        Args:
            node: Who measured.
        """
        head = {"type": "driftguard", "node": node}
        if self.error is not None:
            return {**head, "event": "drift_unavailable", "error": self.error}
        return {**head, "event": "drift", "measured": self.measured, **self.report.to_dict()}


class DriftWatch:
    """One configuration for any number of sessions; safe to use from many threads at once.

    Args:
        monitor: A `DriftMonitor` whose configuration is used (it is not changed itself), or a
            baseline: the system prompt, or the messages that a session starts with. None: each
            session brings its own.
        on_error: What happens when measuring fails; None: the settings' `on_store_error`.
        **options: `few_shot_examples`, `embeddings`, `settings`, `strategies` and `explainer` of
            `DriftMonitor`, where `monitor` is none itself.

    Raises:
        ConfigurationError: An argument is not usable.
    """

    def __init__(
        self, monitor: object = None, *, on_error: OnError | None = None, **options: Any
    ) -> None:
        if on_error is not None and on_error not in get_args(OnError):
            raise ConfigurationError(f"on_error={on_error!r} must be 'open', 'closed' or None.")
        if isinstance(monitor, DriftMonitor):
            given = sorted(name for name, value in options.items() if value not in (None, ()))
            if given:
                raise ConfigurationError(
                    f"{', '.join(given)}: these belong to the DriftMonitor that was given; "
                    "give them to it, or give the baseline instead of a monitor."
                )
            self._template = monitor
            self._baseline = monitor.baseline
        else:
            # Without its baseline: a model is loaded at the first message, not when a graph is
            # put together.
            self._template = DriftMonitor(None, **options)
            self._baseline = Baseline.of(monitor)
        self.on_error: OnError = on_error or self._template.settings.on_store_error

    @property
    def has_baseline(self) -> bool:
        """Whether the configuration brings the baseline, so that no session needs to."""
        return self._baseline is not None

    @property
    def baseline_messages(self) -> list[dict[str, Any]] | None:
        """The baseline of the configuration as messages, None if each session brings its own."""
        return self._baseline.snapshot() if self._baseline is not None else None

    def measure(
        self,
        messages: object,
        kept: object = None,
        *,
        baseline: object = None,
        scaffolds: Mapping[str, object] | None = None,
    ) -> Watched:
        """Measure the messages that are new, and the scaffolds whose text has changed.

        Args:
            messages: The messages of the session, a list of them or one. A message is known by
                its id, or by its words if it has none.
            kept: What the measurement before said to keep; None, or what cannot be read, starts
                the session anew.
            baseline: The baseline of this session, where the configuration brings none; it is
                kept, so that later calls may leave it out. None: the system messages at the
                start of `messages`, or else its first turns.
            scaffolds: Texts by name that are put before a model besides the messages: a running
                summary, a prompt that is kept in a state.

        Raises:
            EmbeddingError: The model failed, and `on_error` is `closed`.
            ConfigurationError: `kept` is of another baseline or unreadable, and `on_error` is
                `closed`.
        """
        given = _as_list(messages)
        found = self._found_baseline(given, kept, baseline)
        monitor = self._monitor(kept, found)
        reports = list(_measured(monitor, _identified(given)))
        if monitor.baseline is not None:
            reports += _measured(monitor, _scaffold_messages(scaffolds or {}))
        report = _joined(monitor.report, reports)
        if found is None and report.turn == 0:
            return Watched({}, report, 0)
        own = found.snapshot() if found is not None else None
        return Watched({"baseline": own, "monitor": monitor.state}, report, len(reports))

    def failed(self, kept: object, error: Exception) -> Watched:
        """Return what stands for a measurement that failed; the error is logged.

        Args:
            kept: What was kept of the session.
            error: Why.
        """
        # A traceback may quote the session, so it is for those who debug.
        logger.warning("driftguard could not measure a session: %s", type(error).__name__)
        logger.debug("why it could not be measured", exc_info=error)
        held = dict(kept) if isinstance(kept, Mapping) else {}
        what = f"{type(error).__name__}: {error}"
        blank = DriftReport(0, "baseline", Channel.SCAFFOLD, abstained=True)
        try:
            report = DriftReport.from_dict(held["monitor"]["report"])
        except (KeyError, TypeError, ValueError, AttributeError):
            report = blank
        note = f"The newest messages could not be measured ({what})."
        return Watched(held, replace(report, explanation=note), 0, what)

    def _found_baseline(
        self, messages: Sequence[object], kept: object, baseline: object
    ) -> Baseline | None:
        """Return the session's own baseline; None if it is configured, or will be learned."""
        if self._baseline is not None:
            return None
        if isinstance(kept, Mapping) and "baseline" in kept:
            return Baseline.of(kept["baseline"])
        return Baseline.of(baseline) or Baseline.of(list(_leading_scaffolds(messages)))

    def _monitor(self, kept: object, found: Baseline | None) -> DriftMonitor:
        baseline = self._baseline or found
        state = kept.get("monitor") if isinstance(kept, Mapping) else None
        if state is None:
            return self._template.fresh(baseline)
        try:
            return self._template.fresh(baseline, state)
        except ConfigurationError as error:
            if self.on_error == "closed":
                raise
            logger.warning("driftguard watches a session anew: %s", error)
            return self._template.fresh(baseline)


def _measured(monitor: DriftMonitor, messages: Iterable[object]) -> Iterator[DriftReport]:
    for message in messages:
        before = monitor.report
        report = monitor.observe(message)
        if report is not before:
            yield report


def _joined(newest: DriftReport, reports: Sequence[DriftReport]) -> DriftReport:
    if len(reports) < 2:
        return newest
    gravest = max(reports, key=_gravity)
    told = gravest if newest.alarm and _gravity(gravest) > 0.0 else newest
    return replace(
        newest,
        anomalies=tuple(anomaly for report in reports for anomaly in report.anomalies),
        revisions=tuple(revision for report in reports for revision in report.revisions),
        explanation=told.explanation,
    )


def _gravity(report: DriftReport) -> float:
    return max((anomaly.weight for anomaly in report.anomalies), default=0.0)


def _as_list(messages: object) -> list[object]:
    if messages is None:
        return []
    if isinstance(messages, list):
        return messages
    # A pair of role and text is one message, as LangChain has it.
    is_pair = isinstance(messages, tuple) and len(messages) == 2 and isinstance(messages[0], str)
    return list(messages) if isinstance(messages, tuple) and not is_pair else [messages]


def _leading_scaffolds(messages: Sequence[object]) -> Iterator[object]:
    for message in messages:
        if as_turn(message, 0).channel is not Channel.SCAFFOLD or is_own_scaffold(message):
            return
        yield message


def _identified(messages: Iterable[object]) -> Iterator[object]:
    """Yield the messages, each with an id that it also has the next time."""
    count: dict[str, int] = {}
    for message in messages:
        if given_id(message) is not None:
            yield message
            continue
        said = digest(as_turn(message, 0))
        count[said] = count.get(said, 0) + 1
        yield with_id(message, f"{said}-{count[said]}")


def _scaffold_messages(scaffolds: Mapping[str, object]) -> Iterator[dict[str, Any]]:
    for name, value in scaffolds.items():
        text = "\n".join(_texts(value))
        if text.strip():
            yield {"role": "scaffold", "content": text, "id": f"state:{name}"}


def _texts(value: object) -> Iterator[str]:
    """Yield the texts of a state value: words, messages, or an object with a `summary`."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and "role" not in value and "content" not in value:
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list | tuple | set | frozenset):
        for member in value:
            yield from _texts(member)
    elif isinstance(getattr(value, "summary", None), str):
        yield value.summary  # type: ignore[attr-defined]
    elif isinstance(value, Mapping) or hasattr(value, "content"):
        yield as_turn(value, 0).text
