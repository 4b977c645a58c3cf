"""A callback handler for any LangChain runnable and any graph; a thin shell, as the nodes are."""

from __future__ import annotations

from driftguard_langgraph.callbacks.handler import DriftGuardCallbackHandler

__all__ = ["DriftGuardCallbackHandler"]
