"""Text to vectors: the default offline model and its alternatives behind one protocol."""

from __future__ import annotations

from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.embeddings.resolve import resolve_embedder

__all__ = ["Embedder", "resolve_embedder"]
