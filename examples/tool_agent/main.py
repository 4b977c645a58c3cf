"""An agent whose tool calls are guarded: what failed in one run is not repeated in the next.

    python main.py [MEMORY_FILE]

Run 1 restarts a service that still has open connections, and fails. Run 2, in a thread of its own,
proposes the same call: it is answered with what happened and not run (`speed_bump`), and the agent
does it the other way. Run 3 asks the memory itself, through a tool.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver

from driftguard_langgraph import (
    DriftGuard,
    DriftGuardMiddleware,
    SqliteMemoryStore,
    create_search_failures_tool,
)

PROMPT = "You operate the services of a shop. Do what is asked, and quickly."
TASK = "Restart the checkout service."
QUESTION = "How should the checkout service be restarted? Ask your memory."


@tool
def restart_service(service: str, *, drain: bool = False) -> str:
    """Restart a service; with `drain`, first wait some minutes until its connections have ended."""
    if not drain:
        raise ToolException(f"not restarted: {service} has 212 open connections")
    return f"{service} has restarted"


restart_service.handle_tool_error = True


def scripted(last: BaseMessage) -> AIMessage:
    """Stand in for a model: try the quick way first, and read what the tools answer."""
    name, args = "restart_service", dict[str, Any](service="checkout")
    if isinstance(last, ToolMessage):
        if not last.text.startswith("Not run"):
            return AIMessage(last.text)
        args["drain"] = True
    elif last.text == QUESTION:
        name, args = "search_past_failures", {"step": "restart the checkout service"}
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call-{last.id}"}])


class ScriptedModel(BaseChatModel):
    """A chat model around `scripted`."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Accept the tools; the script knows them."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=scripted(messages[-1]))])


def model() -> BaseChatModel:
    """Your model goes here, or its name into EXAMPLE_MODEL: `openai:gpt-4o-mini`."""
    name = os.environ.get("EXAMPLE_MODEL")
    return init_chat_model(name) if name else ScriptedModel()


def run(agent: Any, number: int, said: str) -> list[str]:
    """Run a thread of its own, print it, and return what the tools answered."""
    config = {"configurable": {"thread_id": f"run-{number}"}}
    print(f"\nRun {number}")
    messages = agent.invoke({"messages": [("user", said)]}, config)["messages"]
    for message in messages:
        for line in message.text.splitlines():
            print(f"  {message.type:<5} {line}")
        for call in getattr(message, "tool_calls", ()):
            print(f"  {message.type:<5} calls {call['name']} {call['args']}")
    return [message.text for message in messages if isinstance(message, ToolMessage)]


def main(memory: str) -> int:
    """Return 0 if only run 1 failed, or no run because the memory knew, and run 3 was told."""
    with SqliteMemoryStore.from_conn_string(memory) as store:
        guard = DriftGuard(store=store)
        knew = guard.stats()["episodes"] > 0
        agent = create_agent(
            model(),
            [restart_service, create_search_failures_tool(guard)],
            system_prompt=PROMPT,
            middleware=[DriftGuardMiddleware(guard, policy="speed_bump")],
            checkpointer=InMemorySaver(),
        )
        heard = [run(agent, *each) for each in enumerate((TASK, TASK, QUESTION), start=1)]
    failed = [any(text.startswith("not restarted") for text in texts) for texts in heard]
    told = any("drain" in text for text in heard[2])
    kept = failed == [not knew, False, False] and "checkout has restarted" in heard[1] and told
    print(f"\n{'Not repeated' if kept else 'Not as promised'}. Memory: {memory}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main([*sys.argv[1:], tempfile.mkdtemp() + "/memory.sqlite3"][0]))
