"""Holdout and settlement in graphs: silent when held out, settled once, by what really ran."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.judgement.settlement import kept_in
from driftguard_langgraph.judgement.worth import Tally
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.nodes import (
    DriftGuardState,
    create_guard_review_node,
    create_planner_revise_graph,
    create_record_outcome_node,
)
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.testing.samples import SeededEmbedder

BAD, GOOD, WORSE = "drop the orders table", "archive the orders table", "truncate everything"
CALL = {"name": "drop", "args": {"table": "orders"}, "id": "call_1"}


def thread(name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": name}}


def opened(path: Path, **settings: Any) -> DriftGuard:
    guard = DriftGuard(
        store=SqliteMemoryStore.open(path / "memory.sqlite3"),
        embeddings=SeededEmbedder(),
        settings=DriftGuardSettings(**settings),
    )
    for step in (BAD, WORSE, CALL):
        guard.record(step, "permission denied", "orders lost")
    return guard


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[DriftGuard]:
    with opened(tmp_path) as made:
        yield made
        made.store.close()


class Planner:
    """Proposes steps in order, the last one for ever, and keeps the states it was shown."""

    def __init__(self, *steps: str) -> None:
        self.steps = steps
        self.seen: list[dict[str, Any]] = []

    def __call__(self, state: DriftGuardState) -> dict[str, Any]:
        self.seen.append({**state})
        return {"candidate_action": self.steps[min(len(self.seen), len(self.steps)) - 1]}


def execute(state: DriftGuardState) -> dict[str, Any]:
    return {"success": state["candidate_action"] == GOOD, "feedback": "told", "outcome": "it ended"}


def loop(guard: DriftGuard, *steps: str, **options: Any) -> Any:
    options = {"max_attempts": 1, **options}
    graph = create_planner_revise_graph(Planner(*steps), execute, guard=guard, **options)
    return graph.compile(checkpointer=InMemorySaver())


def line(guard: DriftGuard, **options: Any) -> Any:
    """A graph that reviews and records what its input says was executed."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(DriftGuardState)
    builder.add_node(create_guard_review_node(guard))
    builder.add_node("record_outcome", create_record_outcome_node(guard), **options)
    builder.add_edge(START, "guard_review").add_edge("guard_review", "record_outcome")
    return builder.compile(checkpointer=InMemorySaver())


def newest_settlements(guard: DriftGuard) -> list[tuple[str, str, str]]:
    episode = guard.store.list(guard.namespace)[-1]
    return [(each.arm, each.role, each.decision) for each in kept_in(episode.metadata)]


@pytest.mark.parametrize("policy", ["warn", "block", "speed_bump"])
def test_a_revised_proposal_heeds_the_warning(guard: DriftGuard, policy: str) -> None:
    loop(guard, BAD, GOOD, policy=policy).invoke({}, thread("t1"))
    assert guard.worth().heeded == Tally(1, 0)
    refusal = policy if policy != "warn" else "warn"
    assert newest_settlements(guard) == [("shown", "instead", refusal)]


def test_each_step_that_was_given_up_is_settled_by_what_ran_in_the_end(guard: DriftGuard) -> None:
    loop(guard, BAD, WORSE, GOOD).invoke({}, thread("t1"))
    assert guard.worth().heeded == Tally(2, 0)
    assert guard.worth().overridden == Tally(0, 0)


def test_a_planner_that_insists_overrides_the_warning(guard: DriftGuard) -> None:
    loop(guard, BAD).invoke({}, thread("t1"))
    report = guard.worth()
    assert (report.heeded, report.overridden) == (Tally(0, 0), Tally(1, 1))


def test_a_bumped_step_that_is_proposed_again_overrides_the_warning(guard: DriftGuard) -> None:
    loop(guard, BAD, policy="speed_bump").invoke({}, thread("t1"))
    assert newest_settlements(guard) == [("shown", "ran", "override")]


def test_a_refused_run_leaves_nothing_to_be_settled_by_the_next_one(guard: DriftGuard) -> None:
    graph = loop(guard, BAD, BAD, BAD, GOOD, policy="block")
    assert graph.invoke({}, thread("t1"))["guard_review"]["decision"] == "block"
    assert graph.invoke({}, thread("t1"))["success"] is True
    assert guard.worth().warned == Tally(0, 0)


