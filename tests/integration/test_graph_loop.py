"""The ready-made loop: warned before a repeated failure, revised, executed, remembered."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes import DriftGuardState, create_planner_revise_graph

BAD = "delete the temp directory"
PARAPHRASE = "remove everything under the tmp folder"
OPPOSITE = "keep the temp directory"
GOOD = "ask the owner to archive the logs"
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}

Graph = CompiledStateGraph[Any, Any, Any, Any]


class Planner:
    """Proposes a script's steps in order, the last one for ever, and notes what it was told."""

    def __init__(self, *steps: str) -> None:
        self.steps = steps
        self.told: list[str | None] = []

    def __call__(self, state: DriftGuardState) -> dict[str, Any]:
        review = state.get("guard_review")
        self.told.append(review["decision"] if review else None)
        return {"candidate_action": self.steps[min(len(self.told), len(self.steps)) - 1]}


def execute(state: DriftGuardState) -> dict[str, Any]:
    if state["candidate_action"] in {BAD, PARAPHRASE}:
        return {"success": False, "feedback": "permission denied", "outcome": "cleanup aborted"}
    return {"success": True, "feedback": "done", "outcome": "the disk has space again"}


def path_of(graph: Graph, config: RunnableConfig = THREAD) -> list[str]:
    return [name for chunk in graph.stream({}, config, stream_mode="updates") for name in chunk]


def remember_failure(guard: DriftGuard) -> None:
    guard.record(BAD, "permission denied", "cleanup aborted")


def test_a_failure_is_recorded_and_the_next_attempt_succeeds(guard: DriftGuard) -> None:
    graph = create_planner_revise_graph(Planner(BAD, GOOD), execute, guard=guard).compile()
    final = graph.invoke({})
    assert final["success"] is True
    assert final["guard_attempts"] == 2
    stats = guard.stats()
    assert (stats["mistakes"]["episodes"], stats["successes"]["episodes"]) == (1, 1)


@pytest.mark.parametrize("checkpointer", [InMemorySaver(), None])
def test_what_an_executor_leaves_out_is_not_taken_from_the_step_before(
    guard: DriftGuard, checkpointer: Any
) -> None:
    results = [{"success": False, "feedback": "HTTP 500", "outcome": "order lost"}]
    planned: list[str | None] = []
    executed: list[tuple[Any, ...]] = []

    def plan(state: DriftGuardState) -> dict[str, Any]:
        planned.append(state["feedback"])
        return {"candidate_action": "send the order"}

    def run(state: DriftGuardState) -> dict[str, Any]:
        executed.append((state["success"], state["feedback"], state["outcome"]))
        return results.pop() if results else {"success": True}

    graph = create_planner_revise_graph(plan, run, guard=guard, policy="record_only")
    final = graph.compile(checkpointer=checkpointer).invoke({}, THREAD)
    episode = guard.store.get(guard.namespace, final["guard_receipt"]["episode_id"])
    assert episode is not None
    assert (episode.feedback, episode.outcome) == ("no feedback was given", "step succeeded")
    assert planned == [None, "HTTP 500"]
    assert executed == [(None, None, None)] * 2


def test_an_executor_that_forgets_the_success_is_told_so_after_a_failure_too(
    guard: DriftGuard,
) -> None:
    results: list[dict[str, Any]] = [{}, {"success": False}]
    graph = create_planner_revise_graph(Planner(GOOD), lambda _state: results.pop(), guard=guard)
    with pytest.raises(ConfigurationError, match="'success'"):
        graph.compile().invoke({})
    assert guard.stats()["episodes"] == 1


def test_a_paraphrase_of_a_failed_step_is_warned_revised_and_not_executed(
    guard: DriftGuard,
) -> None:
    remember_failure(guard)
    planner = Planner(PARAPHRASE, GOOD)
    graph = create_planner_revise_graph(planner, execute, guard=guard).compile()
    assert path_of(graph) == [
        "begin",
        "planner",
        "guard_review",
        "planner",
        "guard_review",
        "clear_outcome",
        "executor",
        "record_outcome",
    ]
    assert planner.told == [None, "warn"]
    assert guard.stats()["mistakes"]["episodes"] == 1


def test_the_opposite_of_a_failed_step_is_not_stopped(guard: DriftGuard) -> None:
    remember_failure(guard)
    planner = Planner(OPPOSITE)
    graph = create_planner_revise_graph(planner, execute, guard=guard, policy="block").compile()
    final = graph.invoke({})
    assert final["guard_review"]["decision"] == "proceed"
    assert (final["success"], planner.told) == (True, [None])


def test_a_stubborn_planner_is_heard_after_its_revisions_when_the_policy_only_warns(
    guard: DriftGuard,
) -> None:
    remember_failure(guard)
    planner = Planner(BAD)
    graph = create_planner_revise_graph(
        planner, execute, guard=guard, max_revisions=2, max_attempts=2
    ).compile()
    final = graph.invoke({})
    assert planner.told == [None, "warn", "warn", "warn", "warn", "warn"]
    assert (final["success"], final["guard_attempts"]) == (False, 2)


def test_a_stubborn_planner_is_stopped_when_the_policy_blocks(guard: DriftGuard) -> None:
    remember_failure(guard)
    executed: list[str] = []
    planner = Planner(BAD)
    graph = create_planner_revise_graph(
        planner,
        lambda state: executed.append(state["candidate_action"]),
        guard=guard,
        policy="block",
        max_revisions=1,
    ).compile()
    final = graph.invoke({})
    assert final["guard_review"]["may_run"] is False
    assert final["success"] is None
    assert (len(planner.told), executed) == (2, [])


