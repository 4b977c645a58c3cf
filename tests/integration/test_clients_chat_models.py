"""Wrapped LangChain chat models: real ChatOpenAI on a loopback server, and in real agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from langchain_core.caches import InMemoryCache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from driftguard_langgraph.clients import drift_of, wrap
from driftguard_langgraph.drift.tracking.tracker import DriftTracker
from tests.client_server import Vendor, vendor
from tests.drift_samples import ANSWER, PROMPT, QUESTION

ASK = [SystemMessage(PROMPT), HumanMessage(QUESTION)]
CALL = {"name": "timetable", "args": {"day": "Sunday"}}


@tool
def timetable(day: str) -> str:
    """Look the departures of a day up."""
    return f"On {day} the ferry leaves at nine."


@pytest.fixture
def server() -> Iterator[Vendor]:
    with vendor(ANSWER) as made:
        yield made


def model(server: Vendor, **options: Any) -> ChatOpenAI:
    url = f"{server.url}/v1"
    return ChatOpenAI(model="m", api_key="k", base_url=url, max_retries=0, **options)  # type: ignore[arg-type]


def turn(message: Any) -> Any:
    return message.response_metadata["drift"]["turn"]


def test_it_stays_a_chat_model_and_the_message_has_the_report(server: Vendor) -> None:
    original = model(server)
    wrapped = wrap(original)
    assert isinstance(wrapped, ChatOpenAI)
    assert isinstance(wrapped, BaseChatModel)
    reply = wrapped.invoke(ASK)
    assert turn(reply) == 2
    assert drift_of(reply) == reply.response_metadata["drift"]
    assert "drift" not in original.invoke(ASK).response_metadata
    assert wrapped.lc_id() == original.lc_id()
    assert wrapped.model_dump() == original.model_dump()


def test_a_stream_is_passed_on_and_its_sum_has_the_report(server: Vendor) -> None:
    plain = list(model(server).stream(ASK))
    chunks = list(wrap(model(server)).stream(ASK))
    assert [chunk.content for chunk in chunks[: len(plain)]] == [c.content for c in plain]
    assert len(chunks) == len(plain) + 1
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    assert isinstance(whole, AIMessageChunk)
    assert whole.content == ANSWER
    assert turn(whole) == 2


def test_batches_and_bindings_keep_working(server: Vendor) -> None:
    wrapped = wrap(model(server))
    replies = wrapped.batch([ASK, [HumanMessage("And on Monday?")]])
    assert [turn(reply) for reply in replies] == [2, 2]
    server.script = [CALL]
    bound = wrapped.bind_tools([timetable]).invoke(ASK)
    assert bound.tool_calls[0]["name"] == "timetable"
    assert turn(bound) == 1
    rebound: Any = wrap(model(server).bind_tools([timetable]))
    assert turn(rebound.invoke(ASK)) == 1


class Ferry(BaseModel):
    hour: int


def test_structured_output_keeps_working_and_counts(server: Vendor) -> None:
    server.script = ['{"hour": 9}']
    wrapped: Any = wrap(model(server))
    structured = wrapped.with_structured_output(Ferry, method="json_schema")
    assert structured.invoke(ASK) == Ferry(hour=9)
    assert wrapped.drift_tracker().turn_count == 1


def test_a_cached_reply_has_a_report_of_its_own_and_the_cache_has_none(server: Vendor) -> None:
    cache = InMemoryCache()
    wrapped = wrap(model(server, cache=cache), conversation="anna")
    assert [turn(wrapped.invoke(ASK)) for _ in range(2)] == [2, 3]
    assert len(server.bodies) == 1
    assert "drift" not in model(server, cache=cache).invoke(ASK).response_metadata


def test_an_agent_runs_on_it_and_each_thread_is_a_conversation(server: Vendor) -> None:
    server.script = [CALL, ANSWER, ANSWER, ANSWER]
    wrapped: Any = wrap(model(server))
    agent = create_agent(
        wrapped, [timetable], system_prompt=PROMPT, checkpointer=InMemorySaver()
    )  # fmt: skip

    def run(thread: str) -> Any:
        config: Any = {"configurable": {"thread_id": thread}}
        return agent.invoke({"messages": [HumanMessage(QUESTION)]}, config)["messages"]

    messages = run("anna")
    assert [turn(m) for m in messages if isinstance(m, AIMessage)] == [1, 2]
    assert turn(run("bert")[-1]) == 2
    assert turn(run("anna")[-1]) == 4


class Broken(DriftTracker):
    def record_user_message(self, user_message: object) -> Any:
        raise OSError


def test_a_failure_of_ours_costs_neither_reply_nor_stream(server: Vendor) -> None:
    wrapped = wrap(model(server), tracker=Broken(PROMPT))
    assert wrapped.invoke(ASK).content == ANSWER
    assert "".join(str(chunk.content) for chunk in wrapped.stream(ASK)) == ANSWER


def test_a_stream_that_is_left_counts_what_was_said(server: Vendor) -> None:
    wrapped: Any = wrap(model(server))
    stream = wrapped.stream(ASK)
    for _ in range(4):
        next(stream)
    stream.close()
    assert wrapped.drift_tracker().turn_count == 1


async def test_async_calls_do_not_block_the_loop(server: Vendor) -> None:
    wrapped = wrap(model(server))
    await wrapped.ainvoke(ASK)
    with blockbuster_ctx("driftguard_langgraph"):
        assert turn(await wrapped.ainvoke(ASK)) == 2
        chunks = [chunk async for chunk in wrapped.astream(ASK)]
        assert turn(chunks[-1]) == 2
        replies = await wrapped.abatch([ASK, ASK])
    assert [turn(reply) for reply in replies] == [2, 2]
