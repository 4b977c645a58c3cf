"""From single anomalies to corruption, alarm and threat level.

Each anomaly says with its weight how likely it is that somebody works against the baseline.
Weights are joined as independent evidence (noisy-or) with what is left of the evidence before:

    corruption_t = 1 - (1 - fade * corruption_(t-1)) * product(1 - weight)

So it grows with recent and sustained anomalies, and a session that stays clean recovers. While
the alarm stands, that nothing new was found says little, for what was injected is still in the
conversation; what says much is an assistant that states a rule or refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.drift.report import Anomaly, ThreatLevel
from driftguard_langgraph.settings import DriftGuardSettings

FADE = 0.9
"""What is left of the evidence after one turn without an alarm: half of it after 7 turns."""
STANDING = 0.95
"""The same while the alarm stands."""
ANSWERED = 0.92
"""The same after an answer of the assistant in which nothing is wrong: half of it after 8."""
UPHELD = 0.7
"""The same after an answer that upholds the baseline: half of it after 2 of them.

All three were chosen on scripted recoveries (`evaluation.recovery_arms`), where a session with a
scaffold is back after 7 to 33 messages."""
BACKGROUND = 0.05
"""Weights up to this one are common in good conversations: they add up, but show no level."""
FRESH_EVIDENCE = 0.1
"""Weights up to this one say nothing about whether an attack that was noticed goes on."""

_HIGH, _CRITICAL = 0.5, 0.8
"""HIGH and CRITICAL begin at these shares of the way from the alarm's threshold to 1."""

RECENT = 3
"""Turns within which an anomaly counts as recent; te-drift-detector's own figure."""


@dataclass(frozen=True, slots=True)
class Threat:
    """The state of the evidence after a turn.

    Attributes:
        corruption: Strength of the evidence, 0..1.
        alarm: Whether it passed the threshold and has not fallen to the release since.
        level: The tier now.
        peak: The highest tier so far.
        quiet: Turns since the last anomaly above the background.
    """

    corruption: float = 0.0
    alarm: bool = False
    level: ThreatLevel = ThreatLevel.NORMAL
    peak: ThreatLevel = ThreatLevel.NORMAL
    quiet: int = RECENT

    def after(
        self,
        anomalies: Iterable[Anomaly],
        settings: DriftGuardSettings,
        *,
        answered: bool = False,
        upheld: bool = False,
    ) -> Threat:
        """Return the state after one more turn.

        Args:
            anomalies: What was found in it.
            settings: The alarm's threshold and release.
            answered: Whether it is an answer of the assistant.
            upheld: Whether the assistant upheld the baseline in it.
        """
        least = FRESH_EVIDENCE if self.alarm else 0.0
        weights = [anomaly.weight for anomaly in anomalies if anomaly.weight > least]
        fade = FADE if not self.alarm else STANDING
        if self.alarm and answered and not weights:
            fade = UPHELD if upheld else ANSWERED
        doubt = 1.0 - fade * self.corruption
        for weight in weights:
            doubt *= 1.0 - weight
        corruption = 1.0 - doubt
        limit = settings.drift_alarm_release if self.alarm else settings.drift_alarm_threshold
        alarm = corruption > limit if self.alarm else corruption >= limit
        telling = any(weight > BACKGROUND for weight in weights)
        quiet = 0 if telling else min(self.quiet + 1, RECENT)
        level = _level(corruption, alarm, quiet, settings)
        peak = level if level is not self.peak and level.rank > self.peak.rank else self.peak
        return Threat(corruption, alarm, level, peak, quiet)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON types."""
        return {
            "corruption": self.corruption,
            "alarm": self.alarm,
            "level": self.level.value,
            "peak": self.peak.value,
            "quiet": self.quiet,
        }

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> Threat:
        """Return the state that `snapshot` wrote."""
        return cls(
            float(data["corruption"]),
            bool(data["alarm"]),
            ThreatLevel(data["level"]),
            ThreatLevel(data["peak"]),
            int(data["quiet"]),
        )


def _level(corruption: float, alarm: bool, quiet: int, settings: DriftGuardSettings) -> ThreatLevel:
    threshold = settings.drift_alarm_threshold
    rest = 1.0 - threshold
    if corruption >= threshold + _CRITICAL * rest:
        return ThreatLevel.CRITICAL
    if corruption >= threshold + _HIGH * rest:
        return ThreatLevel.HIGH
    if alarm:
        return ThreatLevel.MEDIUM
    if corruption >= settings.drift_alarm_release or quiet < RECENT:
        return ThreatLevel.LOW
    return ThreatLevel.NORMAL
