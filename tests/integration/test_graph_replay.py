"""A node that LangGraph replays records once; a node that runs again records again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes import (
    DriftGuardState,
    create_guard_review_node,
    create_record_outcome_node,
)

STEP: dict[str, Any] = {
    "candidate_action": "delete the temp directory",
    "feedback": "permission denied",
    "outcome": "the cleanup was aborted",
    "success": False,
}
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}


def recording(guard: DriftGuard, **options: Any) -> StateGraph[Any, Any, Any, Any]:
    builder = StateGraph(DriftGuardState)
    builder.add_node("record_outcome", create_record_outcome_node(guard), **options)
    return builder.add_edge(START, "record_outcome")


def fail_after_recording(guard: DriftGuard, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let the recorder fail after the memory has committed, as a dying process would."""
    record, left = guard.record, [times]

    def record_then_fail(*args: Any, **details: Any) -> Any:
        receipt = record(*args, **details)
        if left[0]:
            left[0] -= 1
            raise ConnectionError("the connection broke after the commit")
        return receipt

    monkeypatch.setattr(guard, "record", record_then_fail)


def test_resuming_after_an_interrupt_elsewhere_in_the_step_records_once(
    guard: DriftGuard,
) -> None:
    def ask(state: DriftGuardState) -> dict[str, Any]:
        return {"guard_bumped": [interrupt(f"go on after {state['feedback']}?")]}

    builder = recording(guard).add_node("ask", ask).add_edge(START, "ask")
    builder.add_node("late", create_record_outcome_node(guard)).add_edge("ask", "late")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke(STEP, THREAD)
    assert guard.stats()["episodes"] == 1
    graph.invoke(Command(resume="yes"), THREAD)
    assert guard.stats()["episodes"] == 2


def test_a_recorder_inside_a_node_that_is_interrupted_afterwards_records_once(
    guard: DriftGuard,
) -> None:
    recorder = create_record_outcome_node(guard)
    receipts = []

    def record_and_ask(state: DriftGuardState, config: RunnableConfig) -> dict[str, Any]:
        update = recorder.invoke(state, config)
        receipts.append(update["guard_receipt"]["status"])
        interrupt("go on?")
        return update

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(DriftGuardState)
    builder.add_node("both", record_and_ask).add_edge(START, "both")
    graph = builder.compile(checkpointer=InMemorySaver())
    graph.invoke(STEP, THREAD)
    graph.invoke(Command(resume="yes"), THREAD)
    assert receipts == ["stored", "duplicate"]
    assert guard.stats()["episodes"] == 1


@pytest.mark.parametrize("checkpointer", [InMemorySaver(), None])
def test_a_retried_recorder_records_once(
    guard: DriftGuard, monkeypatch: pytest.MonkeyPatch, checkpointer: Any
) -> None:
    fail_after_recording(guard, monkeypatch, times=2)
    policy = RetryPolicy(initial_interval=0.01, jitter=False, max_attempts=3)
    graph = recording(guard, retry_policy=policy).compile(checkpointer=checkpointer)
    final = graph.invoke(STEP, THREAD)
    assert final["guard_receipt"]["status"] == "duplicate"
    assert guard.stats()["episodes"] == 1


