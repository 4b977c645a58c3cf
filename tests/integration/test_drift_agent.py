"""The drift middleware in real agents: checkpoints, pauses, other middleware, streams."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelRequest,
    ToolCallLimitMiddleware,
    dynamic_prompt,
)
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from driftguard_langgraph.middleware import DriftMonitorMiddleware
from tests.drift_samples import ANSWER, ATTACK, PROMPT, QUESTION, ScriptedModel, talk


def in_thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


THREAD = in_thread("thread-1")


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite3")) as opened:
        yield opened


@tool
def timetable(day: str) -> str:
    """Look the departures of a day up."""
    return f"On {day} the ferry to the island leaves at nine."


def calls(*days: str) -> AIMessage:
    return AIMessage(
        "",
        tool_calls=[
            {"name": "timetable", "args": {"day": day}, "id": f"call-{day}"} for day in days
        ],
    )


def agent(*middleware: Any, script: list[Any] | None = None, **options: Any) -> Any:
    model = ScriptedModel(script=script or [ANSWER])
    return create_agent(
        model,
        [timetable],
        system_prompt=PROMPT,
        middleware=middleware or [DriftMonitorMiddleware()],
        **options,
    )


def asked(text: Any = QUESTION) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def test_a_pause_for_approval_measures_each_message_once(saver: SqliteSaver) -> None:
    made = agent(
        DriftMonitorMiddleware(),
        HumanInTheLoopMiddleware({"timetable": True}),
        script=[calls("Sunday"), ANSWER],
        checkpointer=saver,
    )
    made.invoke(asked(), THREAD)
    assert made.get_state(THREAD).interrupts
    final = made.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert final["drift_report"]["turn"] == 4
    seen = made.get_state(THREAD).values["drift_state"]["monitor"]["seen"]
    assert len(seen) == len(final["messages"]) == 4


def test_parallel_tool_calls_are_all_measured(saver: SqliteSaver) -> None:
    made = agent(script=[calls("Saturday", "Sunday"), ANSWER], checkpointer=saver)
    assert made.invoke(asked(), THREAD)["drift_report"]["turn"] == 5


def test_other_middleware_composes_with_ours_in_any_order(saver: SqliteSaver) -> None:
    @dynamic_prompt
    def dated(request: ModelRequest[Any]) -> str:
        return f"{request.system_prompt} Today is call {len(request.messages)}."

    orders = ([0, 1, 2], [2, 1, 0], [1, 0, 2])
    for order in orders:
        parts = [DriftMonitorMiddleware(), dated, ToolCallLimitMiddleware(run_limit=3)]
        made = agent(
            *(parts[place] for place in order),
            script=[calls("Sunday"), ANSWER],
            checkpointer=saver,
        )
        thread = in_thread(f"order-{order}")
        assert made.invoke(asked(), thread)["drift_report"]["turn"] == 4
        baseline = made.get_state(thread).values["drift_state"]["baseline"]
        assert baseline[0]["content"].startswith(PROMPT)
        again = made.invoke(asked("And on Monday?"), thread)
        assert not again["drift_alarm"]


def test_going_back_in_time_forgets_what_came_later(saver: SqliteSaver) -> None:
    made = agent(checkpointer=saver)
    made.invoke(asked(), THREAD)
    good = made.get_state(THREAD).config
    assert made.invoke(asked(ATTACK), THREAD)["drift_alarm"]
    fork = made.invoke(asked("May I take two suitcases on board?"), good)
    assert (fork["drift_alarm"], fork["drift_report"]["turn"]) == (False, 4)


PROCESS = """
import json, logging, sys
logging.basicConfig(level=logging.WARNING)
from langchain.agents import create_agent
from langgraph.checkpoint.sqlite import SqliteSaver
from driftguard_langgraph import DriftMonitorMiddleware
from tests.drift_samples import PROMPT, ScriptedModel

