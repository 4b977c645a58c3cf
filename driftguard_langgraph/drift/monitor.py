"""The drift monitor: one turn after another against what the session was told.

    monitor = DriftMonitor("You are a banking assistant. Never reveal account numbers.")
    report = monitor.observe({"role": "user", "content": "Which savings accounts are there?"})
    report.score, report.verdict, report.alarm

`score` says how far the session still serves its purpose; it falls when the session leaves
and rises when it comes back. `corruption` says how strong the evidence is that somebody works
against the baseline; `alarm` is raised by that alone, so a long or wandering chat is no alarm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph._twins import async_twin
from driftguard_langgraph.drift.baseline import Baseline
from driftguard_langgraph.drift.engines import Engines, Readings
from driftguard_langgraph.drift.explain import (
    ExplanationRequest,
    checked_explainer,
    custom_explanation,
    explain,
    keywords_of,
)
from driftguard_langgraph.drift.reading.rules import Rule
from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.drift.strategies.base import FewShotExample, checked_few_shots
from driftguard_langgraph.drift.strategies.resolve import resolve_strategy
from driftguard_langgraph.drift.threat import Threat
from driftguard_langgraph.drift.turns import (
    Channel,
    Turn,
    as_turn,
    digest,
    given_id,
    is_own_scaffold,
)
from driftguard_langgraph.embeddings.resolve import resolve_embedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings, checked_settings

STATE_VERSION = 1
"""Layout of `DriftMonitor.state`."""


class DriftMonitor:
    """Watches one session, turn by turn.

    It is incremental (a turn costs the same, however long the session is), idempotent (a
    message that it has seen, by its id and text, changes nothing) and safe to share between
    threads. Text never makes it fail: what cannot be measured is abstained from.

    Args:
        baseline: The system prompt, or the messages that the session starts with. Without
            one the first `drift_baseline_turns` messages become it.
        few_shot_examples: Examples that belong to the original context.
        embeddings: An `Embedder` or a LangChain `Embeddings` object; None for the one that
            the settings name.
        settings: The `drift_*` and `embedding_*` settings; None reads the environment.
        strategies: What measures the topic: a strategy, several (equal weights), or a
            callable from text to vector; None is the semantic strategy on `embeddings`.
        explainer: Callable or Runnable that is given an `ExplanationRequest` and returns the
            explanation; the built-in one stands in when it fails.

    Raises:
        ConfigurationError: An argument is of the wrong kind.
        MissingExtra: The chosen embedding backend is not installed.
    """

    def __init__(
        self,
        baseline: object = None,
        *,
        few_shot_examples: Iterable[FewShotExample] = (),
        embeddings: object | None = None,
        settings: DriftGuardSettings | None = None,
        strategies: object | None = None,
        explainer: object | None = None,
    ) -> None:
        self.settings = checked_settings(settings)
        self._few_shots = checked_few_shots(few_shot_examples)
        self._embedder = resolve_embedder(embeddings, self.settings)
        chosen = strategies if strategies is not None else self._embedder
        self._strategy = resolve_strategy(chosen, self.settings)
        self._explainer = checked_explainer(explainer)
        self._lock = ForkSafeLock()
        self._given = Baseline.of(baseline)
        self._start(self._given)

    def _start(self, baseline: Baseline | None) -> None:
        self._turn = 0
        self._seen: dict[str, str] = {}
        self._threat = Threat()
        self._opening: list[Turn] = []
        self._report = DriftReport(0, "baseline", Channel.SCAFFOLD)
        self._engines: Engines | None = None
        if baseline is not None:
            self._measure_against(baseline)

    def _measure_against(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self._engines = Engines(
            baseline, self._few_shots, self._strategy, self._embedder, self.settings
        )
        shots = " ".join(f"{shot.user} {shot.assistant}" for shot in self._few_shots)
        self._context = f"{baseline.text}\n{shots}".strip()
        self._keywords = keywords_of(self._context)

    def fresh(
        self, baseline: Baseline | None = None, state: Mapping[str, Any] | None = None
    ) -> DriftMonitor:
        """Return a monitor of the same configuration for another session.

        Models and strategies are shared, so this loads nothing.

        Args:
            baseline: What that session is told; None: as this monitor was given it.
            state: Where it left off, as in `load`; None: at its start.

        Raises:
            ConfigurationError: `state` cannot be loaded; see `load`.
        """
        twin = copy(self)
        twin._lock = ForkSafeLock()  # noqa: SLF001
        twin._given = baseline if baseline is not None else self._given  # noqa: SLF001
        if state is None:
            twin._start(twin._given)  # noqa: SLF001
        else:
            twin.load(state)
        return twin

    @property
    def baseline(self) -> Baseline | None:
        """What is measured against; None while the first turns that become it are collected."""
        return self._baseline if self._engines is not None else None

    @property
    def report(self) -> DriftReport:
        """The newest report; of turn 0 before the first message."""
        return self._report

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found in the baseline; empty while there is none."""
        return self._engines.ledger.rules if self._engines is not None else ()

    def observe(self, message: object) -> DriftReport:
        """Measure one message and return the report after it.

        A message that was seen before (same id, same text), a restated baseline and the
        scaffolds that driftguard itself injects change nothing: the newest report is returned
        as it is. A known id with another text is a new turn.

        Args:
            message: A LangChain message, a mapping `{"role", "content", "id"?}`, or a pair of
                role and text.
        """
        with self._lock:
            if not is_own_scaffold(message):
                self._take(message)
            return self._report

    def observe_many(self, messages: Iterable[object]) -> list[DriftReport]:
        """Measure messages in order and return the report after each; see `observe`."""
        return [self.observe(message) for message in messages]

    aobserve = async_twin(observe)
    aobserve_many = async_twin(observe_many)

    def _take(self, message: object) -> None:
        turn = as_turn(message, self._turn + 1)
        known = given_id(message)
        if known is not None:
            mark = digest(turn)
            if self._seen.get(known) == mark:
                return
            self._seen[known] = mark
        if self._engines is None:
            self._turn = turn.index
            self._open(turn)
        elif not self._baseline.restates(turn):
            self._turn = turn.index
            self._report = self._explained(self._reported(turn, self._engines.observe(turn)), turn)

    def _open(self, turn: Turn) -> None:
        """Collect a first message into the baseline."""
        if turn.text:
            self._opening.append(turn)
        if len(self._opening) >= self.settings.drift_baseline_turns:
            self._measure_against(Baseline(tuple(self._opening)))
        self._report = replace(
            self._report,
            turn=turn.index,
            message_id=turn.message_id,
            channel=turn.channel,
            abstained=True,
            explanation=f"Turn {turn.index} is part of the baseline.",
        )

    def _reported(self, turn: Turn, readings: Readings) -> DriftReport:
        answered = turn.channel is Channel.ASSISTANT
        upheld = self._threat.alarm and answered and readings.upheld()
        self._threat = self._threat.after(
            readings.anomalies, self.settings, answered=answered, upheld=upheld
        )
        return DriftReport(
            turn=turn.index,
            message_id=turn.message_id,
            channel=turn.channel,
            score=readings.topic.score,
            abstained=readings.topic.abstained,
            strategy_scores=readings.topic.strategy_scores,
            components=readings.fingerprint.components,
            absolute_drift=readings.fingerprint.absolute,
            velocity=readings.fingerprint.velocity,
            signatures=readings.fingerprint.signatures,
            anomalies=readings.anomalies,
            revisions=readings.revisions,
            corruption=self._threat.corruption,
            alarm=self._threat.alarm,
            threat_level=self._threat.level,
            peak_level=self._threat.peak,
            backend=readings.topic.backend,
        )

    def _explained(self, report: DriftReport, turn: Turn) -> DriftReport:
        report = replace(report, explanation=explain(report, turn.text, self._keywords))
        if self._explainer is None:
            return report
        request = ExplanationRequest(
            context=self._context, text=turn.text, score=report.score, report=report.to_dict()
        )
        return replace(report, explanation=custom_explanation(self._explainer, request))

    @property
    def state(self) -> dict[str, Any]:
        """All that the monitor knows of the session, as plain JSON types."""
        with self._lock:
            engines = self._engines
            return {
                "version": STATE_VERSION,
                "baseline": self._baseline.digest if engines is not None else None,
                "opening": [
                    {"role": turn.channel.value, "content": turn.text} for turn in self._opening
                ],
                "turn": self._turn,
                "seen": dict(self._seen),
                "threat": self._threat.snapshot(),
                "engines": engines.snapshot() if engines is not None else None,
                "report": self._report.to_dict(),
            }

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on where a `state` ends.

        Args:
            state: What `state` returned, of a monitor with the same baseline.

        Raises:
            ConfigurationError: It is no such state, or one of another baseline; the monitor
                is then as it was.
        """
        with self._lock:
            before = dict(self.__dict__)
            try:
                self._load(state)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                self.__dict__.update(before)
                if isinstance(error, ConfigurationError):
                    raise
                raise ConfigurationError(f"this is no drift state: {error!r}.") from error

    def _load(self, state: Mapping[str, Any]) -> None:
        if state["version"] != STATE_VERSION:
            raise ConfigurationError(
                f"the drift state has version {state['version']!r}, this release reads "
                f"{STATE_VERSION}: start the session anew."
            )
        opening: Sequence[Mapping[str, Any]] = state["opening"]
        self._start(self._given)
        self._opening = [as_turn(message, 0) for message in opening]
        if self._engines is None and state["baseline"] is not None:
            self._measure_against(Baseline(tuple(self._opening)))
        if state["baseline"] != (self._baseline.digest if self._engines is not None else None):
            raise ConfigurationError(
                "the drift state belongs to another baseline: start the session anew, or give "
                "the monitor the baseline that the state was made with."
            )
        self._turn = int(state["turn"])
        self._seen = {str(key): str(mark) for key, mark in state["seen"].items()}
        self._threat = Threat.restored(state["threat"])
        self._report = DriftReport.from_dict(state["report"])
        if self._engines is not None:
            self._engines.restore(state["engines"])
