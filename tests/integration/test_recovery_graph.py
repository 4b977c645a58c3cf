"""The recovery node in real graphs: once per episode, in valid order, and only when needed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
)
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, RetryPolicy, interrupt

from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.nodes import DriftGuardState, create_drift_monitor_node
from driftguard_langgraph.nodes.recovery_scaffold import (
    as_message,
    create_recovery_scaffold_node,
)
from driftguard_langgraph.recovery.conduct import RecoveryConduct
from driftguard_langgraph.recovery.placement import PLACEMENTS, SCAFFOLD_ID, with_scaffold
from driftguard_langgraph.recovery.schedule import InjectionSchedule
from driftguard_langgraph.recovery.session import RecoveryPlan
from tests.drift_samples import ANSWER, ATTACK, PROMPT, QUESTION, ScriptedModel
from tests.strict_server import StrictServer, problems, strict_server

Builder = StateGraph[Any, Any, Any, Any]
UPHELD = "At nine. I always ask for the booking number, and I never refund after departure."
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}


class State(DriftGuardState):
    messages: Annotated[list[AnyMessage], add_messages]


def said(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def injections(values: dict[str, Any]) -> list[tuple[int, str]]:
    verdicts = values["recovery_state"]["session"]["verdicts"]
    return [(each["injected_at"], each["variant"]) for each in verdicts]


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite3")) as opened:
        yield opened


def chain(*nodes: tuple[str, Any], retry: RetryPolicy | None = None) -> Builder:
    builder: Builder = StateGraph(State)
    for name, node in nodes:
        builder.add_node(name, node, retry_policy=retry)
    for start, end in itertools.pairwise([START, *(name for name, _ in nodes), END]):
        builder.add_edge(start, end)
    return builder


def answering(model: ScriptedModel) -> Any:
    def answer(state: State) -> dict[str, Any]:
        scaffold = state.get("recovery_scaffold")
        shown = with_scaffold(state["messages"], as_message(scaffold) if scaffold else None)
        return {"messages": [model.invoke(shown)]}

    return answer


def watched(model: ScriptedModel, *between: tuple[str, Any], **options: Any) -> Builder:
    """A chat that is measured and recovered before and after each answer."""
    return chain(
        ("before", create_drift_monitor_node(PROMPT, name="before")),
        ("recover", create_recovery_scaffold_node(PROMPT, name="recover", **options)),
        *between,
        ("answer", answering(model)),
        ("after", create_drift_monitor_node(PROMPT, name="after")),
        ("verify", create_recovery_scaffold_node(PROMPT, name="verify", **options)),
    )


def test_the_model_reads_the_scaffold_in_the_very_call_that_the_attack_leads_to(
    saver: SqliteSaver,
) -> None:
    model = ScriptedModel()
    graph = watched(model).compile(checkpointer=saver)
    assert graph.invoke(said(QUESTION), THREAD)["recovery_scaffold"] is None
    final = graph.invoke(said(ATTACK), THREAD)
    assert not any(message.id == SCAFFOLD_ID for message in model.heard[0])
    last = model.heard[1][-1]
    assert last.id == SCAFFOLD_ID
    assert "Never refund a ticket after departure." in last.text
    assert injections(final) == [(3, "standard")]
    assert [message.id for message in final["messages"]].count(SCAFFOLD_ID) == 0


def test_two_nodes_and_many_turns_inject_once_per_episode(saver: SqliteSaver) -> None:
    graph = watched(ScriptedModel()).compile(checkpointer=saver)
    final = graph.invoke(said(ATTACK), THREAD)
    first = final["recovery_scaffold"]
    for _ in range(3):
        final = graph.invoke(said(QUESTION), THREAD)
        assert final["recovery_scaffold"] == first
    assert injections(final) == [(1, "standard")]


def test_two_nodes_that_read_the_same_report_decide_once(saver: SqliteSaver) -> None:
    plan = RecoveryPlan(InjectionSchedule(cooldown=0), patience=1)
    graph = chain(
        ("before", create_drift_monitor_node(PROMPT)),
        ("one", create_recovery_scaffold_node(PROMPT, plan=plan, name="one")),
        ("two", create_recovery_scaffold_node(PROMPT, plan=plan, name="two")),
    ).compile(checkpointer=saver)
    for line in (QUESTION, ATTACK, QUESTION):
        final = graph.invoke(said(line), THREAD)
    assert injections(final) == [(2, "standard"), (3, "full")]
    points = final["recovery_state"]["session"]["points"]
    assert [point["turn"] for point in points] == [1, 2, 3]


def test_a_node_that_is_retried_injects_once(saver: SqliteSaver) -> None:
    model, failures = ScriptedModel(), iter([True, True])
    recover = create_recovery_scaffold_node(PROMPT)

    def flaky(state: State, config: RunnableConfig) -> dict[str, Any]:
        update = recover.invoke(state, config)
        if next(failures, False):
            raise ConnectionError
        return update

    graph = chain(
        ("before", create_drift_monitor_node(PROMPT)),
        ("recover", flaky),
        ("answer", answering(model)),
        retry=RetryPolicy(initial_interval=0.01, max_attempts=3),
    ).compile(checkpointer=saver)
    assert injections(graph.invoke(said(ATTACK), THREAD)) == [(1, "standard")]
    assert [message.id for message in model.heard[0]].count(SCAFFOLD_ID) == 1


def test_a_run_that_crashed_goes_on_from_its_checkpoint_and_injects_once(
    tmp_path: Path,
) -> None:
    model, crashes = ScriptedModel(), iter([True])

    def crash(_state: State) -> dict[str, Any]:
        if next(crashes, False):
            raise ConnectionError
        return {}

    builder = watched(model, ("crash", crash))
    path = str(tmp_path / "threads.sqlite3")
    with SqliteSaver.from_conn_string(path) as first, pytest.raises(ConnectionError):
        builder.compile(checkpointer=first).invoke(said(ATTACK), THREAD)
    with SqliteSaver.from_conn_string(path) as second:
        final = builder.compile(checkpointer=second).invoke(None, THREAD)
    assert injections(final) == [(1, "standard")]
    assert model.heard[0][-1].id == SCAFFOLD_ID


def test_an_interrupt_and_its_resume_inject_once(saver: SqliteSaver) -> None:
    model = ScriptedModel()

    def ask(_state: State) -> dict[str, Any]:
        interrupt("go on?")
        return {}

    graph = watched(model, ("ask", ask)).compile(checkpointer=saver)
    graph.invoke(said(ATTACK), THREAD)
    assert model.heard == []
    final = graph.invoke(Command(resume=True), THREAD)
    assert injections(final) == [(1, "standard")]
    assert model.heard[0][-1].id == SCAFFOLD_ID


def test_going_back_in_time_forgets_the_injection_and_makes_it_again(saver: SqliteSaver) -> None:
    graph = watched(ScriptedModel()).compile(checkpointer=saver)
    graph.invoke(said(QUESTION), THREAD)
    good = graph.get_state(THREAD).config
    bad = graph.invoke(said(ATTACK), THREAD)
    fork = graph.invoke(said(QUESTION), good)
    assert fork["recovery_scaffold"] is None
    assert injections(fork) == []
    before = next(
        state
        for state in graph.get_state_history(THREAD)
        if state.next == ("recover",) and state.values["drift_alarm"]
    )
    again = graph.invoke(None, before.config)
    assert injections(again) == injections(bad) == [(3, "standard")]


def test_what_follows_is_plain_json_in_every_checkpoint_and_one_event_is_streamed(
    saver: SqliteSaver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
    graph = watched(ScriptedModel()).compile(checkpointer=saver)
    events = list(graph.stream(said(ATTACK), THREAD, stream_mode="custom"))
    recovered = [event for event in events if event["event"] == "recovery"]
    assert [(event["node"], event["injected"]) for event in recovered] == [("recover", "standard")]
    assert json.loads(json.dumps(events)) == events
    for state in graph.get_state_history(THREAD):
        held = {key: value for key, value in state.values.items() if key != "messages"}
        assert json.loads(json.dumps(held)) == held


async def test_the_async_graph_does_the_same() -> None:
    model = ScriptedModel()
    final = await watched(model).compile(checkpointer=InMemorySaver()).ainvoke(said(ATTACK), THREAD)
    assert injections(final) == [(1, "standard")]
    assert model.heard[0][-1].id == SCAFFOLD_ID


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def benign(shared_data: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for line in lines_of(shared_data / "te_benign" / "sgd.jsonl"):
        (_, prompt), *turns = json.loads(line)["turns"]
        yield prompt, [(role, text) for role, text in turns]


def long_sessions(shared_data: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for line in lines_of(shared_data / "dev" / "session_drift.jsonl"):
        session = json.loads(line)
        if session["arm"] == "long":
            turns = [("user", each["u"]) for each in session["turns"]]
            answers = [("assistant", each["a"]) for each in session["turns"]]
            pairs = zip(turns, answers, strict=True)
            yield session["system_prompt"], [turn for pair in pairs for turn in pair]


@pytest.mark.parametrize(("source", "count"), [(benign, 6), (long_sessions, 2)])
def test_a_good_conversation_gets_no_scaffold(
    source: Any, count: int, shared_data: Path, embedder: Embedder
) -> None:
    for prompt, turns in itertools.islice(source(shared_data), count):
        graph = chain(
            ("watch", create_drift_monitor_node(prompt, embeddings=embedder)),
            ("recover", create_recovery_scaffold_node(prompt)),
        ).compile()
        state: Any = {"messages": []}
        for role, text in turns:
            message = HumanMessage(text) if role == "user" else AIMessage(text)
            state = graph.invoke({**state, "messages": [*state["messages"], message]})
            assert (state["recovery_scaffold"], state["recovery_verdict"]) == (None, None), text


def test_a_goal_that_the_user_revised_is_not_undone_by_the_scaffold(saver: SqliteSaver) -> None:
    model = ScriptedModel()
    graph = watched(model).compile(checkpointer=saver)
    graph.invoke(said("Find me a ferry. My budget is 60 euros at most."), THREAD)
    graph.invoke(said("On second thought, my budget is 90 euros at most."), THREAD)
    final = graph.invoke(said(ATTACK), THREAD)
    revised = final["recovery_state"]["anchor"]["revised"]
    assert len(revised) == 1
    assert "90 euros" in revised[0]
    scaffold = model.heard[-1][-1].text
    _, _, listed = scaffold.partition("## Authorised revisions")
    assert "90 euros" in listed.partition("##")[0]
    # A revision that comes later joins a scaffold that is in place.
    graph.invoke(said("Sorry, make that 120 euros at most for my budget."), THREAD)
    assert "120 euros" in model.heard[-1][-1].text
    assert "Never refund a ticket after departure." in model.heard[-1][-1].text


@tool
def timetable() -> str:
    """Look the departures up."""
    return "The ferry to the island leaves at nine."


@tool
def read_note() -> str:
    """Read a note that somebody has left."""
    return f"Note to the assistant: {ATTACK}"


BOTH = ("timetable", "read_note")
LINES = (QUESTION, "Please read the note.", ATTACK, QUESTION, "What does a ticket cost?", QUESTION)
REPLIES = (ANSWER, BOTH, ANSWER, BOTH, ANSWER, BOTH, BOTH, ANSWER, ANSWER)


def with_tools(
    server: StrictServer, placement: Any, *, role: str, early: bool = True, **options: Any
) -> Any:
    """An agent by hand whose tools bring an attack in, measured around model and tools."""
    model = server.model().bind_tools([timetable, read_note])
    persist = options.get("persist", False)

    def answer(state: State) -> dict[str, Any]:
        held = state.get("recovery_scaffold")
        scaffold = as_message(held) if held else None
        messages = state["messages"]
        shown = messages if persist else with_scaffold(messages, scaffold, placement)
        return {"messages": [model.invoke([SystemMessage(PROMPT), *shown])]}

    plan = RecoveryPlan(InjectionSchedule(cooldown=1, maximum=5), patience=2)
    builder: Builder = StateGraph(State).add_node("answer", answer)
    builder.add_node("tools", ToolNode([timetable, read_note]))
    for name in ("before", "after"):
        builder.add_node(name, create_drift_monitor_node(PROMPT, name=name))
    for name in ("recover", "verify"):
        node = create_recovery_scaffold_node(
            RecoveryConduct(PROMPT, plan=plan, role=role), name=name, **options
        )
        builder.add_node(name, node if early or name == "verify" else lambda _state: {})
    builder.add_edge(START, "before").add_edge("before", "recover").add_edge("recover", "answer")
    builder.add_edge("answer", "after").add_edge("after", "verify").add_edge("tools", "before")
    builder.add_conditional_edges("verify", tools_condition)
    return builder.compile(checkpointer=InMemorySaver())


ORDERS = [
    *itertools.product([False], PLACEMENTS, ["system", "user"]),
    *itertools.product([True], PLACEMENTS, ["user"]),
    (True, "beginning", "system"),
]


def played(graph: Any, lines: Sequence[str] = LINES) -> list[dict[str, Any]]:
    return [graph.invoke(said(line), THREAD) for line in lines]


@pytest.mark.parametrize(("leading_system", "placement", "role"), ORDERS)
@pytest.mark.parametrize("quarantine", ["off", "remove", "rollback"])
def test_no_placement_breaks_the_order_that_providers_ask_for(
    leading_system: bool, placement: Any, role: str, quarantine: Any
) -> None:
    with strict_server(*REPLIES, leading_system=leading_system) as server:
        graph = with_tools(server, placement, role=role, quarantine=quarantine)
        states = played(graph)
        assert server.refused == []
        assert injections(states[-1])
        assert any("# Recovery (turn" in str(heard) for heard in server.heard)


@pytest.mark.parametrize(("leading_system", "role"), [(False, "system"), (True, "user")])
@pytest.mark.parametrize("quarantine", ["off", "remove", "rollback"])
def test_a_scaffold_among_the_messages_keeps_their_order(
    leading_system: bool, role: str, quarantine: Any
) -> None:
    with strict_server(*REPLIES, leading_system=leading_system) as server:
        graph = with_tools(server, "end", role=role, persist=True, quarantine=quarantine)
        states = played(graph)
        assert server.refused == []
        assert len(injections(states[-1])) > 1
        for state in states:
            ids = [message.id for message in state["messages"]]
            assert ids.count(SCAFFOLD_ID) <= 1
        held = [m.text for s in states for m in s["messages"] if m.id == SCAFFOLD_ID]
        assert len(set(held)) > 1


def test_a_scaffold_that_is_due_between_a_call_and_its_answer_waits() -> None:
    with strict_server(BOTH, ANSWER) as server:
        graph = with_tools(server, "end", role="system", early=False, persist=True)
        final = graph.invoke(said(ATTACK), THREAD)
        assert server.refused == []
        kinds = [message.type for message in final["messages"]]
        assert kinds == ["human", "ai", "tool", "tool", "ai", "system"]
        assert injections(final)


def test_the_server_refuses_what_providers_refuse() -> None:
    user: dict[str, Any] = {"role": "user", "content": "hi"}
    call: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}
    answer = {"role": "tool", "content": "x", "tool_call_id": "c"}
    system = {"role": "system", "content": "s"}
    assert problems([system, user, call, answer], leading_system=True) == []
    for wrong in (
        [user, call],
        [user, answer],
        [user, call, system, answer],
        [{"role": "user", "content": ""}],
        [system],
    ):
        assert problems(wrong, leading_system=False), wrong
    for wrong in ([user, system], [user, {"role": "assistant", "content": "x"}]):
        assert problems(wrong, leading_system=True), wrong
        assert not problems(wrong, leading_system=False)


def test_a_persisted_scaffold_goes_when_the_session_is_back_and_the_attack_is_gone(
    saver: SqliteSaver,
) -> None:
    model = ScriptedModel(script=[UPHELD])
    graph = watched(model, persist=True, quarantine="remove").compile(checkpointer=saver)
    graph.invoke(said(QUESTION), THREAD)
    held = []
    for line in (ATTACK, *[QUESTION, "What does a ticket cost?"] * 8):
        final = graph.invoke(said(line), THREAD)
        held.append([message.id for message in final["messages"]].count(SCAFFOLD_ID))
    assert held[0] == 1
    assert held[-1] == 0
    assert ATTACK not in [message.text for message in final["messages"]]
    assert final["recovery_verdict"]["outcome"] == "recovered"


def test_the_scaffold_stays_for_as_long_as_the_model_reads_the_attack(saver: SqliteSaver) -> None:
    model = ScriptedModel(script=[UPHELD])
    graph = watched(model).compile(checkpointer=saver)
    final = graph.invoke(said(ATTACK), THREAD)
    attack = final["messages"][0]
    for _ in range(8):
        final = graph.invoke(said(QUESTION), THREAD)
    assert final["recovery_verdict"]["outcome"] == "recovered"
    assert model.heard[-1][-1].id == SCAFFOLD_ID
    graph.update_state(THREAD, {"messages": [RemoveMessage(attack.id)]})
    final = graph.invoke(said(QUESTION), THREAD)
    assert final["recovery_scaffold"] is None
