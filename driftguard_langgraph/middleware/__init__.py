"""Middleware for LangChain's `create_agent`; thin shells, as the nodes are."""

from __future__ import annotations

from driftguard_langgraph.middleware.drift import DriftMonitorMiddleware

__all__ = ["DriftMonitorMiddleware"]
