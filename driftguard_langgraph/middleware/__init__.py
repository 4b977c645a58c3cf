"""Middleware for LangChain's `create_agent`; thin shells, as the nodes are."""

from __future__ import annotations

from driftguard_langgraph.middleware.drift import DriftMonitorMiddleware
from driftguard_langgraph.middleware.guard import DriftGuardMiddleware
from driftguard_langgraph.middleware.tool_node import guard_tool_call

__all__ = ["DriftGuardMiddleware", "DriftMonitorMiddleware", "guard_tool_call"]
