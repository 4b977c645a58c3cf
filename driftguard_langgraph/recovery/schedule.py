"""When a scaffold is injected: trigger, hysteresis, cooldown and maximum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from driftguard_langgraph.drift.report import DriftReport, ThreatLevel
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.text.validation import checked_flag

Variant = Literal["minimal", "standard", "full", "null", "placebo"]
"""What a scaffold holds; `null` and `placebo` are controls that must not help."""

VARIANTS: tuple[Variant, ...] = get_args(Variant)
_STRONGER: dict[Variant, Variant] = {"minimal": "standard", "standard": "full"}

_RELEASE_MARGIN = 10.0
"""Points above `min_score` at which a topic trigger is released: half of a verdict's band."""


def stronger(variant: Variant) -> Variant:
    """Return the variant that says more; the strongest, and the controls, stay as they are."""
    return _STRONGER.get(variant, variant)


def weaker(variant: Variant) -> Variant:
    """Return the variant that says less; the weakest, and the controls, stay as they are."""
    return next((less for less, more in _STRONGER.items() if more == variant), variant)


def checked_variant(value: object) -> Variant:
    """Return a known variant.

    Raises:
        ConfigurationError: There is no such variant.
    """
    for variant in VARIANTS:
        if value == variant:
            return variant
    raise ConfigurationError(f"unknown variant {value!r}; choose one of {', '.join(VARIANTS)}.")


@dataclass(frozen=True, slots=True)
class InjectionSchedule:
    """When to inject.

    Attributes:
        on_alarm: Inject while the monitor's alarm stands.
        at_level: Inject from this threat level on; None does not look at it.
        min_score: Inject below this topic score, 0..100; None does not look at it.
        at_turn: Inject once, at the first report from this turn on, whatever it says.
        cooldown: Turns between two injections.
        maximum: Injections per session.
    """

    on_alarm: bool = True
    at_level: ThreatLevel | None = None
    min_score: float | None = None
    at_turn: int | None = None
    cooldown: int = 6
    maximum: int = 3

    def __post_init__(self) -> None:
        checked_flag(self.on_alarm, "on_alarm")
        if self.at_level is not None and not isinstance(self.at_level, ThreatLevel):
            raise ConfigurationError(
                f"at_level={self.at_level!r} must be a ThreatLevel, for example ThreatLevel.HIGH."
            )
        if self.min_score is not None and not _is_number(self.min_score, 100):
            raise ConfigurationError(f"min_score={self.min_score!r} must be from 0 to 100.")
        if self.at_turn is not None and not (_is_whole(self.at_turn) and self.at_turn > 0):
            raise ConfigurationError(f"at_turn={self.at_turn!r} must be a whole number from 1.")
        for name in ("cooldown", "maximum"):
            value = getattr(self, name)
            if not _is_whole(value) or value < 0:
                raise ConfigurationError(f"{name}={value!r} must be a whole number, 0 or more.")

    def trigger(self, report: DriftReport, since: int | None = None) -> str | None:
        """Return what in a report asks for a scaffold, None if nothing does.

        Args:
            report: The report.
            since: Turn of the report before it, as one visit may measure several; None: the
                turn just before.
        """
        since = report.turn - 1 if since is None else since
        if self.on_alarm and report.alarm:
            return "alarm"
        if self.at_level is not None and report.threat_level.rank >= self.at_level.rank:
            return "level"
        if self.min_score is not None and not report.abstained and report.score < self.min_score:
            return "score"
        if self.at_turn is not None and since < self.at_turn <= report.turn:
            return "turn"
        return None

    def released(self, report: DriftReport) -> bool:
        """Whether a session that asked for a scaffold is back.

        Stricter than "nothing triggers": the level is LOW or better, and the topic score has
        left the threshold by 10 points.
        """
        if report.alarm or report.threat_level.rank > ThreatLevel.LOW.rank:
            return False
        if self.at_level is not None and report.threat_level.rank >= self.at_level.rank:
            return False
        return self.min_score is None or report.score >= min(
            self.min_score + _RELEASE_MARGIN, 100.0
        )

    def allows(self, turn: int, injected_at: Sequence[int]) -> bool:
        """Whether cooldown and maximum leave room for an injection at a turn.

        Args:
            turn: The turn.
            injected_at: Turns of the injections so far, in order.
        """
        if len(injected_at) >= self.maximum:
            return False
        return not injected_at or turn - injected_at[-1] >= self.cooldown


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
