"""The drift monitor in real graphs: per thread, in every checkpoint, in parallel and nested."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from driftguard_langgraph.nodes import DriftGuardState, create_drift_monitor_node, route_on_drift
from driftguard_langgraph.nodes.state import latest
from tests.drift_samples import ATTACK, PROMPT, QUESTION, ScriptedModel, talk

Builder = StateGraph[Any, Any, Any, Any]


class ChatState(DriftGuardState):
    messages: Annotated[list[AnyMessage], add_messages]
    summary: str


def in_thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


THREAD = in_thread("thread-1")


def chat(*, ask: bool = False, schema: type[Any] = ChatState, **options: Any) -> Builder:
    """A chat that is measured, then recovered if need be; it may ask somebody in between."""
    model = ScriptedModel()

    def answer(state: Any) -> dict[str, Any]:
        messages = state["messages"] if isinstance(state, dict) else state.messages
        return {"messages": [model.invoke(messages)]}

    def recover(_state: Any) -> dict[str, Any]:
        return {"messages": [SystemMessage("Remember what you were told.")]}

    def check(_state: Any) -> dict[str, Any]:
        return {"messages": [HumanMessage(interrupt("what else?"))]} if ask else {}

    builder: Builder = StateGraph(schema)
    nodes: dict[str, Any] = {"answer": answer, "check": check, "recover": recover}
    for name, node in nodes.items():
        builder.add_node(name, node)
    builder.add_node("drift_monitor", create_drift_monitor_node(PROMPT, **options))
    builder.add_node("again", create_drift_monitor_node(PROMPT, name="again", **options))
    builder.add_edge(START, "answer").add_edge("answer", "drift_monitor")
    builder.add_edge("drift_monitor", "check").add_edge("check", "again")
    builder.add_conditional_edges("again", route_on_drift, {"continue": END, "recover": "recover"})
    return builder


def said(text: Any) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite3")) as opened:
        yield opened


def test_a_conversation_on_topic_goes_on_and_an_attack_is_recovered(saver: SqliteSaver) -> None:
    graph = chat().compile(checkpointer=saver)
    fine = graph.invoke(said(QUESTION), THREAD)
    assert (fine["drift_alarm"], fine["drift_report"]["turn"]) == (False, 2)
    bad = graph.invoke(said(ATTACK), THREAD)
    assert bad["drift_alarm"]
    assert bad["messages"][-1].content == "Remember what you were told."


def test_threads_are_measured_apart(saver: SqliteSaver) -> None:
    graph = chat().compile(checkpointer=saver)
    assert graph.invoke(said(ATTACK), in_thread("one"))["drift_alarm"]
    assert not graph.invoke(said(QUESTION), in_thread("two"))["drift_alarm"]


def test_resuming_after_an_interrupt_measures_each_message_once(saver: SqliteSaver) -> None:
    graph = chat(ask=True).compile(checkpointer=saver)
    graph.invoke(said(QUESTION), THREAD)
    assert graph.get_state(THREAD).values["drift_report"]["turn"] == 2
    final = graph.invoke(Command(resume="May I take two suitcases on board?"), THREAD)
    assert final["drift_report"]["turn"] == 3
    assert len(final["drift_state"]["monitor"]["seen"]) == len(final["messages"]) == 3


def test_going_back_in_time_forgets_what_came_later(saver: SqliteSaver) -> None:
    graph = chat().compile(checkpointer=saver)
    first = graph.invoke(said(QUESTION), THREAD)
    graph.invoke(said(ATTACK), THREAD)
    old = next(
        state
        for state in graph.get_state_history(THREAD)
        if not state.next and not state.values["drift_alarm"]
    )
    assert old.values["drift_report"] == first["drift_report"]
    fork = graph.invoke(said("May I take two suitcases on board?"), old.config)
    assert (fork["drift_alarm"], fork["drift_report"]["turn"]) == (False, 4)


def test_a_replay_from_an_older_checkpoint_says_the_same(saver: SqliteSaver) -> None:
    graph = chat().compile(checkpointer=saver)
    graph.invoke(said(QUESTION), THREAD)
    bad = graph.invoke(said(ATTACK), THREAD)
    before = next(
        state for state in graph.get_state_history(THREAD) if state.next == ("drift_monitor",)
    )
    assert graph.invoke(None, before.config)["drift_report"] == bad["drift_report"]


PROCESS = """
import json, logging, sys
logging.basicConfig(level=logging.WARNING)
from typing import Annotated
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from driftguard_langgraph import DriftGuardState, create_drift_monitor_node

class State(DriftGuardState):
    messages: Annotated[list[AnyMessage], add_messages]

prompt, path, *said = json.loads(sys.argv[1])
builder = StateGraph(State).add_node(create_drift_monitor_node(prompt))
with SqliteSaver.from_conn_string(path) as saver:
    graph = builder.add_edge(START, "drift_monitor").compile(checkpointer=saver)
    thread = {"configurable": {"thread_id": "1"}}
    for number, text in said:
        final = graph.invoke({"messages": [HumanMessage(text, id=f"m{number}")]}, thread)
    for state in graph.get_state_history(thread):
        drift = {key: value for key, value in state.values.items() if key != "messages"}
        assert json.loads(json.dumps(drift)) == drift, drift
