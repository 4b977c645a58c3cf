"""The ready-made loop with drift and recovery in place, in real graphs with the real monitor."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict, get_type_hints

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from langgraph.types import Command

from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.nodes import DriftGuardState, create_planner_revise_graph
from driftguard_langgraph.recovery.conduct import RecoveryConduct
from driftguard_langgraph.recovery.schedule import InjectionSchedule
from driftguard_langgraph.recovery.session import RecoveryPlan
from tests.drift_samples import ATTACK, PROMPT, QUESTION

RULE = "Never refund a ticket after departure."
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}
DIRECT = ["begin", "planner", "guard_review", "clear_outcome", "executor", "record_outcome"]
WATCHED = ["begin", "drift_monitor", "recovery_scaffold", *DIRECT[1:]]
GIVE_UP = InjectionSchedule(maximum=1)


class Chat(DriftGuardState, total=False):
    messages: Annotated[list[AnyMessage], add_messages]


class Planner:
    """Proposes the same step each time and notes the scaffold that it was shown."""

    def __init__(self, says: str = "The ferry leaves at nine.") -> None:
        self.says = says
        self.shown: list[str | None] = []

    def __call__(self, state: Any) -> dict[str, Any]:
        scaffold = state["recovery_scaffold"]
        self.shown.append(scaffold and scaffold["content"])
        return {"candidate_action": "look it up", "messages": [AIMessage(self.says)]}


@pytest.fixture
def guard() -> Iterator[DriftGuard]:
    with DriftGuard(store=EphemeralMemoryStore()) as made:
        yield made


def succeed(_state: Any) -> dict[str, Any]:
    return {"success": True}


def built(guard: DriftGuard, planner: Any, **options: Any) -> Any:
    options = {"state_schema": Chat, **options}
    executor = options.pop("executor", succeed)
    graph = create_planner_revise_graph(planner, executor, guard=guard, **options)
    return graph.compile(checkpointer=InMemorySaver())


def said(text: str, *before: AnyMessage) -> dict[str, Any]:
    return {"messages": [*before, HumanMessage(text)]}


def path_of(graph: Any, given: Any) -> list[str]:
    return [name for chunk in graph.stream(given, THREAD, stream_mode="updates") for name in chunk]


def test_a_state_with_messages_is_watched_against_its_own_system_prompt(guard: DriftGuard) -> None:
    planner = Planner()
    graph = built(guard, planner)
    assert path_of(graph, said(QUESTION, SystemMessage(PROMPT))) == WATCHED
    assert graph.get_state(THREAD).values["drift_alarm"] is False
    assert path_of(graph, said(ATTACK)) == WATCHED
    values = graph.get_state(THREAD).values
    assert values["drift_alarm"] is True
    assert planner.shown[0] is None
    assert RULE in str(planner.shown[1])
    assert values["recovery_verdict"]["outcome"] == "pending"
    assert json.loads(json.dumps(values["recovery_state"])) == values["recovery_state"]


def test_what_the_planner_says_is_measured_before_it_is_asked_again(guard: DriftGuard) -> None:
    planner = Planner()
    graph = built(
        guard,
        planner,
        executor=lambda _state: {"success": False},
        max_attempts=2,
        policy="record_only",
    )
    graph.invoke(said(QUESTION, SystemMessage(PROMPT)), THREAD)
    values = graph.get_state(THREAD).values
    assert len(planner.shown) == 2
    assert values["drift_report"]["turn"] == 2


def test_a_revised_proposal_is_measured_first_too(guard: DriftGuard) -> None:
    guard.record("look it up", "timetable offline", "the guest waited in vain")
    graph = built(guard, Planner(), max_revisions=1)
    path = path_of(graph, said(QUESTION, SystemMessage(PROMPT)))
    assert path == [*WATCHED[:5], *WATCHED[1:]]


def test_a_state_without_messages_is_as_it_was(guard: DriftGuard) -> None:
    graph = create_planner_revise_graph(
        lambda _state: {"candidate_action": "look it up"}, succeed, guard=guard
    ).compile(checkpointer=InMemorySaver())
    assert path_of(graph, {}) == DIRECT


def test_nobody_watches_where_messages_key_is_none(guard: DriftGuard) -> None:
    def plan(_state: Any) -> dict[str, Any]:
        return {"candidate_action": "look it up"}

    graph = built(guard, plan, messages_key=None)
    assert path_of(graph, said(ATTACK, SystemMessage(PROMPT))) == DIRECT


def test_a_schema_of_ones_own_with_messages_and_no_room_is_not_watched(guard: DriftGuard) -> None:
    hints = get_type_hints(DriftGuardState, include_extras=True)
    guarded = {k: v for k, v in hints.items() if not k.startswith(("drift_", "recovery_"))}
    named: Any = TypedDict
    own = named("Own", {**guarded, "messages": Annotated[list[AnyMessage], add_messages]})

    def plan(_state: Any) -> dict[str, Any]:
        return {"candidate_action": "look it up"}

    assert path_of(built(guard, plan, state_schema=own), said(QUESTION)) == DIRECT
    with pytest.raises(ConfigurationError, match=r"Own lacks the keys drift_alarm, .*recovery_"):
        built(guard, plan, state_schema=own, monitor=PROMPT)


@pytest.mark.parametrize("given", [{"monitor": PROMPT}, {"recovery": RecoveryPlan()}])
def test_what_cannot_be_watched_is_refused_when_it_is_asked_for(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="DriftGuardState lacks the keys messages"):
        create_planner_revise_graph(Planner(), succeed, **given)
    with pytest.raises(ConfigurationError, match="messages_key=None"):
        create_planner_revise_graph(
            Planner(), succeed, state_schema=Chat, messages_key=None, **given
        )


def test_a_run_without_a_message_goes_on(guard: DriftGuard) -> None:
    graph = built(guard, Planner())
    assert path_of(graph, {}) == WATCHED
    assert graph.get_state(THREAD).values["recovery_route"] == "continue"


def test_a_session_that_an_assistant_opens_is_watched_without_an_anchor(guard: DriftGuard) -> None:
    graph = built(guard, Planner())
    given = {"messages": [AIMessage("Welcome on board!"), HumanMessage(QUESTION)]}
    assert path_of(graph, given) == WATCHED
    assert graph.get_state(THREAD).values["recovery_state"]["anchor"] is None


@pytest.mark.parametrize("made", [lambda: PROMPT, lambda: DriftMonitor(PROMPT)])
def test_the_baseline_may_be_given_as_text_or_with_a_monitor(guard: DriftGuard, made: Any) -> None:
    planner = Planner()
    graph = built(guard, planner, monitor=made())
    graph.invoke(said(ATTACK), THREAD)
    assert RULE in str(planner.shown[0])


def test_a_plan_says_what_is_injected(guard: DriftGuard) -> None:
    planner = Planner()
    graph = built(guard, planner, monitor=PROMPT, recovery=RecoveryPlan(variant="placebo"))
    graph.invoke(said(ATTACK), THREAD)
    assert str(planner.shown[0]).startswith("Work with care")


def test_a_conduct_brings_anchor_and_role_of_its_own(guard: DriftGuard) -> None:
    conduct = RecoveryConduct("You run a lighthouse. Never leave the lamp.", role="user")
    graph = built(guard, Planner(), monitor=PROMPT, recovery=conduct)
    scaffold = graph.invoke(said(ATTACK), THREAD)["recovery_scaffold"]
    assert scaffold["role"] == "user"
    assert "Never leave the lamp." in scaffold["content"]


def test_what_is_no_recovery_is_refused() -> None:
    wrong: Any = "full"
    with pytest.raises(ConfigurationError, match="recovery must be a RecoveryPlan"):
        create_planner_revise_graph(Planner(), succeed, state_schema=Chat, recovery=wrong)


def exhausted(guard: DriftGuard, planner: Any, then: Any) -> tuple[Any, list[str]]:
    """A thread whose only scaffold has failed, and the path of the run that gave up."""
    plan = RecoveryPlan(GIVE_UP, patience=1, when_exhausted=then)
    graph = built(guard, planner, monitor=PROMPT, recovery=plan)
    graph.invoke(said(ATTACK), THREAD)
    return graph, path_of(graph, said(ATTACK))


def test_a_recovery_that_gives_up_may_stop_the_run(guard: DriftGuard) -> None:
    planner = Planner()
    graph, path = exhausted(guard, planner, "stop")
    assert path == WATCHED[:3]
    values = graph.get_state(THREAD).values
    assert (values["recovery_route"], values["success"]) == ("stop", None)
    assert values["recovery_verdict"]["outcome"] == "failed"
    assert len(planner.shown) == 1


@pytest.mark.parametrize(
    ("answer", "rest"),
    [
        (True, ["ask_human", *WATCHED[3:]]),
        ("continue", ["ask_human", *WATCHED[3:]]),
        ("no", ["ask_human"]),
        (False, ["ask_human"]),
    ],
)
def test_a_recovery_that_gives_up_may_ask_a_human(
    guard: DriftGuard, answer: Any, rest: list[str]
) -> None:
    graph, path = exhausted(guard, Planner(), "interrupt")
    assert path == [*WATCHED[:3], "__interrupt__"]
    [question] = graph.get_state(THREAD).interrupts
    assert question.value["reason"] == "recovery_failed"
    assert question.value["verdict"]["outcome"] == "failed"
    assert path_of(graph, Command(resume=answer)) == rest


def test_a_recovery_that_gives_up_may_go_on(guard: DriftGuard) -> None:
    assert exhausted(guard, Planner(), "continue")[1] == WATCHED


async def test_the_watched_loop_never_blocks_its_event_loop(guard: DriftGuard) -> None:
    async def plan(_state: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"candidate_action": "look it up"}

    recovery = RecoveryPlan(GIVE_UP, patience=1)
    graph = built(guard, plan, monitor=PROMPT, recovery=recovery)
    first = await graph.ainvoke(said(ATTACK), THREAD)
    assert RULE in first["recovery_scaffold"]["content"]
    await graph.ainvoke(said(ATTACK), THREAD)
    final = await graph.ainvoke(Command(resume=True), THREAD)
    assert final["success"] is True


@dataclass
class DataChat:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)
    candidate_action: Any = None
    feedback: Any = None
    outcome: Any = None
    success: Any = None
    guard_review: Any = None
    guard_warnings_count: int = 0
    guard_confidence: float = 0.0
    guard_top_warning: Any = None
    guard_reinforcements_count: int = 0
    guard_top_reinforcement: Any = None
    guard_bumped: Any = None
    guard_revisions: int = 0
    guard_open: Any = None
    guard_attempts: int = 0
    guard_receipt: Any = None
    guard_run_receipt: Any = None
    drift_state: Any = None
    drift_report: Any = None
    drift_score: Any = None
    drift_alarm: bool = False
    drift_level: Any = None
    recovery_state: Any = None
    recovery_scaffold: Any = None
    recovery_verdict: Any = None
    recovery_route: Any = None


def test_a_dataclass_can_be_the_state(guard: DriftGuard) -> None:
    def plan(state: DataChat) -> dict[str, Any]:
        return {"candidate_action": "look it up" if state.recovery_scaffold else "nothing"}

    graph = built(guard, plan, monitor=PROMPT, state_schema=DataChat)
    final = graph.invoke(said(ATTACK), THREAD)
    assert final["candidate_action"] == "look it up"
