from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import ParentCommand
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from driftguard_langgraph import ConfigurationError, guard_tool_call
from driftguard_langgraph.errors import RepeatLimitReached
from driftguard_langgraph.memory.retention import all_episodes
from driftguard_langgraph.middleware.tool_answers import mark_of
from tests.guard_samples import (
    FAILURE,
    answers,
    burnt,
    call,
    counts,
    guard_of,
    in_thread,
    proposing,
    saver_tool,
    soft_tool,
)

Invoke = Callable[..., dict[str, Any]]
THREAD = in_thread("t1")


@pytest.fixture(params=["sync", "async"])
def invoke(request: pytest.FixtureRequest) -> Invoke:
    def run(graph: Any, *given: Any) -> dict[str, Any]:
        if request.param == "async":
            return dict(asyncio.run(graph.ainvoke(*given)))
        return dict(graph.invoke(*given))

    return run


def graph_of(guarded: Any, tools: list[Any], **options: Any) -> Any:
    node = ToolNode(
        tools,
        wrap_tool_call=guarded.wrap_tool_call,
        awrap_tool_call=guarded.awrap_tool_call,
        **options,
    )
    builder = StateGraph(MessagesState)
    builder.add_node("tools", node)
    builder.add_edge(START, "tools").add_edge("tools", END)
    return builder.compile(checkpointer=InMemorySaver())


def said(*messages: AnyMessage) -> dict[str, Any]:
    return {"messages": list(messages)}


def test_parallel_calls_of_one_node_are_each_reviewed_and_recorded_once(invoke: Invoke) -> None:
    guard, ran = burnt(), list[str]()
    graph = graph_of(guard_tool_call(guard, policy="block"), [soft_tool(ran)])
    calls = [call("/full", "c0"), *(call(f"/{n}", f"c{n}") for n in range(1, 6))]
    final = invoke(graph, said(proposing(*calls)), THREAD)
    told = {message.tool_call_id: message.status for message in answers(final["messages"])}
    assert told == {"c0": "error", **{f"c{n}": "success" for n in range(1, 6)}}
    assert sorted(ran) == [f"/{n}" for n in range(1, 6)]
    assert counts(guard) == (1, 5)


def test_the_object_itself_is_the_sync_wrapper() -> None:
    guard, ran = burnt(), list[str]()
    node = ToolNode([soft_tool(ran)], wrap_tool_call=guard_tool_call(guard, policy="block"))
    builder = StateGraph(MessagesState).add_node("tools", node)
    graph = builder.add_edge(START, "tools").compile()
    final = graph.invoke(MessagesState(messages=[proposing(call("/full"))]))
    assert (answers(final["messages"])[0].status, ran) == ("error", [])


def test_under_warn_the_evidence_stands_behind_the_result(invoke: Invoke) -> None:
    graph = graph_of(guard_tool_call(burnt(), policy="warn"), [soft_tool([])])
    final = invoke(graph, said(proposing(call("/full"))), THREAD)
    told = str(answers(final["messages"])[0].content)
    assert told.startswith("saved to /full\n\n[Note of the failure memory")
    assert f'> "{FAILURE}"' in told


def test_list_content_keeps_its_blocks_and_gets_one_more(invoke: Invoke) -> None:
    @tool
    def save(path: str) -> list[dict[str, Any]]:
        """Save it."""
        return [{"type": "text", "text": f"saved to {path}"}]

    graph = graph_of(guard_tool_call(burnt(), policy="warn"), [save])
    final = invoke(graph, said(proposing(call("/full"))), THREAD)
    blocks = answers(final["messages"])[0].content
    assert isinstance(blocks, list)
    assert [block["type"] for block in blocks if isinstance(block, dict)] == ["text", "text"]


def test_a_speed_bump_is_remembered_by_the_messages_of_the_thread(invoke: Invoke) -> None:
    ran = list[str]()
    graph = graph_of(guard_tool_call(burnt(), policy="speed_bump"), [soft_tool(ran)])
    first = invoke(graph, said(proposing(call("/full", "c1"), call("/full", "c2"))), THREAD)
    assert [message.status for message in answers(first["messages"])] == ["error", "error"]
    invoke(graph, said(proposing(call("/full", "c4"))), in_thread("t2"))
    assert ran == []
    invoke(graph, said(proposing(call("/full", "c3"))), THREAD)
    assert ran == ["/full"]