print(json.dumps(final["drift_report"]))
"""


def run_process(path: Path, said: list[tuple[int, str]]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROCESS, json.dumps([PROMPT, str(path), *said])],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
    )
    assert done.returncode == 0, done.stderr
    assert "unregistered" not in done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_another_process_goes_on_with_the_same_score(tmp_path: Path) -> None:
    lines = [str(message.content) for message in talk()]
    numbered = list(enumerate([*lines, "What does a ticket cost?"]))
    whole = run_process(tmp_path / "whole.sqlite3", numbered)
    run_process(tmp_path / "parts.sqlite3", numbered[:3])
    assert run_process(tmp_path / "parts.sqlite3", numbered[3:]) == whole
    assert whole["turn"] == 5


@dataclass
class DataState:
    messages: Annotated[list[AnyMessage], add_messages]
    drift_state: Annotated[dict[str, Any] | None, latest] = None
    drift_report: Annotated[dict[str, Any] | None, latest] = None


class ModelState(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages]
    drift_state: dict[str, Any] | None = None
    drift_report: dict[str, Any] | None = None


@pytest.mark.parametrize("schema", [DataState, ModelState])
def test_schemas_of_other_kinds_hold_the_session(schema: type[Any], saver: SqliteSaver) -> None:
    graph = chat(schema=schema).compile(checkpointer=saver)
    graph.invoke(said(QUESTION), THREAD)
    final = graph.invoke(said(ATTACK), THREAD)
    assert final["drift_report"]["alarm"]
    assert final["drift_report"]["turn"] == 4


def test_a_schema_that_drops_the_session_still_gets_right_reports(saver: SqliteSaver) -> None:
    class Bare(BaseModel):
        messages: Annotated[list[AnyMessage], add_messages]
        drift_report: dict[str, Any] | None = None

    graph = chat(schema=Bare).compile(checkpointer=saver)
    graph.invoke(said(QUESTION), THREAD)
    assert graph.invoke(said(ATTACK), THREAD)["drift_report"]["alarm"]


def test_the_running_summary_of_a_graph_is_watched(saver: SqliteSaver) -> None:
    graph = chat().compile(checkpointer=saver)
    graph.invoke(said(QUESTION), THREAD)
    final = graph.invoke({"messages": [], "summary": ATTACK}, THREAD)
    assert final["drift_alarm"]
    spans = [a["said"]["message_id"] for a in final["drift_report"]["anomalies"]]
    assert "state:summary" in spans


def test_measurements_are_custom_stream_events(saver: SqliteSaver) -> None:
    graph = chat().compile(checkpointer=saver)
    events: list[Any] = list(graph.stream(said(ATTACK), THREAD, stream_mode="custom"))
    assert json.loads(json.dumps(events)) == events
    assert [(e["type"], e["event"], e["node"]) for e in events] == [
        ("driftguard", "drift", "drift_monitor")
    ]
    assert (events[0]["measured"], events[0]["alarm"]) == (2, True)


async def test_many_threads_run_at_once_without_blocking_the_event_loop() -> None:
    graph = chat().compile(checkpointer=InMemorySaver())

    async def session(number: int) -> bool:
        thread = in_thread(f"t{number}")
        await graph.ainvoke(said(QUESTION), thread)
        final = await graph.ainvoke(said(ATTACK if number % 2 else QUESTION), thread)
        return bool(final["drift_alarm"])

    assert await asyncio.gather(*map(session, range(6))) == [bool(n % 2) for n in range(6)]


def test_parallel_branches_may_measure_in_the_same_step() -> None:
    builder: Builder = StateGraph(ChatState)
    for name in ("left", "right"):
        builder.add_node(create_drift_monitor_node(PROMPT, name=name)).add_edge(START, name)
    final = builder.compile().invoke({"messages": [*talk(), HumanMessage(ATTACK)]})
    assert final["drift_alarm"]
    assert final["drift_report"]["turn"] == 5


def test_each_branch_of_a_fan_out_measures_what_it_was_sent() -> None:
    lines = [QUESTION, ATTACK, "May I take two suitcases on board?"]
    alarms: dict[str, bool] = {}

    async def measure(state: ChatState, config: RunnableConfig) -> dict[str, Any]:
        update = await node.ainvoke(state, config)
        alarms[state["messages"][0].text] = update["drift_alarm"]
        return update

    node = create_drift_monitor_node(PROMPT)
    builder: Builder = StateGraph(ChatState).add_node("measure", measure)
    builder.add_conditional_edges(
        START, lambda _state: [Send("measure", said(line)) for line in lines], ["measure"]
    )
    final = asyncio.run(builder.compile().ainvoke({"messages": []}))
    assert alarms == {line: line == ATTACK for line in lines}
    assert final["drift_report"]["turn"] == 1


def test_a_subgraph_shares_the_session_and_the_stream_with_its_parent(saver: SqliteSaver) -> None:
    parent: Builder = StateGraph(ChatState)
    parent.add_node("agent", chat().compile()).add_node(
        "after", create_drift_monitor_node(PROMPT, name="after")
    )
    graph = parent.add_edge(START, "agent").add_edge("agent", "after").compile(checkpointer=saver)
    stream: list[Any] = list(
        graph.stream(said(ATTACK), THREAD, stream_mode="custom", subgraphs=True)
    )
    assert stream[0][1]["node"] == "drift_monitor"
    assert stream[0][0][0].startswith("agent:")
    values = graph.get_state(THREAD).values
    assert values["drift_alarm"]
    assert len(values["drift_state"]["monitor"]["seen"]) == len(values["messages"])


def test_messages_of_any_shape_end_no_run(saver: SqliteSaver) -> None:
    graph = chat().compile(checkpointer=saver)
    blocks: Any = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": "x"}]
    texts: list[Any] = [blocks, "nul \0 byte", "word " * 200_000, ""]
    for text in texts:
        final = graph.invoke(said(text), THREAD)
    assert final["drift_report"]["turn"] == 8