def test_a_speed_bump_asks_once_per_thread_and_other_threads_are_asked_too(
    guard: DriftGuard,
) -> None:
    remember_failure(guard)
    planner = Planner(BAD)
    graph = create_planner_revise_graph(
        planner, execute, guard=guard, policy="speed_bump", max_attempts=1
    ).compile(checkpointer=InMemorySaver())
    decisions = []
    for thread in ("a", "a", "b"):
        planner.told.clear()
        final = graph.invoke({}, {"configurable": {"thread_id": thread}})
        decisions.append([*planner.told, final["guard_review"]["decision"]])
    assert decisions == [
        [None, "speed_bump", "override"],
        [None, "override"],
        [None, "speed_bump", "override"],
    ]


def test_a_second_run_of_a_thread_starts_with_fresh_budgets_and_nothing_stale(
    guard: DriftGuard,
) -> None:
    remember_failure(guard)
    planner = Planner(BAD)
    graph = create_planner_revise_graph(
        planner, execute, guard=guard, policy="block", max_revisions=1
    ).compile(checkpointer=InMemorySaver())
    runs = []
    for _ in range(2):
        planner.told.clear()
        final = graph.invoke({}, THREAD)
        runs.append((planner.told[:], final["guard_revisions"], final["guard_attempts"]))
    assert runs[0] == runs[1] == ([None, "block"], 2, 0)


def test_without_a_memory_of_it_every_step_runs_under_record_only(guard: DriftGuard) -> None:
    remember_failure(guard)
    graph = create_planner_revise_graph(
        Planner(BAD), execute, guard=guard, policy="record_only", max_attempts=1
    ).compile()
    final = graph.invoke({})
    assert final["guard_review"]["decision"] == "skipped"
    assert final["guard_receipt"]["status"] == "stored"


async def aplan(state: DriftGuardState) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"candidate_action": GOOD if state.get("guard_top_warning") else PARAPHRASE}


async def aexecute(state: DriftGuardState) -> dict[str, Any]:
    await asyncio.sleep(0)
    return execute(state)


async def test_an_async_loop_never_blocks_its_event_loop(guard: DriftGuard) -> None:
    await guard.arecord(BAD, "permission denied", "cleanup aborted")
    graph = create_planner_revise_graph(aplan, aexecute, guard=guard).compile(
        checkpointer=InMemorySaver()
    )
    final = await graph.ainvoke({}, THREAD)
    assert (final["success"], final["candidate_action"]) == (True, GOOD)


async def test_the_default_guard_is_built_off_the_event_loop() -> None:
    graph = create_planner_revise_graph(aplan, aexecute, max_attempts=1).compile()
    assert (await graph.ainvoke({}))["guard_receipt"]["status"] == "stored"


@dataclass
class Context:
    user_id: str


def test_planner_and_executor_get_whatever_langgraph_injects(guard: DriftGuard) -> None:
    def plan(
        _state: DriftGuardState, config: RunnableConfig, runtime: Runtime[Context]
    ) -> dict[str, Any]:
        assert config["configurable"]["thread_id"] == "thread-1"
        assert runtime.store is not None
        user = runtime.store.get(("users",), runtime.context.user_id)
        return {"candidate_action": f"greet {user and user.value['name']}"}

    store = InMemoryStore()
    store.put(("users",), "7", {"name": "Ann"})
    graph = create_planner_revise_graph(
        plan,
        RunnableLambda(lambda state: {"success": state["candidate_action"] == "greet Ann"}),
        guard=guard,
        namespace=("acme", "{user_id}"),
        context_schema=Context,
    ).compile(store=store, checkpointer=InMemorySaver())
    assert graph.invoke({}, THREAD, context=Context("7"))["success"] is True
    assert guard.stats(namespace=("acme", "7"))["episodes"] == 1
    assert guard.stats()["episodes"] == 0


class WithGoal(DriftGuardState, total=False):
    goal: str


def test_a_state_of_your_own_keeps_its_keys(guard: DriftGuard) -> None:
    graph = create_planner_revise_graph(
        lambda state: {"candidate_action": state["goal"]},
        lambda _state: {"success": True},
        guard=guard,
        state_schema=WithGoal,
    ).compile()
    assert graph.invoke({"goal": GOOD})["goal"] == GOOD


class Foreign(TypedDict):
    candidate_action: str


def test_a_schema_that_would_drop_the_guards_keys_is_refused(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match=r"Foreign lacks the keys .*guard_revisions"):
        create_planner_revise_graph(Planner(GOOD), execute, guard=guard, state_schema=Foreign)


@pytest.mark.parametrize("budget", [{"max_attempts": 0}, {"max_revisions": -1}])
def test_an_unusable_budget_is_refused(guard: DriftGuard, budget: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(budget))):
        create_planner_revise_graph(Planner(GOOD), execute, guard=guard, **budget)


@pytest.mark.parametrize(
    ("planner", "executor", "named"),
    [(None, None, "planner"), ("plan", execute, "planner"), (execute, None, "executor")],
)
def test_what_cannot_be_a_node_is_refused_by_name(planner: Any, executor: Any, named: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{named} must be"):
        create_planner_revise_graph(planner, executor)


def test_building_and_drawing_a_graph_opens_nothing(user_data_dir: Any) -> None:
    drawing = create_planner_revise_graph(Planner(GOOD), execute).compile().get_graph()
    assert "revise" in drawing.draw_mermaid()
    assert not user_data_dir.exists()
