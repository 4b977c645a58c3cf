"""Where to go after the drift monitor: on, or back to what the session was told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from driftguard_langgraph.drift.report import EFFECTIVE_FROM, ThreatLevel
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes.options import check_names

DriftRoute = Literal["continue", "recover"]


def create_route_on_drift(
    *,
    report_key: str = "drift_report",
    min_score: float | None = EFFECTIVE_FROM,
    at_level: ThreatLevel | str | None = None,
) -> Callable[[Any], DriftRoute]:
    """Return a function for `add_conditional_edges` after a drift monitor node.

    It answers `"recover"` when somebody seems to work against what the session was told, or
    when the session no longer serves its purpose, and `"continue"` otherwise. It counts
    nothing: a loop through the recovery needs an end of its own.

    Args:
        report_key: Where the monitor writes its report.
        min_score: Scores below this one, 0..100, are recovered from; None: the score does not
            matter.
        at_level: Threat level from which on there is something to recover from. None: while
            the alarm is on.

    Raises:
        ConfigurationError: An argument is not usable. At run time: the state holds no report.
    """
    check_names({"report_key": report_key})
    least = None if min_score is None else _checked_score(min_score)
    level = None if at_level is None else _checked_level(at_level)

    def route_on_drift(state: Any) -> DriftRoute:
        report = _report(state, report_key)
        if least is not None and report["score"] < least:
            return "recover"
        if level is None:
            return "recover" if report["alarm"] else "continue"
        rank = ThreatLevel(report["threat_level"]).rank
        return "recover" if rank >= level.rank else "continue"

    return route_on_drift


def route_on_drift(state: Any) -> DriftRoute:
    """Route after a drift monitor with the default names; see `create_route_on_drift`.

    Args:
        state: The graph's state.
    """
    return _DEFAULT_ROUTE(state)


def _report(state: Any, key: str) -> Mapping[str, Any]:
    found = state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
    if not isinstance(found, Mapping) or not {"score", "alarm", "threat_level"} <= set(found):
        raise ConfigurationError(
            f"the state has no drift report under '{key}': put this edge after a drift monitor "
            "node, give both the same report_key, and let the state declare that key."
        )
    return found


def _checked_score(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise ConfigurationError(f"min_score={value!r} must be a number from 0 to 100, or None.")
    return float(value)


def _checked_level(value: ThreatLevel | str) -> ThreatLevel:
    try:
        return ThreatLevel(value)
    except ValueError:
        known = ", ".join(level.value for level in ThreatLevel)
        raise ConfigurationError(f"at_level={value!r} must be one of {known}, or None.") from None


_DEFAULT_ROUTE = create_route_on_drift()
