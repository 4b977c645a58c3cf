"""However often a step is replayed, and whoever watches it, it is remembered once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, interrupt

from driftguard_langgraph import (
    DriftGuardCallbackHandler,
    DriftGuardMiddleware,
    DriftGuardState,
    create_record_outcome_node,
    guard_tool_call,
)
from tests.drift_samples import ScriptedModel
from tests.guard_samples import (
    ASKED,
    FAILURE,
    call,
    counts,
    guard_of,
    in_thread,
    proposing,
    saver_tool,
)

THREAD = in_thread("t1")


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite3")) as opened:
        yield opened


def answering() -> ToolErrorMiddleware[Any, Any]:
    return ToolErrorMiddleware(on_error=lambda error, request: f"failed: {error}")


def test_a_tool_that_waits_for_a_person_is_recorded_once(saver: SqliteSaver) -> None:
    @tool
    def save(path: str) -> str:
        """Save the report."""
        return f"saved to {path} by {interrupt('who?')}"

    guard = guard_of()
    ran: list[str] = []
    other = saver_tool(ran)
    other.name = "copy"
    made = create_agent(
        ScriptedModel(script=[proposing(call("/srv", "c1"), call("/full", "c2", "copy")), "done"]),
        [save, other],
        middleware=[DriftGuardMiddleware(guard), answering()],
        checkpointer=saver,
    )
    made.invoke(ASKED, THREAD)
    final = made.invoke(Command(resume="Ada"), THREAD)
    assert final["messages"][-1].content == "done"
    assert counts(guard) == (1, 1)


def test_going_back_in_time_records_a_call_once(saver: SqliteSaver) -> None:
    guard, ran = guard_of(), list[str]()
    made = create_agent(
        ScriptedModel(script=[proposing(call("/full", "c1"), call("/srv", "c2")), "done"]),
        [saver_tool(ran)],
        middleware=[DriftGuardMiddleware(guard, policy="record_only"), answering()],
        checkpointer=saver,
    )
    made.invoke(ASKED, THREAD)
    before = next(each for each in made.get_state_history(THREAD) if "tools" in each.next)
    made.invoke(None, before.config)
    assert len(ran) == 4
    assert counts(guard) == (1, 1)


def test_a_branch_that_goes_back_forgets_what_it_repeated_since(saver: SqliteSaver) -> None:
    ran: list[str] = []
    made = create_agent(
        ScriptedModel(script=[*(proposing(call("/srv", f"c{at}")) for at in range(9)), "done"]),
        [saver_tool(ran)],
        middleware=[DriftGuardMiddleware(guard_of(), exit_behavior="end")],
        checkpointer=saver,
    )
    made.invoke(ASKED, THREAD)
    assert len(ran) == 3
    history = [each for each in made.get_state_history(THREAD) if "tools" in each.next]
    made.invoke(None, history[-1].config)
    assert len(ran) == 6


def test_the_retries_of_a_node_are_one_failure(saver: SqliteSaver) -> None:
    guard, ran = guard_of(), list[str]()
    guarded = guard_tool_call(guard)
    node = ToolNode(
        [saver_tool(ran)],
        handle_tool_errors=False,
        wrap_tool_call=guarded.wrap_tool_call,
        awrap_tool_call=guarded.awrap_tool_call,
    )
    again = RetryPolicy(max_attempts=3, initial_interval=0.01, jitter=False, retry_on=OSError)
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("tools", node, retry_policy=again).add_edge(START, "tools")
    graph = builder.compile(checkpointer=saver)
    with pytest.raises(OSError, match=FAILURE):
        graph.invoke({"messages": [proposing(call("/full"))]}, THREAD)
    assert len(ran) == 3
    assert counts(guard) == (1, 0)


def test_middleware_handler_and_node_record_one_call_once(saver: SqliteSaver) -> None:
    class Whole(DriftGuardState):
        messages: Annotated[list[AnyMessage], add_messages]

    def told(state: Whole) -> dict[str, Any]:
        proposed = next(each for each in state["messages"] if isinstance(each, AIMessage))
        return {"candidate_action": proposed.tool_calls[0], "success": False, "feedback": FAILURE}

    guard, ran = guard_of(), list[str]()
    agent = create_agent(
        ScriptedModel(script=[proposing(call("/full", "c1"), call("/srv", "c2")), "done"]),
        [saver_tool(ran)],
        middleware=[DriftGuardMiddleware(guard), answering()],
    )
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(Whole)
    builder.add_node("agent", agent).add_edge(START, "agent")
    builder.add_node("told", told).add_edge("agent", "told")
    builder.add_node(create_record_outcome_node(guard)).add_edge("told", "record_outcome")
    graph = builder.compile(checkpointer=saver)
    watched: Any = {**THREAD, "callbacks": [DriftGuardCallbackHandler(guard)]}
    final = graph.invoke(ASKED, watched)
    assert final["guard_receipt"]["status"] == "duplicate"
    assert counts(guard) == (1, 1)
