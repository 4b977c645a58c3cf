"""What the drift monitor says about a turn: plain, frozen, and JSON by `to_dict`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.html.drift_cards import report_card


class DriftVerdict(StrEnum):
    """How much of the session's purpose is left; edges as context-drift-analyzer has them."""

    FRESH = "FRESH"
    MILD = "MILD"
    MODERATE = "MODERATE"
    SEVERE = "SEVERE"
    CRITICAL = "CRITICAL"


_EDGES = (
    (90.0, DriftVerdict.FRESH),
    (75.0, DriftVerdict.MILD),
    (55.0, DriftVerdict.MODERATE),
    (35.0, DriftVerdict.SEVERE),
)
EFFECTIVE_FROM = 55.0
"""Lowest score at which a session still serves its purpose."""
RESET_BELOW = 35.0
"""Score below which the context is largely lost."""


def verdict_of(score: float) -> DriftVerdict:
    """Return the verdict of a score from 0 to 100."""
    return next((verdict for edge, verdict in _EDGES if score >= edge), DriftVerdict.CRITICAL)


class ThreatLevel(StrEnum):
    """How serious the evidence of corruption is; te-drift-detector's tiers."""

    NORMAL = "NORMAL"
    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"

    @property
    def rank(self) -> int:
        """0 for NORMAL to 4 for CRITICAL."""
        return list(ThreatLevel).index(self)


COMPONENTS = (
    "fact", "entity", "sentiment", "task_framing", "authority", "register", "negation",
    "vocabulary",
)  # fmt: skip
"""The eight features of the fingerprint, in the seed's order."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a message, quoted as evidence.

    Attributes:
        message_id: The message it stands in; `baseline` for the baseline.
        text: The words, at most 300 characters.
    """

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One thing that is wrong with a turn, with the words that show it.

    Attributes:
        rule: Name of what was found, for example `constraint_waived`.
        weight: How much it says for corruption of the session, 0..1; 0 is an observation.
        turn: Number of the turn.
        channel: Who spoke.
        said: The words of the turn.
        against: The words of the baseline (or of an earlier turn) that they go against.
        detail: One sentence for a reader.
    """

    rule: str
    weight: float
    turn: int
    channel: Channel
    said: Span
    against: Span | None = None
    detail: str = ""

    @property
    def message_ids(self) -> tuple[str, ...]:
        """Ids of the messages that are the evidence."""
        return tuple(span.message_id for span in (self.said, self.against) if span is not None)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The quoted words, the turn's first."""
        return tuple(span for span in (self.said, self.against) if span is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return asdict(self) | {"channel": self.channel.value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Anomaly:
        """Return the anomaly that `to_dict` described."""
        against = data["against"]
        return cls(
            rule=str(data["rule"]),
            weight=float(data["weight"]),
            turn=int(data["turn"]),
            channel=Channel(data["channel"]),
            said=Span(**data["said"]),
            against=None if against is None else Span(**against),
            detail=str(data["detail"]),
        )


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What is known after a turn.

    Attributes:
        turn: Number of the turn, from 1; 0 before the first.
        message_id: Id of the message.
        channel: Who spoke.
        score: How far the session serves its purpose, 0..100 (100 = on purpose).
        abstained: Whether this turn said nothing that could be scored (a greeting, an empty
            message, an unmeasurable language); the score is then the one before it.
        strategy_scores: Score of this turn alone by strategy, 0..100; empty if it abstained.
        components: Distance of each feature of the fingerprint from the baseline, 0..1.
        absolute_drift: Their weighted sum, 0..1.
        velocity: Distance of the fingerprint from the one before, 0..1.
        signatures: Names of the multi-turn patterns that match now.
        anomalies: What is wrong with this turn.
        revisions: Rules that the user has revised in this turn, quoted.
        corruption: How strong the evidence is that somebody works against the baseline, 0..1.
        alarm: Whether that is over the calibrated threshold (with hysteresis).
        threat_level: How serious it is now.
        peak_level: How serious it was at its worst.
        explanation: One or two sentences.
        backend: What measured meaning: the embedding model's id, or `lexical`.
    """

    turn: int
    message_id: str
    channel: Channel
    score: float = 100.0
    abstained: bool = False
    strategy_scores: dict[str, float] = field(default_factory=dict)
    components: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COMPONENTS, 0.0))
    absolute_drift: float = 0.0
    velocity: float = 0.0
    signatures: tuple[str, ...] = ()
    anomalies: tuple[Anomaly, ...] = ()
    revisions: tuple[Anomaly, ...] = ()
    corruption: float = 0.0
    alarm: bool = False
    threat_level: ThreatLevel = ThreatLevel.NORMAL
    peak_level: ThreatLevel = ThreatLevel.NORMAL
    explanation: str = ""
    backend: str = ""

    @property
    def verdict(self) -> DriftVerdict:
        """The score in a word."""
        return verdict_of(self.score)

    @property
    def is_effective(self) -> bool:
        """Whether the session still serves its purpose (score of 55 or more)."""
        return self.score >= EFFECTIVE_FROM

    @property
    def needs_reset(self) -> bool:
        """Whether the context is largely lost (score under 35)."""
        return self.score < RESET_BELOW

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON types."""
        return {
            "turn": self.turn,
            "message_id": self.message_id,
            "channel": self.channel.value,
            "score": round(self.score, 2),
            "verdict": self.verdict.value,
            "is_effective": self.is_effective,
            "needs_reset": self.needs_reset,
            "abstained": self.abstained,
            "strategy_scores": {k: round(v, 2) for k, v in self.strategy_scores.items()},
            "absolute_drift": round(self.absolute_drift, 4),
            "velocity": round(self.velocity, 4),
            "components": {k: round(v, 3) for k, v in self.components.items()},
            "signatures": list(self.signatures),
            "anomalies": [anomaly.to_dict() for anomaly in self.anomalies],
            "revisions": [revision.to_dict() for revision in self.revisions],
            "corruption": round(self.corruption, 4),
            "alarm": self.alarm,
            "threat_level": self.threat_level.value,
            "peak_level": self.peak_level.value,
            "explanation": self.explanation,
            "backend": self.backend,
        }

    def _repr_html_(self) -> str:
        return report_card(self.to_dict())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> DriftReport:
        """Return the report that `to_dict` described; figures are as rounded there.

        Raises:
            ConfigurationError: It is no such description.
        """
        derived = {"verdict", "is_effective", "needs_reset"}
        try:
            values = {name: value for name, value in data.items() if name not in derived}
            values |= {
                "channel": Channel(data["channel"]),
                "signatures": tuple(data["signatures"]),
                "anomalies": tuple(map(Anomaly.from_dict, data["anomalies"])),
                "revisions": tuple(map(Anomaly.from_dict, data["revisions"])),
                "threat_level": ThreatLevel(data["threat_level"]),
                "peak_level": ThreatLevel(data["peak_level"]),
            }
            return cls(**values)
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"no drift report: {error!r}.") from None