def test_a_run_that_crashed_after_the_record_and_is_resumed_records_once(
    guard: DriftGuard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fail_after_recording(guard, monkeypatch, times=1)
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite3")) as saver:
        graph = recording(guard).compile(checkpointer=saver)
        with pytest.raises(ConnectionError):
            graph.invoke(STEP, THREAD)
        assert guard.stats()["episodes"] == 1
        final = graph.invoke(None, THREAD)
    assert final["guard_receipt"]["status"] == "duplicate"
    assert guard.stats()["episodes"] == 1


PROCESS = """
import os, signal, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from driftguard_langgraph import DriftGuard, DriftGuardState, create_record_outcome_node
from driftguard_langgraph.events import EpisodeRecorded

def die_after_the_commit(event):
    if isinstance(event, EpisodeRecorded):
        os.kill(os.getpid(), signal.SIGKILL)

first = sys.argv[1] == "first"
guard = DriftGuard(hooks=[die_after_the_commit] if first else [])
step = {"candidate_action": "delete the temp directory", "feedback": "denied", "success": False}
with SqliteSaver.from_conn_string(sys.argv[2]) as saver:
    builder = StateGraph(DriftGuardState).add_node(create_record_outcome_node(guard))
    graph = builder.add_edge(START, "record_outcome").compile(checkpointer=saver)
    thread = {"configurable": {"thread_id": "thread-1"}}
    final = graph.invoke(step if first else None, thread, durability="sync")
print(final["guard_receipt"]["status"], guard.stats()["episodes"], final["guard_attempts"])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that kills at once")
def test_a_process_killed_after_the_record_and_resumed_by_another_records_once(
    tmp_path: Path,
) -> None:
    script, threads = tmp_path / "agent.py", str(tmp_path / "threads.sqlite3")
    script.write_text(PROCESS, encoding="utf-8")

    def run(which: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(script), which, threads],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ,
        )

    killed = run("first")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = run("second")
    assert resumed.stdout.split() == ["duplicate", "1", "1"], resumed.stderr


def test_visiting_the_recorder_again_records_again(guard: DriftGuard) -> None:
    builder = recording(guard)
    builder.add_conditional_edges(
        "record_outcome",
        lambda state: END if state["guard_attempts"] == 3 else "record_outcome",
        ["record_outcome", END],
    )
    builder.compile(checkpointer=InMemorySaver()).invoke(STEP, THREAD)
    assert guard.stats()["episodes"] == 3


def test_two_runs_without_a_checkpointer_record_twice(guard: DriftGuard) -> None:
    graph = recording(guard).compile()
    for _ in range(2):
        assert graph.invoke(STEP)["guard_receipt"]["status"] == "stored"
    assert guard.stats()["episodes"] == 2


def test_a_tool_call_replayed_from_an_older_checkpoint_records_once(guard: DriftGuard) -> None:
    graph = recording(guard).compile(checkpointer=InMemorySaver())
    call = {"name": "delete_directory", "args": {"path": "temp"}, "id": "call_1"}
    graph.invoke({**STEP, "candidate_action": call}, THREAD)
    (before,) = [s for s in graph.get_state_history(THREAD) if s.next == ("record_outcome",)]
    assert graph.invoke(None, before.config)["guard_receipt"]["status"] == "duplicate"
    other: RunnableConfig = {"configurable": {"thread_id": "thread-2"}}
    graph.invoke({**STEP, "candidate_action": call}, other)
    assert guard.stats()["episodes"] == 2


def test_a_tool_call_executed_again_under_its_id_is_recorded_by_how_it_ended(
    guard: DriftGuard,
) -> None:
    graph = recording(guard).compile(checkpointer=InMemorySaver())
    call = {"name": "delete_directory", "args": {"path": "temp"}, "id": "call_1"}
    for ended in ({}, {"feedback": "done", "outcome": "it is gone", "success": True}):
        final = graph.invoke({**STEP, "candidate_action": call, **ended}, THREAD)
        assert final["guard_receipt"]["status"] == "stored"
    stats = guard.stats()
    assert (stats["mistakes"]["episodes"], stats["successes"]["episodes"]) == (1, 1)


@pytest.mark.parametrize(("ids", "count"), [({}, 2), ({"episode_id_key": "outcome"}, 1)])
def test_going_back_in_time_is_a_new_observation_unless_an_id_says_otherwise(
    guard: DriftGuard, ids: dict[str, Any], count: int
) -> None:
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(DriftGuardState)
    builder.add_node(create_record_outcome_node(guard, **ids))
    graph = builder.add_edge(START, "record_outcome").compile(checkpointer=InMemorySaver())
    graph.invoke(STEP, THREAD)
    (before,) = [s for s in graph.get_state_history(THREAD) if s.next == ("record_outcome",)]
    graph.invoke(None, before.config)
    assert guard.stats()["episodes"] == count


def test_an_episode_says_where_it_was_seen(guard: DriftGuard) -> None:
    graph = recording(guard).compile(checkpointer=InMemorySaver())
    call = {"name": "delete_directory", "args": {"path": "temp"}, "id": "call_1"}
    final = graph.invoke({**STEP, "candidate_action": call}, THREAD)
    episode = guard.store.get(guard.namespace, final["guard_receipt"]["episode_id"])
    assert episode is not None
    assert episode.provenance["thread_id"] == "thread-1"
    assert episode.provenance["tool_call_id"] == "call_1"
    assert episode.provenance["source"] == "node"
    assert episode.provenance["checkpoint_ns"].startswith("record_outcome:")


def test_a_replayed_review_does_not_count_as_a_second_proposal(
    guard: DriftGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard.record(STEP["candidate_action"], STEP["feedback"], STEP["outcome"])
    review, left = guard.review, [1]

    def review_then_fail(*args: Any, **options: Any) -> Any:
        found = review(*args, **options)
        if left[0]:
            left[0] -= 1
            raise StoreUnavailable("the process died after the review")
        return found

    monkeypatch.setattr(guard, "review", review_then_fail)
    node = create_guard_review_node(guard, policy="speed_bump")
    builder = StateGraph(DriftGuardState).add_node(node).add_edge(START, "guard_review")
    graph = builder.compile(checkpointer=InMemorySaver())
    with pytest.raises(StoreUnavailable):
        graph.invoke({"candidate_action": STEP["candidate_action"]}, THREAD)
    assert graph.invoke(None, THREAD)["guard_review"]["decision"] == "speed_bump"
    second = graph.invoke({"candidate_action": STEP["candidate_action"]}, THREAD)
    assert second["guard_review"]["decision"] == "override"
