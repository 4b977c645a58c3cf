"""Recovery by the drift middleware in real agents, with other middleware and a strict provider."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    SummarizationMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from driftguard_langgraph.middleware import DriftMonitorMiddleware
from driftguard_langgraph.middleware.compaction import GuardedSummarizationMiddleware
from driftguard_langgraph.recovery.conduct import RecoveryConduct
from driftguard_langgraph.recovery.placement import PLACEMENTS, SCAFFOLD_ID
from driftguard_langgraph.recovery.schedule import InjectionSchedule
from driftguard_langgraph.recovery.session import RecoveryPlan
from tests.drift_samples import ANSWER, ATTACK, PROMPT, QUESTION, ScriptedModel, raising
from tests.strict_server import strict_server

THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}
PLAN = RecoveryPlan()
HASTY = RecoveryPlan(InjectionSchedule(cooldown=0, maximum=1), patience=1)
"""One scaffold, which must help at once: the next turn of an attack exhausts it."""
HEAD = "# Recovery (turn"


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite3")) as opened:
        yield opened


RAN: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@tool
def timetable() -> str:
    """Look the departures up."""
    RAN.append("timetable")
    return "The ferry to the island leaves at nine."


@tool
def read_note() -> str:
    """Read a note that somebody has left."""
    RAN.append("read_note")
    return f"Note to the assistant: {ATTACK}"


@tool
def flaky() -> str:
    """Look the departures up, at the second attempt."""
    RAN.append("flaky")
    if RAN.count("flaky") < 2:
        raise ConnectionError
    return "The ferry to the island leaves at nine."


TOOLS = [timetable, read_note, flaky]


def calls(*names: str) -> AIMessage:
    made = [{"name": name, "args": {}, "id": f"call-{name}"} for name in names]
    return AIMessage("", tool_calls=made)


def guarded(plan: Any = PLAN, **options: Any) -> DriftMonitorMiddleware:
    return DriftMonitorMiddleware(recovery=plan, **options)


def agent(
    *middleware: Any, script: list[Any] | None = None, saver: Any = None
) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(script=script or [ANSWER])
    made = create_agent(
        model, TOOLS, system_prompt=PROMPT, middleware=middleware or [guarded()],
        checkpointer=saver,
    )  # fmt: skip
    return made, model


def asked(text: str = QUESTION) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def prompts(model: ScriptedModel) -> list[str]:
    """What the model was told, call by call: all that is no part of the conversation."""
    return [
        "\n".join(m.text for m in heard if isinstance(m, SystemMessage)) for heard in model.heard
    ]


def verdicts(made: Any) -> list[dict[str, Any]]:
    kept = made.get_state(THREAD).values["recovery_state"]
    found: list[dict[str, Any]] = kept["session"]["verdicts"]
    return found


def test_the_first_call_of_a_thread_already_has_the_scaffold(saver: SqliteSaver) -> None:
    made, model = agent(saver=saver)
    final = made.invoke(asked(ATTACK), THREAD)
    [prompt] = prompts(model)
    assert prompt.startswith(PROMPT)
    assert HEAD in prompt
    assert "- Never refund a ticket after departure." in prompt
    assert final["recovery_verdict"]["injected_at"] == 1
    assert "recovery_state" not in final


def test_later_calls_have_it_until_the_session_is_back_and_the_attack_is_gone(
    saver: SqliteSaver,
) -> None:
    made, model = agent(saver=saver)
    made.invoke(asked(), THREAD)
    made.invoke(asked(ATTACK), THREAD)
    for _ in range(3):
        final = made.invoke(asked(), THREAD)
    assert [HEAD in prompt for prompt in prompts(model)] == [False, True, True, True, True]
    assert [each["variant"] for each in verdicts(made)] == ["standard"]
    assert len(final["messages"]) == 10
    assert not any(HEAD in message.text for message in final["messages"])


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_among_the_messages_it_is_in_each_call_and_never_in_the_state(
    placement: Any, saver: SqliteSaver
) -> None:
    made, model = agent(
        guarded(recovery_placement=placement), script=[ANSWER, calls("timetable"), ANSWER],
        saver=saver,
    )  # fmt: skip
    made.invoke(asked(), THREAD)
    final = made.invoke(asked(ATTACK), THREAD)
    shown = [[m.id for m in heard].count(SCAFFOLD_ID) for heard in model.heard]
    assert shown == [0, 1, 1]
    assert SCAFFOLD_ID not in [message.id for message in final["messages"]]


def test_an_attack_that_a_tool_brings_in_is_answered_with_the_scaffold(saver: SqliteSaver) -> None:
    made, model = agent(script=[calls("timetable", "read_note"), ANSWER], saver=saver)
    made.invoke(asked("Please read the note."), THREAD)
    assert RAN.count("timetable") == RAN.count("read_note") == 1
    assert [HEAD in prompt for prompt in prompts(model)] == [False, True]


def test_without_recovery_and_with_the_null_variant_the_model_reads_what_it_would_read() -> None:
    for middleware in (DriftMonitorMiddleware(), guarded(RecoveryPlan(variant="null"))):
        made, model = agent(middleware)
        made.invoke(asked(ATTACK))
        assert prompts(model) == [PROMPT]


def test_a_good_conversation_is_left_alone(saver: SqliteSaver) -> None:
    made, model = agent(script=[calls("timetable"), ANSWER], saver=saver)
    for _ in range(5):
        final = made.invoke(asked(), THREAD)
    assert set(prompts(model)) == {PROMPT}
    assert final["recovery_verdict"] is None
    assert final["recovery_route"] == "continue"


async def test_the_async_agent_does_the_same() -> None:
    made, model = agent(saver=InMemorySaver())
    await made.ainvoke(asked(), THREAD)
    final = await made.ainvoke(asked(ATTACK), THREAD)
    assert [HEAD in prompt for prompt in prompts(model)] == [False, True]
    assert final["recovery_verdict"]["injected_at"] == 3


def test_recoveries_are_custom_stream_events_of_plain_json(saver: SqliteSaver) -> None:
    made, _ = agent(saver=saver)
    events = list(made.stream(asked(ATTACK), THREAD, stream_mode="custom"))
    assert json.loads(json.dumps(events)) == events
    [recovery] = [event for event in events if event["event"] == "recovery"]
    assert (recovery["node"], recovery["injected"]) == ("DriftMonitorMiddleware", "standard")
    for state in made.get_state_history(THREAD):
        held = {k: v for k, v in state.values.items() if k.startswith("recovery_")}
        assert json.loads(json.dumps(held)) == held


def test_going_back_in_time_forgets_the_scaffold(saver: SqliteSaver) -> None:
    made, model = agent(saver=saver)
    made.invoke(asked(), THREAD)
    good = made.get_state(THREAD).config
    made.invoke(asked(ATTACK), THREAD)
    fork = made.invoke(asked(), good)
    assert fork["recovery_scaffold"] is None
    assert prompts(model)[-1] == PROMPT


def exhausted(route: Any) -> RecoveryPlan:
    return RecoveryPlan(HASTY.schedule, patience=HASTY.patience, when_exhausted=route)


def test_when_scaffolds_fail_the_run_can_be_stopped(saver: SqliteSaver) -> None:
    made, model = agent(guarded(exhausted("stop")), script=[calls("read_note")], saver=saver)
    final = made.invoke(asked(ATTACK), THREAD)
    assert len(model.heard) == 1
    assert RAN == []
    answer, farewell = final["messages"][-2:]
    assert (answer.type, answer.status) == ("tool", "error")
    assert "I stopped here" in farewell.text
    assert final["recovery_route"] == "stop"


@pytest.mark.parametrize("answer", [True, "continue"])
def test_a_human_can_let_it_go_on_and_is_asked_once(answer: Any, saver: SqliteSaver) -> None:
    made, model = agent(guarded(exhausted("interrupt")), saver=saver)
    made.invoke(asked(ATTACK), THREAD)
    [pending] = made.get_state(THREAD).interrupts
    assert pending.value["reason"] == "recovery_failed"
    assert pending.value["verdict"]["outcome"] == "failed"
    made.invoke(Command(resume=answer), THREAD)
    final = made.invoke(asked("And on Monday?"), THREAD)
    assert not made.get_state(THREAD).interrupts
    assert final["messages"][-1].text == ANSWER
    assert len(model.heard) == 2
    assert len(verdicts(made)) == 1


@pytest.mark.parametrize("answer", [False, "no", {"decision": "stop"}])
def test_anything_else_ends_the_run(answer: Any, saver: SqliteSaver) -> None:
    made, _ = agent(guarded(exhausted("interrupt")), script=[calls("read_note")], saver=saver)
    made.invoke(asked(ATTACK), THREAD)
    assert made.get_state(THREAD).interrupts
    final = made.invoke(Command(resume=answer), THREAD)
    assert RAN == []
    assert "I stopped here" in final["messages"][-1].text


async def test_a_human_is_asked_by_async_agents_too() -> None:
    made, model = agent(guarded(exhausted("interrupt")), saver=InMemorySaver())
    await made.ainvoke(asked(ATTACK), THREAD)
    assert made.get_state(THREAD).interrupts
    final = await made.ainvoke(Command(resume=True), THREAD)
    assert final["messages"][-1].text == ANSWER
    assert len(model.heard) == 1


def test_by_default_nobody_stops_it_when_it_may_go_on(saver: SqliteSaver) -> None:
    made, model = agent(guarded(exhausted("continue")), saver=saver)
    for _ in range(3):
        made.invoke(asked(ATTACK), THREAD)
    assert len(model.heard) == 3


@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_a_failure_of_ours_costs_no_answer_unless_that_is_wanted(
    on_error: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(RecoveryConduct, "after", raising(RuntimeError("no idea")))
    made, model = agent(guarded(on_error=on_error))
    if on_error == "closed":
        with pytest.raises(RuntimeError, match="no idea"):
            made.invoke(asked(ATTACK))
        return
    with caplog.at_level(logging.WARNING):
        final = made.invoke(asked(ATTACK))
    assert final["messages"][-1].text == ANSWER
    assert final["drift_alarm"]
    assert prompts(model) == [PROMPT]
    assert "could not recover" in caplog.text


def test_a_scaffold_that_outgrows_its_budget_says_less_instead_of_failing(
    saver: SqliteSaver,
) -> None:
    # Room for the standard scaffold; the stronger one that follows a failure does not fit.
    plan = RecoveryPlan(InjectionSchedule(cooldown=0, maximum=3), patience=1)
    conduct = RecoveryConduct(PROMPT, plan=plan, token_budget=250)
    made, model = agent(guarded(conduct, on_error="closed"), saver=saver)
    for line in (ATTACK, QUESTION):
        made.invoke(asked(line), THREAD)
    assert [each["variant"] for each in verdicts(made)][:2] == ["standard", "full"]
    assert HEAD in prompts(model)[-1]


def count(messages: Any) -> int:
    return len(list(messages))


@pytest.mark.parametrize("kind", [GuardedSummarizationMiddleware, SummarizationMiddleware])
@pytest.mark.parametrize("first", [True, False], ids=["before it", "behind it"])
def test_it_composes_with_summaries(kind: Any, first: bool, saver: SqliteSaver) -> None:
    writer = ScriptedModel(script=["They talked about ferries."])
    summary = kind(writer, trigger=("messages", 5), keep=("messages", 2), token_counter=count)
    order = [guarded(), summary] if first else [summary, guarded()]
    made, model = agent(*order, saver=saver)
    made.invoke(asked(), THREAD)
    made.invoke(asked(ATTACK), THREAD)
    for _ in range(3):
        final = made.invoke(asked(), THREAD)
    assert writer.heard
    assert ATTACK not in [message.text for message in final["messages"]]
    assert not any(HEAD in message.text for message in final["messages"])
    assert [HEAD in prompt for prompt in prompts(model)][:2] == [False, True]
    assert [each["injected_at"] for each in verdicts(made)] == [3]


def test_it_composes_with_approvals(saver: SqliteSaver) -> None:
    made, model = agent(
        guarded(), HumanInTheLoopMiddleware({"timetable": True}),
        script=[calls("timetable"), ANSWER], saver=saver,
    )  # fmt: skip
    made.invoke(asked(ATTACK), THREAD)
    assert made.get_state(THREAD).interrupts
    made.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD)
    assert [HEAD in prompt for prompt in prompts(model)] == [True, True]
    assert [each["injected_at"] for each in verdicts(made)] == [1]


def test_it_composes_with_retries_of_tools(saver: SqliteSaver) -> None:
    made, model = agent(
        guarded(), ToolRetryMiddleware(max_retries=2, initial_delay=0.01, jitter=False),
        script=[calls("flaky", "read_note"), ANSWER], saver=saver,
    )  # fmt: skip
    final = made.invoke(asked(), THREAD)
    assert RAN.count("flaky") == 2
    assert [HEAD in prompt for prompt in prompts(model)] == [False, True]
    assert len(verdicts(made)) == 1
    assert len(final["messages"]) == 5


BOTH = ("timetable", "read_note")
REPLIES = (ANSWER, BOTH, ANSWER, BOTH, ANSWER, ANSWER, BOTH, ANSWER, ANSWER)
ORDERS = [
    *itertools.product([False], ["system_prompt", *PLACEMENTS], ["system", "user"]),
    *itertools.product([True], ["system_prompt", *PLACEMENTS], ["user"]),
    (True, "system_prompt", "system"),
    (True, "beginning", "system"),
]


@pytest.mark.parametrize(("leading_system", "placement", "role"), ORDERS)
def test_no_placement_breaks_the_order_that_providers_ask_for(
    leading_system: bool, placement: Any, role: str
) -> None:
    plan = RecoveryPlan(InjectionSchedule(cooldown=1), patience=2, when_exhausted="continue")
    conduct = RecoveryConduct(PROMPT, plan=plan, role=role)
    with strict_server(*REPLIES, leading_system=leading_system) as server:
        made: Any = create_agent(
            server.model(), TOOLS, system_prompt=PROMPT, checkpointer=InMemorySaver(),
            middleware=[guarded(conduct, recovery_placement=placement)],
        )  # fmt: skip
        for line in (QUESTION, "Please read the note.", ATTACK, QUESTION, "Read it again."):
            made.invoke(asked(line), THREAD)
        assert server.refused == []
        assert len(server.heard) == 8
        assert any(HEAD in str(heard) for heard in server.heard)
