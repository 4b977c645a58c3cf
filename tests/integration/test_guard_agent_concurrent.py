"""A hundred runs at once on one guard: nothing is lost, doubled or mixed up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from driftguard_langgraph import DriftGuard, DriftGuardMiddleware
from driftguard_langgraph.memory.retention import all_episodes
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from tests.drift_samples import ScriptedModel
from tests.guard_samples import ASKED, answers, call, in_thread, proposing, saver_tool
from tests.memory_samples import SeededEmbedder

RUNS = 100


@pytest.fixture
def shared(database: Path) -> Iterator[DriftGuard]:
    with SqliteMemoryStore.open(database) as store:
        yield DriftGuard(store=store, embeddings=SeededEmbedder())


async def test_a_hundred_concurrent_runs_are_counted_exactly_and_kept_apart(
    shared: DriftGuard,
) -> None:
    ours = DriftGuardMiddleware(shared, policy="record_only", namespace=("{tenant}",))
    saver = InMemorySaver()

    async def session(number: int) -> list[str]:
        calls = call("/full", f"a{number}"), call(f"/srv/{number}", f"b{number}")
        made = create_agent(
            ScriptedModel(script=[proposing(*calls), "done"]),
            [saver_tool([])],
            middleware=[ours, ToolErrorMiddleware(on_error=lambda error, _: str(error))],
            checkpointer=saver,
        )
        config: RunnableConfig = {
            "configurable": {"thread_id": f"t{number}", "tenant": f"tenant-{number % 4}"}
        }
        final: dict[str, Any] = await made.ainvoke(ASKED, config)
        return [str(message.content) for message in answers(final["messages"])]

    told = await asyncio.gather(*map(session, range(RUNS)))
    assert [each[1] for each in told] == [f"saved to /srv/{n}" for n in range(RUNS)]
    for tenant in range(4):
        kept = await asyncio.to_thread(
            lambda name: list(all_episodes(shared.store, name)), (f"tenant-{tenant}",)
        )
        assert sum(each.kind == "mistake" for each in kept) == RUNS / 4
        paths = {each.action.tool_args["path"] for each in kept if each.kind == "success"
                 and each.action.tool_args}  # fmt: skip
        assert paths == {f"/srv/{n}" for n in range(RUNS) if n % 4 == tenant}
        assert len(kept) == RUNS / 2


async def test_what_a_speed_bump_showed_in_one_thread_passes_in_no_other(
    shared: DriftGuard,
) -> None:
    await shared.arecord(call("/full"), "disk quota exceeded", "lost")
    ours = DriftGuardMiddleware(shared, policy="speed_bump", repeat_limit=None)
    saver = InMemorySaver()

    async def session(number: int) -> list[str]:
        ran: list[str] = []
        turns = [proposing(call("/full", f"{number}-{at}")) for at in range(1 + number % 2)]
        made = create_agent(
            ScriptedModel(script=[*turns, "done"]),
            [saver_tool(ran)],
            middleware=[ours, ToolErrorMiddleware(on_error=lambda error, _: str(error))],
            checkpointer=saver,
        )
        await made.ainvoke(ASKED, in_thread(f"t{number}"))
        return ran

    ran = await asyncio.gather(*map(session, range(20)))
    assert ran == [["/full"] * (number % 2) for number in range(20)]
