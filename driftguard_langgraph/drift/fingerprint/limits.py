"""What the distances of a fingerprint amount to: their mean, and which are anomalous.

Weights and thresholds are te-drift-detector's; settings change single ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from driftguard_langgraph.drift.report import COMPONENTS
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings

WEIGHTS: Mapping[str, float] = dict(
    zip(COMPONENTS, (0.25, 0.15, 0.15, 0.15, 0.10, 0.10, 0.05, 0.05), strict=True)
)
"""Weight of each component in a distance."""
THRESHOLDS: Mapping[str, float] = dict(
    zip(COMPONENTS, (0.50, 0.40, 0.60, 0.50, 0.40, 0.45, 0.70, 0.45), strict=True)
)
"""Distance over which a component is anomalous."""
SEVERAL = 3
"""Anomalous components that are an anomaly together."""


class Limits:
    """The weights and thresholds of one session.

    Args:
        settings: `drift_component_weights`, `drift_component_thresholds`,
            `drift_absolute_threshold` and `drift_velocity_threshold`.

    Raises:
        ConfigurationError: A setting names an unknown component, or all weights are 0.
    """

    def __init__(self, settings: DriftGuardSettings) -> None:
        self._absolute = settings.drift_absolute_threshold
        self._velocity = settings.drift_velocity_threshold
        self._weights = _by_component(WEIGHTS, settings.drift_component_weights, "weights")
        self._thresholds = _by_component(
            THRESHOLDS, settings.drift_component_thresholds, "thresholds"
        )
        self._total = sum(self._weights.values())
        if not self._total:
            raise ConfigurationError("drift_component_weights are all 0: give one a weight.")

    def mean(self, distances: Mapping[str, float]) -> float:
        """Return the weighted mean of distances, 0..1 as they are."""
        weighed = [weight * distances[name] for name, weight in self._weights.items()]
        return sum(weighed) / self._total

    def passed(
        self, components: Mapping[str, float], absolute: float, velocity: float
    ) -> dict[str, str]:
        """Return every rule that is broken, with a sentence that says by what.

        Args:
            components: Distances from the reference.
            absolute: Their mean.
            velocity: Mean distance of the turn from what went before.
        """
        found = {}
        if absolute > self._absolute:
            shown = described(components)
            found["absolute_drift"] = f"the session is {absolute:.2f} from its baseline: {shown}"
        if velocity > self._velocity:
            found["rapid_drift"] = f"this turn is {velocity:.2f} from what went before it"
        over = {k: components[k] for k, limit in self._thresholds.items() if components[k] > limit}
        if len(over) >= SEVERAL:
            found["component_drift"] = f"{len(over)} features are far off: {described(over)}"
        return found


def described(components: Mapping[str, float]) -> str:
    """Return the greatest distances in words, the greatest first."""
    ranked = sorted(components.items(), key=lambda item: -item[1])[:SEVERAL]
    return ", ".join(f"{name} {value:.2f}" for name, value in ranked if value > 0)


def _by_component(
    defaults: Mapping[str, float], changed: Mapping[str, float], what: str
) -> dict[str, float]:
    unknown = sorted(set(changed) - set(COMPONENTS))
    if unknown:
        raise ConfigurationError(
            f"drift_component_{what} names {', '.join(unknown)}; "
            f"the components are {', '.join(COMPONENTS)}."
        )
    return {**defaults, **changed}
