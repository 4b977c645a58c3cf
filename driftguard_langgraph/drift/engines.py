"""The measures behind a monitor, as one: each sees every turn, none sees another.

What cannot be embedded is measured by words alone: a model that fails must not end a session.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.drift.baseline import Baseline
from driftguard_langgraph.drift.constraints.ledger import ConstraintLedger, LedgerReading
from driftguard_langgraph.drift.fingerprint.engine import Fingerprint, FingerprintReading
from driftguard_langgraph.drift.intent.engine import Intent, IntentReading
from driftguard_langgraph.drift.loops import Loops
from driftguard_langgraph.drift.pressure.engine import Pressure, PressureReading
from driftguard_langgraph.drift.reading.shortened import ShortenedEmbedder
from driftguard_langgraph.drift.report import Anomaly
from driftguard_langgraph.drift.strategies.base import FewShotExample, TopicStrategy
from driftguard_langgraph.drift.topic import TopicReading, TopicScore
from driftguard_langgraph.drift.turns import Turn
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import ConfigurationError, EmbeddingError
from driftguard_langgraph.settings import DriftGuardSettings

logger = logging.getLogger(__name__)

LEXICAL = "lexical"
"""Name of the backend when no embedding was used."""


@dataclass(frozen=True, slots=True)
class Readings:
    """What all measures say about one turn.

    Attributes:
        topic: Whether it is on purpose.
        fingerprint: How far its features have moved.
        anomalies: What is wrong with it.
        revisions: What the user revised in it.
        upheld: Says whether the assistant upheld the baseline in it; asked only when it matters.
    """

    topic: TopicReading
    fingerprint: FingerprintReading
    anomalies: tuple[Anomaly, ...]
    revisions: tuple[Anomaly, ...]
    upheld: Callable[[], bool]


class Engines:
    """The measures of one session.

    Args:
        baseline: What the session was told.
        few_shots: Examples that belong to the context.
        strategy: How meaning is compared for the topic score.
        embedder: The model for single clauses.
        settings: The `drift_*` settings.
    """

    def __init__(
        self,
        baseline: Baseline,
        few_shots: Sequence[FewShotExample],
        strategy: TopicStrategy,
        embedder: Embedder,
        settings: DriftGuardSettings,
    ) -> None:
        self._baseline = baseline
        self._settings = settings
        self._embeds = True
        self._last_topic: TopicReading | None = None
        self.topic = TopicScore(baseline.text, few_shots, strategy, settings)
        self.fingerprint = Fingerprint(baseline.turns, settings)
        sentences = ShortenedEmbedder(embedder)
        self.ledger = ConstraintLedger(baseline.text, sentences, settings)
        self.pressure = Pressure(baseline.text, sentences, settings)
        self.intent = Intent(baseline.text, sentences, settings)
        self.loops = Loops()

    def observe(self, turn: Turn) -> Readings:
        """Measure one turn."""
        topic = self._topic(turn)
        fingerprint = self.fingerprint.observe(turn)
        ledger, pressure = self._clauses(turn)
        meant = self._intent(turn).anomalies
        found = (*ledger.anomalies, *pressure.anomalies, *fingerprint.anomalies, *meant)
        anomalies = (*found, *self.loops.observe(turn))
        return Readings(topic, fingerprint, anomalies, ledger.revisions, ledger.upheld)

    def _topic(self, turn: Turn) -> TopicReading:
        try:
            self._last_topic = self.topic.observe(turn)
        except EmbeddingError as error:
            _log(error, turn, "its topic is not scored")
            held = self._last_topic.score if self._last_topic is not None else 100.0
            return TopicReading(held, True, {}, LEXICAL)
        return self._last_topic

    def _clauses(self, turn: Turn) -> tuple[LedgerReading, PressureReading]:
        try:
            return self.ledger.observe(turn), self.pressure.observe(turn)
        except EmbeddingError as error:
            if not self._embeds:
                raise
            _log(error, turn, "clauses go by words")
            self._without_model()
            return self.ledger.observe(turn), self.pressure.observe(turn)

    def _intent(self, turn: Turn) -> IntentReading:
        try:
            return self.intent.observe(turn)
        except EmbeddingError as error:
            _log(error, turn, "what it means is not measured")
            return IntentReading()

    def _without_model(self) -> None:
        self._embeds = False
        ledger = ConstraintLedger(self._baseline.text, None, self._settings)
        pressure = Pressure(self._baseline.text, None, self._settings)
        ledger.restore(self.ledger.snapshot())
        pressure.restore(self.pressure.snapshot())
        self.ledger, self.pressure = ledger, pressure

    def snapshot(self) -> dict[str, Any]:
        """Return the state of all measures as plain JSON types."""
        return {
            "topic": self.topic.snapshot(),
            "fingerprint": self.fingerprint.snapshot(),
            "ledger": self.ledger.snapshot(),
            "pressure": self.pressure.snapshot(),
            "intent": self.intent.snapshot(),
            "loops": self.loops.snapshot(),
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over what `snapshot` returned.

        Raises:
            ConfigurationError: It is something else.
        """
        try:
            self.topic.restore(data["topic"])
            self.fingerprint.restore(data["fingerprint"])
            self.ledger.restore(data["ledger"])
            self.pressure.restore(data["pressure"])
            self.intent.restore(data["intent"])
            self.loops.restore(data["loops"])
        except KeyError as error:
            raise ConfigurationError(f"the drift state has no {error}.") from None


def _log(error: EmbeddingError, turn: Turn, instead: str) -> None:
    cause = type(error.__cause__ or error).__name__
    logger.error("driftguard cannot embed turn %d (%s); %s", turn.index, cause, instead)
    # The error may quote the turn.
    logger.debug("driftguard cannot embed turn %d", turn.index, exc_info=error)
