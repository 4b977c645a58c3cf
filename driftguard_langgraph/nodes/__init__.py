"""Nodes, routes and a ready-made loop for LangGraph; thin shells around guard and monitor."""

from __future__ import annotations

from driftguard_langgraph.nodes.drift_monitor import create_drift_monitor_node
from driftguard_langgraph.nodes.drift_routing import create_route_on_drift, route_on_drift
from driftguard_langgraph.nodes.guard_review import create_guard_review_node
from driftguard_langgraph.nodes.record_outcome import create_record_outcome_node
from driftguard_langgraph.nodes.record_run_outcome import create_record_run_outcome_node
from driftguard_langgraph.nodes.routing import create_route_on_review, route_on_review
from driftguard_langgraph.nodes.state import DriftGuardState
from driftguard_langgraph.nodes.workflow import create_planner_revise_graph

__all__ = [
    "DriftGuardState",
    "create_drift_monitor_node",
    "create_guard_review_node",
    "create_planner_revise_graph",
    "create_record_outcome_node",
    "create_record_run_outcome_node",
    "create_route_on_drift",
    "create_route_on_review",
    "route_on_drift",
    "route_on_review",
]
