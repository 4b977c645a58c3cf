"""Checkpoints as a real saver writes them for a real graph."""

from __future__ import annotations

import hashlib
import importlib
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.messages.tool import tool_call
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.readers import read_batches
from driftguard_langgraph.evaluation.steps import Step


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]
    mood: Any


@tool
def move(to: str) -> str:
    """Go somewhere."""
    if to == "roof":
        raise ValueError("the door is locked")
    return f"now in the {to}"


def plan(state: State) -> dict[str, Any]:
    """Try what the user said, and the cellar after a failure; forget the start at the end."""
    last = state["messages"][-1]
    if last.type == "human":
        target = last.content
    elif last.status == "error":
        target = "cellar"
    else:
        forgotten = [RemoveMessage(id=message.id) for message in state["messages"][:-1]]
        return {"messages": [*forgotten, AIMessage("arrived")]}
    call = tool_call(name="move", args={"to": target}, id=f"call-{len(state['messages'])}")
    return {"messages": [AIMessage("", tool_calls=[call])], "mood": {"calm": True}}


def onwards(state: State) -> str:
    return "tools" if state["messages"][-1].tool_calls else END


def graph(saver: SqliteSaver) -> Any:
    builder = StateGraph(State)
    builder.add_node("plan", plan)
    builder.add_node("tools", ToolNode([move], handle_tool_errors=True))
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", onwards, ["tools", END])
    builder.add_edge("tools", "plan")
    return builder.compile(checkpointer=saver)


def go(saver: SqliteSaver, thread: str, target: str) -> None:
    config = {"configurable": {"thread_id": thread}}
    graph(saver).invoke({"messages": [HumanMessage(target)]}, config)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "runs #1.sqlite"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        go(saver, "ann", "roof")
        go(saver, "ben", "garden")
        go(saver, "ann", "roof")
    return path


def steps(path: Path, **how: Any) -> list[Step]:
    return [step for batch in read_batches(path, **how) for step in batch]


def contents(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


WALK = [
    ("ann", "roof", True),
    ("ann", "cellar", False),
    ("ben", "garden", False),
    ("ann", "roof", True),
    ("ann", "cellar", False),
]


def walked(path: Path) -> list[tuple[str, str, bool]]:
    found = []
    for step in steps(path):
        assert isinstance(step.action, dict)
        found.append((step.stream, step.action["args"]["to"], step.failed))
    return found


def test_every_step_of_every_thread_is_read_though_messages_were_removed(database: Path) -> None:
    found = walked(database)
    assert [each for each in found if each[0] == "ann"] == [e for e in WALK if e[0] == "ann"]
    assert sorted(found) == sorted(WALK)
    assert "the door is locked" in steps(database)[0].feedback


def test_the_file_is_left_as_it_is(database: Path) -> None:
    before = contents(database.parent)
    assert steps(database)
    assert contents(database.parent) == before


def test_a_database_in_use_is_read_with_what_its_log_holds(tmp_path: Path) -> None:
    path = tmp_path / "live.sqlite"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        go(SqliteSaver(connection), "ann", "roof")
        log = path.with_name("live.sqlite-wal")
        assert log.stat().st_size > 0
        before = path.read_bytes(), log.read_bytes()
        assert len(steps(path)) == 2
        assert (path.read_bytes(), log.read_bytes()) == before


def test_types_of_the_user_are_neither_imported_nor_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_types.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Mood:\n    calm: bool\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "own.sqlite"
    with closing(sqlite3.connect(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection)
        go(saver, "ann", "cellar")
        mood = importlib.import_module("own_types").Mood(calm=False)
        config = {"configurable": {"thread_id": "ann"}}
        graph(saver).update_state(config, {"mood": mood}, as_node="plan")
    del sys.modules["own_types"]
    assert [step.failed for step in steps(path)] == [False]
    assert "own_types" not in sys.modules


def test_progress_ends_at_the_size_of_the_file(database: Path) -> None:
    told: list[int] = []
    steps(database, on_bytes=told.append)
    assert told == sorted(told)
    assert told[-1] == database.stat().st_size


@pytest.fixture
def damaged(database: Path) -> Path:
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "UPDATE checkpoints SET type = 'pickle', checkpoint = x'80' WHERE thread_id = 'ben'"
        )
    return database


def test_a_checkpoint_that_cannot_be_decoded_is_reported_or_skipped(damaged: Path) -> None:
    with pytest.raises(InvalidEpisode, match="thread ben: a checkpoint of the type 'pickle'"):
        steps(damaged)
    skipped: list[str] = []
    found = steps(damaged, on_invalid=skipped.append)
    assert {step.stream for step in found} == {"ann"}
    assert len(skipped) > 0


def test_another_database_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (body TEXT)")
    with pytest.raises(ConfigurationError, match=r"other\.db: cannot be read as the checkpoints"):
        steps(path)
    text = tmp_path / "text.jsonl"
    text.write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not a database"):
        steps(text, format="checkpoints")
