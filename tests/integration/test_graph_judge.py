"""A chat model as judge inside a running graph."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langgraph.graph import START, StateGraph

from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.nodes import DriftGuardState, create_guard_review_node
from driftguard_langgraph.settings import DriftGuardSettings

STEP, ALIKE = "restart the ingest worker", "bounce the ingestion process"


@pytest.fixture
def graph(guard: DriftGuard, embedder: Embedder) -> Any:
    guard.record(STEP, "connection refused", "no data for an hour")
    threshold = guard.compare(STEP, ALIKE).score + 0.05
    judged = DriftGuard(
        store=guard.store,
        embeddings=embedder,
        settings=DriftGuardSettings(retrieval_min_similarity=threshold),
        judge=GenericFakeChatModel(messages=iter(['{"same": "yes"}'])),
    )
    assert isinstance(judged.store, SqliteMemoryStore)
    builder = StateGraph(DriftGuardState).add_node(create_guard_review_node(judged))
    return builder.add_edge(START, "guard_review").compile()


def test_the_words_of_the_judge_do_not_reach_the_stream_of_the_graph(graph: Any) -> None:
    said = list(graph.stream({"candidate_action": ALIKE}, stream_mode=["messages", "values"]))

    assert [data for mode, data in said if mode == "messages"] == []
    assert said[-1][1]["guard_top_warning"]["match"]["kind"] == "judged"


async def test_nor_that_of_an_async_graph(graph: Any) -> None:
    said = [
        item
        async for item in graph.astream(
            {"candidate_action": ALIKE}, stream_mode=["messages", "values"]
        )
    ]

    assert [data for mode, data in said if mode == "messages"] == []
    assert said[-1][1]["guard_warnings_count"] == 1