def test_the_second_attempt_is_not_settled_by_the_warning_of_the_first(guard: DriftGuard) -> None:
    loop(guard, BAD, WORSE, WORSE, GOOD, max_attempts=2).invoke({}, thread("t1"))
    report = guard.worth()
    assert report.heeded == Tally(1, 1)
    assert report.overridden == Tally(1, 1)
    assert newest_settlements(guard) == []


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (True, [("shown", "ran", "override")]),
        ({"decision": "edit", "action": GOOD}, [("shown", "instead", "acknowledge")]),
    ],
)
def test_what_a_person_answered_settles_the_warning(
    guard: DriftGuard, answer: Any, expected: list[tuple[str, str, str]]
) -> None:
    graph = loop(guard, BAD, policy="acknowledge")
    assert "__interrupt__" in graph.invoke({}, thread("t1"))
    graph.invoke(Command(resume=answer), thread("t1"))
    assert newest_settlements(guard) == expected


def test_held_out_matches_are_silent_in_state_advice_and_policy(tmp_path: Path) -> None:
    guard = opened(tmp_path, holdout=1.0)
    planner = Planner(BAD)
    graph = create_planner_revise_graph(
        planner, execute, guard=guard, policy="block", max_attempts=2
    )
    chunks = list(
        graph.compile(checkpointer=InMemorySaver()).stream(
            {}, thread("t1"), stream_mode=["values", "custom"]
        )
    )
    second = planner.seen[1]
    assert second["guard_review"]["decision"] == "proceed"
    assert (second["guard_warnings_count"], second["guard_confidence"]) == (0, 0.0)
    assert second["guard_top_warning"] is None
    assert second["guard_open"] == []
    assert "permission denied" not in json.dumps(chunks, default=str)
    assert "orders lost" not in json.dumps(chunks, default=str)
    assert guard.worth().withheld == Tally(1, 1)
    guard.store.close()


def test_over_many_threads_the_share_is_held_out_and_the_lift_is_told(tmp_path: Path) -> None:
    guard = opened(tmp_path, holdout=0.3, holdout_seed=1)
    for number in range(80):
        loop(guard, BAD, GOOD).invoke({}, thread(f"t{number}"))
    report = guard.worth()
    assert report.heeded.settled + report.withheld.settled == 80
    assert 12 <= report.withheld.settled <= 36
    assert report.lift == 1.0
    assert report.interval is not None
    assert report.interval.low > 0.6
    guard.store.close()


def test_a_retried_recorder_settles_once(
    guard: DriftGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, left = guard.record, [2]

    def record_then_fail(*args: Any, **details: Any) -> Any:
        receipt = record(*args, **details)
        if left[0]:
            left[0] -= 1
            raise ConnectionError("the connection broke after the commit")
        return receipt

    monkeypatch.setattr(guard, "record", record_then_fail)
    policy = RetryPolicy(initial_interval=0.01, jitter=False, max_attempts=3)
    graph = line(guard, retry_policy=policy)
    graph.invoke({"candidate_action": BAD, "success": False}, thread("t1"))
    assert (guard.worth().overridden, guard.worth().repeats) == (Tally(1, 1), 0)


@pytest.mark.parametrize(("action", "recorded"), [(BAD, 2), (CALL, 1)])
def test_going_back_in_time_settles_once(guard: DriftGuard, action: Any, recorded: int) -> None:
    before = guard.stats()["episodes"]
    graph = line(guard)
    graph.invoke({"candidate_action": action, "success": False}, thread("t1"))
    (past,) = [
        snapshot
        for snapshot in graph.get_state_history(thread("t1"))
        if snapshot.next == ("guard_review",)
    ]
    again = graph.invoke(None, past.config)
    assert again["guard_review"]["decision"] == "warn"
    assert guard.stats()["episodes"] - before == recorded
    assert guard.worth().overridden == Tally(1, 1)


def test_going_back_in_time_draws_the_same(tmp_path: Path) -> None:
    guard = opened(tmp_path, holdout=0.5)
    graph = line(guard)
    for number in range(20):
        where = thread(f"t{number}")
        first = graph.invoke({"candidate_action": BAD, "success": False}, where)
        (past,) = [s for s in graph.get_state_history(where) if s.next == ("guard_review",)]
        again = graph.invoke(None, past.config)
        held = [bool(final["guard_review"]["withheld"]) for final in (first, again)]
        assert held[0] == held[1]
    guard.store.close()


@pytest.mark.parametrize("given", [None, {"guard_review": {"query": BAD}}, {"guard_open": "x"}])
def test_a_recorder_without_a_review_records_all_the_same(guard: DriftGuard, given: Any) -> None:
    node = create_record_outcome_node(guard)
    state = {"candidate_action": BAD, "success": False, **(given or {})}
    assert node.invoke(state)["guard_receipt"]["status"] == "stored"
    assert newest_settlements(guard) == []


def test_an_async_graph_settles_the_same(guard: DriftGuard) -> None:
    asyncio.run(loop(guard, BAD, GOOD).ainvoke({}, thread("t1")))
    assert guard.worth().heeded == Tally(1, 0)
