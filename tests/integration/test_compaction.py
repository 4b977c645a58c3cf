from __future__ import annotations

import json
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.runtime import Runtime
from langgraph.types import Command

from driftguard_langgraph.drift.turns import is_own_scaffold
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.middleware.compaction import GuardedSummarizationMiddleware
from driftguard_langgraph.middleware.drift import DriftMonitorMiddleware
from driftguard_langgraph.nodes.compaction import create_compaction_guard_node
from driftguard_langgraph.nodes.drift_monitor import create_drift_monitor_node
from driftguard_langgraph.recovery.anchor import Anchor
from driftguard_langgraph.recovery.compaction.guard import must_stand
from tests.drift_samples import ANSWER, ATTACK, PROMPT, ScriptedModel

RULES = must_stand(Anchor.of(PROMPT))
LOSSY = "A passenger asked about a ticket."
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}
TALK: list[AnyMessage] = [
    HumanMessage("I am Ines Carvalho, my booking is FB-2209 and I paid $64."),
    AIMessage("Thank you, I have found booking FB-2209."),
    HumanMessage("It is for the ferry on 14 March 2026, is that right?"),
    AIMessage("Yes, it leaves at 9:15."),
    HumanMessage("May I take a suitcase on board?"),
]
FACTS = ("Ines Carvalho", "FB-2209", "$64", "14 March 2026", "9:15")


@tool
def timetable(day: str) -> str:
    """Look the departures of a day up."""
    return f"On {day} the ferry leaves at 7:40."


def guard(summary: str = LOSSY, **options: Any) -> GuardedSummarizationMiddleware:
    return GuardedSummarizationMiddleware(
        ScriptedModel(script=[summary]),
        trigger=("messages", 5),
        keep=("messages", 1),
        **options,
    )


def agent(*middleware: Any, script: Any = (ANSWER,), **options: Any) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(script=list(script))
    made = create_agent(
        model, [timetable], system_prompt=PROMPT, middleware=list(middleware), **options
    )
    return made, model


def summary_of(messages: list[BaseMessage]) -> str:
    (found,) = [m for m in messages if m.additional_kwargs.get("lc_source") == "summarization"]
    assert not is_own_scaffold(found)
    assert isinstance(found, HumanMessage)
    return str(found.text)


async def test_the_facts_and_rules_that_a_summary_lost_reach_the_model_again() -> None:
    for way in ("invoke", "ainvoke"):
        made, model = agent(guard(anchor_or_baseline=PROMPT))
        given = {"messages": [message.model_copy() for message in TALK]}
        final = made.invoke(given) if way == "invoke" else await made.ainvoke(given)
        read = summary_of(model.heard[0])
        assert read.startswith(f"Here is a summary of the conversation to date:\n\n{LOSSY}")
        assert all(fact in read for fact in FACTS)
        assert all(f"- {rule}" in read for rule in RULES)
        receipt = final["compaction_receipt"]
        assert json.loads(json.dumps(receipt)) == receipt
        assert receipt["dropped_constraints"] == list(RULES)
        assert {each["text"] for each in receipt["dropped"]} >= set(FACTS)


def test_langchains_own_summary_loses_them() -> None:
    plain = SummarizationMiddleware(
        ScriptedModel(script=[LOSSY]), trigger=("messages", 5), keep=("messages", 1)
    )
    made, model = agent(plain)
    made.invoke({"messages": TALK})
    assert not any(fact in summary_of(model.heard[0]) for fact in FACTS)


def test_every_summary_of_a_thread_keeps_what_the_first_user_message_said() -> None:
    made, model = agent(guard(), checkpointer=InMemorySaver())
    rule = "Never book me a seat near the engine."
    first = [HumanMessage(f"Book a trip for Ines Carvalho, code FB-2209. {rule}"), *TALK[1:]]
    final = made.invoke({"messages": first}, THREAD)
    for number in range(8):
        final = made.invoke({"messages": [HumanMessage(f"Is seat {number + 20} free?")]}, THREAD)
    read = summary_of(model.heard[-1])
    assert f"- {rule}" in read
    assert "FB-2209" in read
    assert "compaction_anchor" not in final
    assert read.count("[driftguard: kept through compaction]") == 1


def test_there_is_no_receipt_before_the_first_summary() -> None:
    made, _ = agent(guard())
    assert "compaction_receipt" not in made.invoke({"messages": TALK[:1]})


def test_a_receipt_without_restoring_leaves_the_summary_alone() -> None:
    made, model = agent(guard(anchor_or_baseline=PROMPT, restore=False))
    final = made.invoke({"messages": TALK})
    assert summary_of(model.heard[0]).endswith(LOSSY)
    assert final["compaction_receipt"]["restored"] == 0


def test_the_receipt_is_a_stream_event() -> None:
    made, _ = agent(guard())
    events = list(made.stream({"messages": TALK}, stream_mode="custom"))
    (event,) = [each for each in events if each["event"] == "compaction"]
    assert (event["type"], event["node"]) == ("driftguard", "GuardedSummarizationMiddleware")
    assert event["dropped_count"] > 0


def test_a_tool_call_stays_with_its_answer() -> None:
    call = {"name": "timetable", "args": {"day": "Sunday"}, "id": "call-1"}
    made, model = agent(guard(), script=(AIMessage("", tool_calls=[call]), ANSWER))
    made.invoke({"messages": TALK})
    for heard in model.heard:
        open_calls: set[str] = set()
        for message in heard:
            if isinstance(message, ToolMessage):
                assert message.tool_call_id in open_calls
                open_calls.discard(message.tool_call_id)
            else:
                assert not open_calls
            if isinstance(message, AIMessage):
                open_calls |= {str(each["id"]) for each in message.tool_calls}
        assert not open_calls