def test_errors_that_the_node_makes_messages_of_are_failures_and_exceptions_go_through(
    invoke: Invoke,
) -> None:
    guard = guard_of()
    handled = graph_of(guard_tool_call(guard), [saver_tool([])], handle_tool_errors=True)
    final = invoke(handled, said(proposing(call("/full"))), THREAD)
    assert answers(final["messages"])[0].status == "error"
    assert counts(guard) == (1, 0)
    raising = graph_of(guard_tool_call(guard), [saver_tool([])], handle_tool_errors=False)
    with pytest.raises(OSError, match=FAILURE):
        invoke(raising, said(proposing(call("/full", "c2"))), THREAD)
    assert counts(guard) == (2, 0)


def test_a_command_to_the_parent_is_let_through_and_not_recorded_as_a_failure() -> None:
    guard = guard_of()

    @tool
    def save(path: str) -> str:
        """Save it."""
        raise ParentCommand(
            Command(graph=Command.PARENT, goto="other", update={"messages": [path]})
        )

    inner = graph_of(guard_tool_call(guard), [save])
    outer = StateGraph(MessagesState)
    outer.add_node("inner", inner)
    outer.add_node("other", lambda state: {"messages": [HumanMessage("handed over")]})
    outer.add_edge(START, "inner")
    final = outer.compile().invoke(MessagesState(messages=[proposing(call("/srv"))]))
    assert final["messages"][-1].content == "handed over"
    assert counts(guard) == (0, 0)


def test_under_acknowledge_the_node_waits_and_runs_what_the_person_made_of_it(
    invoke: Invoke,
) -> None:
    guard, ran = burnt(), list[str]()
    graph = graph_of(guard_tool_call(guard, policy="acknowledge"), [soft_tool(ran)])
    invoke(graph, said(proposing(call("/full"))), THREAD)
    edited = {"decision": "edit", "action": {"name": "save", "args": {"path": "/srv"}}}
    final = invoke(graph, Command(resume=edited), THREAD)
    assert ran == ["/srv"]
    assert "A person changed this call" in str(answers(final["messages"])[0].content)
    settled = [
        [each["role"] for each in episode.metadata["driftguard_settled"]]
        for episode in all_episodes(guard.store, guard.namespace)
        if episode.kind == "success"
    ]
    assert settled == [["instead"]]


def test_repeats_are_told_from_the_messages(invoke: Invoke) -> None:
    ran = list[str]()
    graph = graph_of(guard_tool_call(guard_of(), repeat_limit=2), [soft_tool(ran)])
    for number in range(4):
        final = invoke(graph, said(proposing(call("/srv", f"c{number}"))), THREAD)
    assert ran == ["/srv", "/srv"]
    last = answers(final["messages"])[-1]
    assert "2 times" in str(last.content)
    mark = mark_of(last)
    assert mark is not None
    assert mark["repeated"] == 2
    strict = guard_tool_call(guard_of(), repeat_limit=2, exit_behavior="error")
    again = graph_of(strict, [soft_tool(ran)])
    history = final["messages"][:4]
    with pytest.raises(RepeatLimitReached):
        invoke(again, said(*history, proposing(call("/srv", "c9"))), THREAD)


def test_a_question_of_the_user_starts_the_count_again(invoke: Invoke) -> None:
    ran = list[str]()
    graph = graph_of(guard_tool_call(guard_of(), repeat_limit=2), [soft_tool(ran)])
    for number in range(4):
        asked = (HumanMessage("again, please"), proposing(call("/srv", f"c{number}")))
        invoke(graph, said(*asked), THREAD)
    assert len(ran) == 4


def test_a_state_that_is_a_list_of_messages_is_read_as_well() -> None:
    ran = list[str]()
    guarded = guard_tool_call(burnt(), policy="speed_bump")
    node = ToolNode([soft_tool(ran)], wrap_tool_call=guarded.wrap_tool_call)
    builder = StateGraph(MessagesState)
    builder.add_node("tools", lambda state: {"messages": node.invoke(state["messages"])})
    graph = builder.add_edge(START, "tools").compile(checkpointer=InMemorySaver())
    for number in range(2):
        given = MessagesState(messages=[proposing(call("/full", f"c{number}"))])
        final = graph.invoke(given, THREAD)
    assert ran == ["/full"]
    assert isinstance(final["messages"][-1], ToolMessage)


def test_a_node_cannot_end_a_run() -> None:
    with pytest.raises(ConfigurationError, match="continue, error"):
        guard_tool_call(exit_behavior="end")  # type: ignore[arg-type]
