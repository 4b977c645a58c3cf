"""Clients that watch themselves: `wrap(client)` for OpenAI, Anthropic and LangChain chat models."""

from __future__ import annotations

from driftguard_langgraph.clients.outcome import Outcome, drift_of
from driftguard_langgraph.clients.wrapping import wrap

__all__ = ["Outcome", "drift_of", "wrap"]