def test_a_poisoned_summary_raises_the_alarm() -> None:
    made, _ = agent(DriftMonitorMiddleware(PROMPT), guard(f"{LOSSY} {ATTACK}"))
    report = made.invoke({"messages": TALK})["drift_report"]
    assert report["alarm"]
    assert any(each["channel"] == "scaffold" for each in report["anomalies"])


def test_an_honest_summary_with_all_that_was_restored_raises_none() -> None:
    watch = DriftMonitorMiddleware(PROMPT)
    made, model = agent(watch, guard(anchor_or_baseline=PROMPT), checkpointer=InMemorySaver())
    final = made.invoke({"messages": TALK}, THREAD)
    assert all(f"- {rule}" in summary_of(model.heard[0]) for rule in RULES)
    assert not final["drift_alarm"]
    assert final["drift_level"] == "NORMAL"


class Summed(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    summary: str
    compaction_receipt: dict[str, Any]
    compaction_anchor: dict[str, Any]
    drift_alarm: bool
    drift_state: dict[str, Any]
    drift_report: dict[str, Any]


def shorten(state: Summed) -> dict[str, Any]:
    gone = [RemoveMessage(id=str(each.id)) for each in state["messages"][:-1]]
    return {"summary": LOSSY, "messages": gone}


async def ashorten(state: Summed) -> dict[str, Any]:
    return shorten(state)


def shorten_all(state: Summed, config: RunnableConfig, runtime: Runtime[Any]) -> Command[str]:
    assert config["configurable"]
    runtime.stream_writer({"event": "written"})
    kept = [RemoveMessage(id=REMOVE_ALL_MESSAGES), state["messages"][-1]]
    return Command(update={"summary": LOSSY, "messages": kept})


def graph_with(node: Any, *after: Any) -> Any:
    builder = StateGraph(Summed)
    names = ["summarize", *(f"after_{place}" for place in range(len(after)))]
    for name, each in zip(names, (node, *after), strict=True):
        builder.add_node(name, each)
    for one, other in zip([START, *names], [*names, END], strict=True):
        builder.add_edge(one, other)
    return builder.compile(checkpointer=InMemorySaver())


@pytest.mark.parametrize(
    "summarizer",
    [shorten, shorten_all, RunnableLambda(shorten), lambda _state: LOSSY],
    ids=["node", "command", "runnable", "text"],
)
def test_a_running_summary_keeps_facts_and_rules(summarizer: Any) -> None:
    graph = graph_with(create_compaction_guard_node(summarizer, anchor_or_baseline=PROMPT))
    final = graph.invoke({"messages": TALK}, THREAD)
    assert final["summary"].startswith(LOSSY)
    assert all(fact in final["summary"] for fact in FACTS)
    assert all(f"- {rule}" in final["summary"] for rule in RULES)
    assert final["compaction_receipt"]["dropped_constraints"] == list(RULES)


async def test_an_async_summarizer_is_awaited() -> None:
    graph = graph_with(create_compaction_guard_node(ashorten, anchor_or_baseline=PROMPT))
    final = await graph.ainvoke({"messages": TALK}, THREAD)
    assert all(f"- {rule}" in final["summary"] for rule in RULES)
    assert [message.content for message in final["messages"]] == [TALK[-1].content]


def test_the_rules_of_the_first_messages_outlive_them() -> None:
    graph = graph_with(create_compaction_guard_node(shorten))
    graph.invoke({"messages": [SystemMessage(PROMPT), *TALK]}, THREAD)
    for number in range(3):
        more = [HumanMessage(f"Question {number}?"), HumanMessage("And?")]
        final = graph.invoke({"messages": more}, THREAD)
    assert all(f"- {rule}" in final["summary"] for rule in RULES)
    assert "FB-2209" in final["summary"]
    assert final["summary"].count("[driftguard: kept through compaction]") == 1


def test_a_node_that_writes_no_summary_passes_through() -> None:
    graph = graph_with(create_compaction_guard_node(lambda _state: {}))
    assert "compaction_receipt" not in graph.invoke({"messages": TALK}, THREAD)


def test_a_poisoned_running_summary_raises_the_alarm() -> None:
    for summarizer, alarm in ((lambda _state: f"{LOSSY} {ATTACK}", True), (shorten, False)):
        graph = graph_with(
            create_compaction_guard_node(summarizer, anchor_or_baseline=PROMPT),
            create_drift_monitor_node(PROMPT),
        )
        assert graph.invoke({"messages": TALK}, THREAD)["drift_alarm"] is alarm


def test_what_cannot_be_used_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="summarizer must be"):
        create_compaction_guard_node(3)
    with pytest.raises(ConfigurationError, match="summary_key"):
        create_compaction_guard_node(shorten, summary_key="")
    with pytest.raises(ConfigurationError, match="baseline"):
        GuardedSummarizationMiddleware(ScriptedModel(), anchor_or_baseline="")
    graph = graph_with(create_compaction_guard_node(lambda _state: 7))
    with pytest.raises(ConfigurationError, match="must return the summary"):
        graph.invoke({"messages": TALK}, THREAD)
