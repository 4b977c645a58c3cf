"""An agent with a tool that fails, and a guard over a memory of words, not of meanings."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool

from driftguard_langgraph import DriftGuard, DriftGuardSettings, EphemeralMemoryStore
from driftguard_langgraph.events import Hook
from tests.memory_samples import SeededEmbedder

FAILURE = "disk quota exceeded"
ASKED: Any = {"messages": [HumanMessage("Please save the report.")]}


def guard_of(*hooks: Hook, **settings: Any) -> DriftGuard:
    """Return a guard with an empty memory in which only equal texts are alike."""
    return DriftGuard(
        store=EphemeralMemoryStore(),
        embeddings=SeededEmbedder(),
        settings=DriftGuardSettings(**settings),
        hooks=hooks,
    )


def burnt(**settings: Any) -> DriftGuard:
    """Return a guard that knows that `save(path="/full")` fails."""
    guard = guard_of(**settings)
    guard.record(call("/full"), FAILURE, "the report was lost")
    return guard


def call(path: str, name: str = "c1", which: str = "save") -> dict[str, Any]:
    """Return a proposed call."""
    return {"name": which, "args": {"path": path}, "id": name, "type": "tool_call"}


def proposing(*calls: dict[str, Any]) -> AIMessage:
    """Return what a model says that proposes calls."""
    return AIMessage("", tool_calls=calls)


def saver_tool(ran: list[str]) -> BaseTool:
    """Return a tool that notes its calls and raises in `/full`."""

    @tool
    def save(path: str) -> str:
        """Save the report."""
        ran.append(path)
        if path == "/full":
            raise OSError(FAILURE)
        return f"saved to {path}"

    return save


def soft_tool(ran: list[str]) -> BaseTool:
    """Return a tool that notes its calls and always works."""

    @tool
    def save(path: str) -> str:
        """Save the report."""
        ran.append(path)
        return f"saved to {path}"

    return save


def in_thread(name: str) -> RunnableConfig:
    """Return the configuration of a thread."""
    return {"configurable": {"thread_id": name}}


def answers(messages: list[Any]) -> list[ToolMessage]:
    """Return the answers to tool calls."""
    return [message for message in messages if isinstance(message, ToolMessage)]


def counts(guard: DriftGuard) -> tuple[int, int]:
    """Return how many failures and successes are remembered."""
    stats = guard.stats()
    return stats["mistakes"]["episodes"], stats["successes"]["episodes"]
