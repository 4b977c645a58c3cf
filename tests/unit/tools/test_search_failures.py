from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.store.memory import InMemoryStore

from driftguard_langgraph import (
    ConfigurationError,
    DriftGuard,
    DriftGuardCallbackHandler,
    DriftGuardMiddleware,
    DriftGuardSettings,
    EphemeralMemoryStore,
    LangGraphMemoryStore,
    create_search_failures_tool,
    guard_tool_call,
)
from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.judgement.settlement import kept_in
from driftguard_langgraph.testing.samples import SeededEmbedder
from tests.drift_samples import ScriptedModel, raising

STEP = "delete the temp directory"
CALL = {"name": "search_past_failures", "args": {"step": STEP}, "id": "c1", "type": "tool_call"}


def guard(**options: Any) -> DriftGuard:
    chosen = {"store": EphemeralMemoryStore(), "embeddings": SeededEmbedder(), **options}
    return DriftGuard(**chosen)


def test_what_failed_and_what_worked_is_told_and_the_artifact_is_plain_json() -> None:
    memory = guard()
    memory.record_success(STEP, "done", "room on the disk")
    memory.record(STEP, "cache was\nwiped", "a slow build")
    answer = create_search_failures_tool(memory).invoke(CALL)
    assert isinstance(answer, ToolMessage)
    assert "It failed once" in str(answer.content)
    assert "It worked once" in str(answer.content)
    assert '"cache was wiped"' in str(answer.content)
    assert json.loads(json.dumps(answer.artifact))["warnings"][0]["outcome_text"] == "a slow build"


def test_the_artifact_is_bounded_and_the_step_can_still_be_settled_with_it() -> None:
    memory = guard()
    for number in range(9):
        memory.record(STEP, f"feedback {number} " + "x" * 9_000, f"outcome {number} " + "y" * 9_000)
        memory.record_success(STEP, f"fine {number} " + "x" * 9_000, "z" * 9_000)
    answer = create_search_failures_tool(memory, limit=2).invoke(CALL)
    assert len(answer.artifact["warnings"]) == 2
    assert len(json.dumps(answer.artifact)) < 40_000
    receipt = memory.record(STEP, "failed", "again", review=answer.artifact)
    kept = memory.store.get(memory.namespace, receipt["episode_id"])
    assert kept is not None
    assert [each.role for each in kept_in(kept.metadata)] == ["ran"]


def test_an_empty_memory_says_so() -> None:
    assert "Nothing like this" in create_search_failures_tool(guard()).invoke({"step": STEP})


def test_nothing_is_stopped_whatever_the_policy() -> None:
    memory = guard(settings=DriftGuardSettings(guard_policy="block"))
    memory.record(STEP, "failed", "lost")
    assert create_search_failures_tool(memory).invoke(CALL).artifact["decision"] == "warn"


def test_at_most_so_many_are_named() -> None:
    memory = guard()
    for number in range(4):
        memory.record(STEP, f"failure {number} of its own kind", "lost")
    answer = str(create_search_failures_tool(memory, limit=2).invoke(CALL).content)
    assert answer.count("It failed") == 2


def test_a_blank_step_is_the_models_mistake_and_it_reads_so() -> None:
    answer = create_search_failures_tool(guard()).invoke({**CALL, "args": {"step": " "}})
    assert answer.status == "error"
    assert "must not be empty" in answer.content


@pytest.mark.parametrize("on_error", ["open", "closed"])
def test_an_outage_is_told_or_raised_as_the_settings_say(
    on_error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = guard(settings=DriftGuardSettings(on_store_error=on_error))
    monkeypatch.setattr(memory.store, "search", raising(StoreUnavailable("the disk is gone.")))
    tool = create_search_failures_tool(memory)
    if on_error == "closed":
        with pytest.raises(StoreUnavailable):
            tool.invoke(CALL)
    else:
        assert "could not be asked" in tool.invoke(CALL).content


def test_a_failure_of_no_known_kind_costs_an_open_run_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = guard()
    monkeypatch.setattr(memory.store, "search", raising(RuntimeError("password=hunter2")))
    answer = create_search_failures_tool(memory).invoke(CALL)
    assert answer.status == "error"
    assert "RuntimeError" in answer.content
    assert "hunter2" not in answer.content


@pytest.mark.parametrize(
    "wrong", [{"name": " "}, {"limit": 0}, {"limit": True}, {"namespace": "acme"}, {"guard": 3}]
)
def test_a_wrong_option_fails_when_the_tool_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        create_search_failures_tool(**wrong)


async def test_in_an_agent_it_asks_the_store_of_the_run_for_its_user() -> None:
    store = InMemoryStore()
    memory = DriftGuard(store=LangGraphMemoryStore(store), settings=DriftGuardSettings())
    await memory.arecord(STEP, "failed", "ann's build was slow", namespace=("acme", "ann"))
    calls = AIMessage("", tool_calls=[CALL])
    model = ScriptedModel(script=[calls, "done", calls, "done"])
    tool = create_search_failures_tool(namespace=("acme", "{user}"))
    agent = create_agent(model, [tool], store=store)
    for user, expected in (("ann", "ann's build was slow"), ("bob", "Nothing like this")):
        config: RunnableConfig = {"configurable": {"user": user}}
        state = await agent.ainvoke({"messages": [HumanMessage("tidy up")]}, config)
        assert expected in str(state["messages"][-2].content)


def through_middleware(memory: DriftGuard) -> tuple[Any, list[Any]]:
    made = [create_search_failures_tool(memory)]
    model = ScriptedModel(script=[AIMessage("", tool_calls=[CALL]), "done"])
    door: Any = DriftGuardMiddleware(memory, policy="block")
    return create_agent(model, made, middleware=[door]), []


def through_a_tool_node(memory: DriftGuard) -> tuple[Any, list[Any]]:
    door = guard_tool_call(memory, policy="block")
    node = ToolNode(
        [create_search_failures_tool(memory)],
        wrap_tool_call=door.wrap_tool_call,
        awrap_tool_call=door.awrap_tool_call,
    )
    return StateGraph(MessagesState).add_node("t", node).add_edge(START, "t").compile(), []


def through_callbacks(memory: DriftGuard) -> tuple[Any, list[Any]]:
    node = ToolNode([create_search_failures_tool(memory)])
    graph = StateGraph(MessagesState).add_node("t", node).add_edge(START, "t").compile()
    return graph, [DriftGuardCallbackHandler(memory, mode="block")]


@pytest.mark.parametrize("sync", [True, False])
@pytest.mark.parametrize("door", [through_middleware, through_a_tool_node, through_callbacks])
def test_to_ask_about_a_step_is_neither_refused_nor_counted_as_taking_it(
    door: Any, sync: bool
) -> None:
    memory = guard()
    asked = {"name": CALL["name"], "args": CALL["args"]}
    memory.record(asked, "failed", "lost")
    app, callbacks = door(memory)
    given = {"messages": [HumanMessage("tidy"), AIMessage("", tool_calls=[CALL])]}
    config: RunnableConfig = {"callbacks": callbacks}
    state = app.invoke(given, config) if sync else asyncio.run(app.ainvoke(given, config))
    answer = next(one for one in state["messages"] if isinstance(one, ToolMessage))
    assert answer.status == "success"
    assert memory.stats()["episodes"] == 1
    assert memory.review(asked).warnings
