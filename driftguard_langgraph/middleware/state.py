"""The state of agents that are watched."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr


class DriftAgentState(AgentState[Any]):
    """State of an agent that is watched; plain JSON, none of it is taken from a run's input.

    Attributes:
        drift_state: What the monitor keeps of the session; for it alone.
        drift_report: Its newest report, `DriftReport.to_dict()`.
        drift_score: How far the session serves its purpose, 0..100.
        drift_alarm: Whether somebody seems to work against what the session was told.
        drift_level: How serious that is: `NORMAL`, `LOW`, `MEDIUM`, `HIGH` or `CRITICAL`.
        recovery_state: What is known of the session's recovery; for it alone.
        recovery_scaffold: The scaffold that goes before the model, None for none.
        recovery_verdict: What became of the last one, `RecoveryVerdict.to_dict()`.
        recovery_route: What should happen next: `continue`, `reinject`, `interrupt` or `stop`.
    """

    drift_state: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    drift_report: NotRequired[Annotated[dict[str, Any], OmitFromInput]]
    drift_score: NotRequired[Annotated[float, OmitFromInput]]
    drift_alarm: NotRequired[Annotated[bool, OmitFromInput]]
    drift_level: NotRequired[Annotated[str, OmitFromInput]]
    recovery_state: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]
    recovery_scaffold: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    recovery_verdict: NotRequired[Annotated[dict[str, Any] | None, OmitFromInput]]
    recovery_route: NotRequired[Annotated[str, OmitFromInput]]
