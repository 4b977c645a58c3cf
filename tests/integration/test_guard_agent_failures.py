"""Whatever fails in ours: the agent's step runs under `open`, and is refused under `closed`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from driftguard_langgraph import DriftGuard, DriftGuardMiddleware, StoreError
from driftguard_langgraph.judgement import progress
from driftguard_langgraph.memory.stores.records import Vector
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.middleware import guard as middleware_module
from tests.drift_samples import ScriptedModel, raising
from tests.guard_samples import ASKED, answers, call, in_thread, proposing, soft_tool
from tests.memory_samples import SeededEmbedder

Invoke = Callable[..., dict[str, Any]]
Break = Callable[..., None]
SCRIPT = [proposing(call("/srv", "c1"), call("/other", "c2")), "done"]


class Embedder(SeededEmbedder):
    """Can be taken down."""

    down = False

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return one row for each text, or nothing at all."""
        if self.down:
            raise ConnectionError("the embedder is down")
        return super().embed(texts)


@pytest.fixture(params=["sync", "async"])
def invoke(request: pytest.FixtureRequest) -> Invoke:
    def run(agent: Any, *given: Any) -> dict[str, Any]:
        if request.param == "async":
            return dict(asyncio.run(agent.ainvoke(*given)))
        return dict(agent.invoke(*given))

    return run


@pytest.fixture
def embedder() -> Embedder:
    return Embedder()


@pytest.fixture
def stored(database: Path, embedder: Embedder) -> Iterator[DriftGuard]:
    with SqliteMemoryStore.open(database) as store:
        yield DriftGuard(store=store, embeddings=embedder)


def agent(guard: DriftGuard, ran: list[str], **options: Any) -> Any:
    return create_agent(
        ScriptedModel(script=SCRIPT),
        [soft_tool(ran)],
        middleware=[DriftGuardMiddleware(guard, **options)],
        checkpointer=InMemorySaver(),
    )


def close(guard: DriftGuard, _embedder: Embedder) -> None:
    guard.store.close()


def lose_embedder(_guard: DriftGuard, embedder: Embedder) -> None:
    embedder.down = True


def fill_disk(guard: DriftGuard) -> None:
    store = guard.store
    assert isinstance(store, SqliteMemoryStore)
    connection = store._session.connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}")
    # What is left of the pages in use is filled, so that the next record finds no room.
    texts = (f"step {number} " + "long " * 50 for number in range(1000))
    assert any(guard.record(text, "failed", "lost")["status"] == "unavailable" for text in texts)


OUTAGES = [close, lose_embedder]


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_costs_no_step_under_open(
    stored: DriftGuard, embedder: Embedder, invoke: Invoke, outage: Break
) -> None:
    outage(stored, embedder)
    ran: list[str] = []
    final = invoke(agent(stored, ran, on_store_error="open"), ASKED, in_thread("t"))
    assert sorted(ran) == ["/other", "/srv"]
    assert final["messages"][-1].content == "done"


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_refuses_each_step_under_closed_and_says_why(
    stored: DriftGuard, embedder: Embedder, invoke: Invoke, outage: Break
) -> None:
    outage(stored, embedder)
    ran: list[str] = []
    final = invoke(agent(stored, ran, on_store_error="closed"), ASKED, in_thread("t"))
    assert ran == []
    for answer in answers(final["messages"]):
        assert "could not be asked" in str(answer.content)
        assert "on_store_error='closed'" in str(answer.content)
    assert final["messages"][-1].content == "done"


def test_a_full_disk_costs_no_step_under_open_and_is_told_under_closed(
    stored: DriftGuard, invoke: Invoke
) -> None:
    fill_disk(stored)
    ran: list[str] = []
    invoke(agent(stored, ran, on_store_error="open"), ASKED, in_thread("t"))
    assert sorted(ran) == ["/other", "/srv"]
    with pytest.raises(StoreError, match="The tool did run"):
        invoke(agent(stored, ran, on_store_error="closed"), ASKED, in_thread("t"))


@pytest.mark.parametrize("hook", ["counted", "_advised"])
def test_a_fault_in_counting_or_advising_costs_no_step(
    stored: DriftGuard, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    part = progress.Count if hook == "counted" else middleware_module
    name = "observe" if hook == "counted" else "annotated"
    monkeypatch.setattr(part, name, raising(RuntimeError("a fault of ours")))
    ran: list[str] = []
    stored.record(call("/srv"), "failed", "lost")
    final = invoke(agent(stored, ran, policy="warn"), ASKED, in_thread("t"))
    assert sorted(ran) == ["/other", "/srv"]
    assert final["messages"][-1].content == "done"
