"""A planner and an executor that share a memory of what failed; no model, no keys.

    pip install driftguard-langgraph "langgraph-cli[inmem]"
    langgraph dev

The graph is compiled bare: the server brings the checkpointer and the store, and the guard keeps
its memory in that store, because no other guard is given. Nothing is opened at import. Run it
twice, in two threads: the first run fails, the second one is warned and does something else.
"""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import add_messages

from driftguard_langgraph import DriftGuardState, create_planner_revise_graph

RULES = "You look after a build server. Never delete a backup. Always say what you did."


class State(DriftGuardState, total=False):
    """What the guard's nodes read and write, and the conversation, which is watched for drift."""

    messages: Annotated[list[AnyMessage], add_messages]


def planner(state: State) -> dict[str, Any]:
    """Propose a step; a model would be shown the warning in the same way."""
    warned = state.get("guard_top_warning") is not None
    step = "move the build cache to the archive" if warned else "delete the build cache"
    return {"candidate_action": step}


def executor(state: State) -> dict[str, Any]:
    """Run the step; deleting is not permitted on this server."""
    step = str(state["candidate_action"])
    if step.startswith("delete"):
        return {
            "success": False,
            "feedback": "permission denied: the cache belongs to root",
            "outcome": "the disk is still full",
            "messages": [AIMessage("I could not delete the build cache.")],
        }
    return {
        "success": True,
        "feedback": "moved 12 GB",
        "outcome": "the disk has space again",
        "messages": [AIMessage("I moved the build cache to the archive.")],
    }


graph = create_planner_revise_graph(
    planner, executor, max_attempts=1, monitor=RULES, state_schema=State
).compile()