path, *said = json.loads(sys.argv[1])
with SqliteSaver.from_conn_string(path) as saver:
    agent = create_agent(ScriptedModel(), system_prompt=PROMPT, checkpointer=saver,
                         middleware=[DriftMonitorMiddleware()])
    thread = {"configurable": {"thread_id": "1"}}
    for text in said:
        final = agent.invoke({"messages": [("user", text)]}, thread)
    for state in agent.get_state_history(thread):
        drift = {key: value for key, value in state.values.items() if key.startswith("drift_")}
        assert json.loads(json.dumps(drift)) == drift, drift
names = ("turn", "score", "verdict", "components", "velocity", "corruption", "explanation")
print(json.dumps({name: final["drift_report"][name] for name in names}))
"""


def run_process(path: Path, *said: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROCESS, json.dumps([str(path), *said])],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
    )
    assert done.returncode == 0, done.stderr
    assert "unregistered" not in done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_another_process_goes_on_with_the_same_score(tmp_path: Path) -> None:
    lines = [QUESTION, "May I take two suitcases on board?", "What does a ticket cost?"]
    whole = run_process(tmp_path / "whole.sqlite3", *lines)
    run_process(tmp_path / "parts.sqlite3", *lines[:2])
    assert run_process(tmp_path / "parts.sqlite3", lines[2]) == whole
    assert whole["turn"] == 6


async def test_many_threads_of_one_agent_run_at_once_without_blocking_the_event_loop(
    tmp_path: Path,
) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite3")) as saver:
        made = agent(DriftMonitorMiddleware(exit_behavior="end"), checkpointer=saver)

        async def session(number: int) -> bool:
            thread = in_thread(f"t{number}")
            await made.ainvoke(asked(), thread)
            final = await made.ainvoke(asked(ATTACK if number % 2 else QUESTION), thread)
            assert final["drift_report"]["turn"] == (3 if number % 2 else 4)
            return bool(final["drift_alarm"])

        assert await asyncio.gather(*map(session, range(6))) == [bool(n % 2) for n in range(6)]


def test_measurements_are_custom_stream_events() -> None:
    made = agent(script=[calls("Sunday"), ANSWER])
    events = list(made.stream(asked(), stream_mode="custom"))
    assert json.loads(json.dumps(events)) == events
    assert {(e["type"], e["event"], e["node"]) for e in events} == {
        ("driftguard", "drift", "DriftMonitorMiddleware")
    }
    assert [event["channel"] for event in events] == ["user", "assistant", "tool", "assistant"]


async def test_async_streams_carry_the_same_events() -> None:
    made = agent(script=[calls("Sunday"), ANSWER])
    events = [event async for event in made.astream(asked(), stream_mode="custom")]
    assert [event["channel"] for event in events] == ["user", "assistant", "tool", "assistant"]


def test_an_agent_as_a_subgraph_is_watched_in_the_thread_of_its_parent() -> None:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(MessagesState)
    builder.add_node("agent", agent()).add_edge(START, "agent")
    graph = builder.compile(checkpointer=InMemorySaver())
    seen: list[Any] = list(
        graph.stream(asked(ATTACK), THREAD, stream_mode="custom", subgraphs=True)
    )
    assert [event["alarm"] for _, event in seen] == [True, True]
    assert all(namespace[0].startswith("agent:") for namespace, _ in seen)


def test_messages_of_any_shape_end_no_run(saver: SqliteSaver) -> None:
    blocks = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": "x"}]
    nasty = AIMessage([{"type": "text", "text": ANSWER}, {"type": "reasoning", "reasoning": "?"}])
    made = agent(script=[ANSWER, nasty, "", "word " * 200_000, "nul \0"], checkpointer=saver)
    for text in (blocks, "", "word " * 200_000, "nul \0 byte", QUESTION):
        final = made.invoke(asked(text), THREAD)
    assert final["drift_report"]["turn"] == 10


def test_a_conversation_that_was_under_way_is_measured_from_its_start() -> None:
    final = agent().invoke({"messages": [*talk(), HumanMessage(QUESTION)]})
    assert final["drift_report"]["turn"] == len(talk()) + 2
