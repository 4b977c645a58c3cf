"""The part of the ready-made loop that watches for drift and recovers from it.

`drift_monitor -> recovery_scaffold`, and from there to the planner, to a human (`ask_human`) or
to the end, before each proposal: the planner sees what was measured, and under
`recovery_scaffold` what to show to its model:

    messages = with_scaffold(state["messages"], state["recovery_scaffold"])

A graph is watched if its state has room for it: a schema that inherits from `DriftGuardState`
and declares the messages. What a planner or an executor adds to them is measured when the
planner is next asked, in this run or a later one of the thread.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from langgraph.graph import END, StateGraph
from langgraph.types import interrupt

from driftguard_langgraph.drift.baseline import Baseline
from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes.base import NodeRun, Steps, StepsNode
from driftguard_langgraph.nodes.drift_monitor import create_drift_monitor_node
from driftguard_langgraph.nodes.options import check_names
from driftguard_langgraph.nodes.recovery_routing import route_on_recovery
from driftguard_langgraph.nodes.recovery_scaffold import create_recovery_scaffold_node
from driftguard_langgraph.nodes.state import DriftGuardState
from driftguard_langgraph.recovery.conduct import RecoveryConduct
from driftguard_langgraph.recovery.session import RecoveryPlan
from driftguard_langgraph.settings import DriftGuardSettings

Builder = StateGraph[Any, Any, Any, Any]

WATCHED_KEYS = frozenset(
    key for key in DriftGuardState.__annotations__ if key.startswith(("drift_", "recovery_"))
)
"""What monitor and recovery write."""


def add_watch(
    builder: Builder,
    monitor: object,
    recovery: RecoveryPlan | RecoveryConduct | None,
    messages_key: str | None,
    settings: DriftGuardSettings | None,
) -> str:
    """Put monitor and recovery before the node `planner`, if the graph is watched.

    Args:
        builder: The graph.
        monitor: What the messages are measured against: the system prompt, the messages that a
            session starts with, or a `DriftMonitor` whose configuration is used. None: each
            thread brings it, as in `create_drift_monitor_node`.
        recovery: When and how to recover: a plan, or a conduct with an anchor, role and token
            budget of its own. None: `RecoveryPlan()`. When its scaffolds fail, the graph pauses
            with `interrupt()` (`Command(resume=True)` or "continue" goes on, anything else ends
            the run), ends, or goes on, as the plan says.
        messages_key: Where the messages are; None: nobody watches. Nobody does either in a
            schema without room for it, unless `monitor` or `recovery` is given.
        settings: Of the monitor, where `monitor` brings none.

    Returns:
        Name of the node that leads to a proposal: the monitor's, or `planner`.

    Raises:
        ConfigurationError: An argument is not usable, or the graph was to be watched and its
            state lacks keys.
    """
    check_names({"messages_key": messages_key}, optional=("messages_key",))
    wanted = monitor is not None or recovery is not None
    if messages_key is None or not _has_room(builder, messages_key, wanted=wanted):
        if wanted:
            raise ConfigurationError(
                "messages_key=None lets nobody watch the graph: name the key of its messages, or "
                "leave out monitor and recovery."
            )
        return "planner"
    own = None if isinstance(monitor, DriftMonitor) else settings
    watching = create_drift_monitor_node(monitor, settings=own, messages_key=messages_key)
    conduct = _conduct(recovery, monitor)
    recovering = create_recovery_scaffold_node(conduct, messages_key=messages_key)
    for node in (watching, recovering, _AskHumanNode("ask_human")):
        builder.add_node(str(node.name), node)
    builder.add_edge("drift_monitor", "recovery_scaffold")
    ways: dict[Hashable, str] = {"continue": "planner", "reinject": "planner", "stop": END}
    builder.add_conditional_edges(
        "recovery_scaffold", route_on_recovery, {**ways, "interrupt": "ask_human"}
    )
    builder.add_conditional_edges("ask_human", route_on_recovery, ways)
    return "drift_monitor"


def _has_room(builder: Builder, messages_key: str, *, wanted: bool) -> bool:
    missing = sorted({messages_key, *WATCHED_KEYS} - set(builder.channels))
    if missing and wanted:
        raise ConfigurationError(
            f"{builder.state_schema.__name__} lacks the keys {', '.join(missing)}, and nothing "
            "can be watched without them: let it inherit from DriftGuardState, and declare its "
            f"messages with `{messages_key}: Annotated[list[AnyMessage], add_messages]`."
        )
    return not missing


def _conduct(recovery: RecoveryPlan | RecoveryConduct | None, monitor: object) -> RecoveryConduct:
    if isinstance(recovery, RecoveryConduct):
        return recovery
    if recovery is not None and not isinstance(recovery, RecoveryPlan):
        raise ConfigurationError(
            "recovery must be a RecoveryPlan, a RecoveryConduct or None, "
            f"not {type(recovery).__name__}."
        )
    told = monitor.baseline if isinstance(monitor, DriftMonitor) else Baseline.of(monitor)
    return RecoveryConduct(told.snapshot() if told is not None else None, plan=recovery)


class _AskHumanNode(StepsNode):
    """Pauses the graph when scaffolds failed; true or "continue" goes on, anything else ends."""

    def _steps(self, run: NodeRun) -> Steps:
        yield from ()
        verdict = run.state.get("recovery_verdict")
        answer = interrupt({"reason": "recovery_failed", "verdict": verdict})
        goes_on = answer is True or answer == "continue"
        return {"recovery_route": "continue" if goes_on else "stop"}
