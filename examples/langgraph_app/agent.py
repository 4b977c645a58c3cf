"""A tool-calling agent with the guard and the drift monitor as middleware; no keys needed.

The chat model is scripted and stands where yours would: it always tries the same call first and
reads what the tools answer. Under `block` a call that failed before is answered with the
evidence and not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import ToolException, tool

from driftguard_langgraph.middleware import DriftGuardMiddleware, DriftMonitorMiddleware

PROMPT = "You look after a build server. Never delete a backup. Always say what you did."


class ScriptedModel(BaseChatModel):
    """Calls the tool when a user asks, and repeats what the tool answered."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        """Accept the tools; the script knows them."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            said = AIMessage(f"The tool says: {last.text}")
        else:
            call = {"name": "clear_cache", "args": {"path": "/srv/cache"}, "id": f"call-{last.id}"}
            said = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def clear_cache(path: str) -> str:
    """Delete a cache folder of the build server."""
    raise ToolException(f"permission denied: {path} belongs to root")


clear_cache.handle_tool_error = True


MIDDLEWARE = [DriftGuardMiddleware(policy="block"), DriftMonitorMiddleware()]

graph = create_agent(
    ScriptedModel(),
    [clear_cache],
    system_prompt=PROMPT,
    middleware=MIDDLEWARE,
)
