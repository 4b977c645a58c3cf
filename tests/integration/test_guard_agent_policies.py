"""What failed in one run is stopped or advised in the next, in messages that providers take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from driftguard_langgraph import DriftGuard, DriftGuardMiddleware
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from tests.guard_samples import ASKED, FAILURE, answers, in_thread
from tests.memory_samples import SeededEmbedder
from tests.strict_server import StrictServer, strict_server

Invoke = Callable[..., dict[str, Any]]
THREAD = in_thread("t1")
BOTH = ("publish", "check")


@pytest.fixture(params=["sync", "async"])
def invoke(request: pytest.FixtureRequest) -> Invoke:
    def run(agent: Any, *given: Any) -> dict[str, Any]:
        if request.param == "async":
            return dict(asyncio.run(agent.ainvoke(*given)))
        return dict(agent.invoke(*given))

    return run


def agent(server: StrictServer, guard: DriftGuard, ran: list[str], **options: Any) -> Any:
    @tool
    def publish() -> str:
        """Publish the report."""
        ran.append("publish")
        raise OSError(FAILURE)

    @tool
    def check() -> str:
        """Check the report."""
        ran.append("check")
        return "all is well"

    return create_agent(
        server.model(),
        [publish, check],
        middleware=[
            DriftGuardMiddleware(guard, **options),
            ToolErrorMiddleware(on_error=lambda error, request: f"failed: {error}"),
        ],
        checkpointer=InMemorySaver(),
    )


def first_run(database: Path, invoke: Invoke) -> None:
    with SqliteMemoryStore.open(database) as store, strict_server(BOTH, "done") as server:
        guard = DriftGuard(store=store, embeddings=SeededEmbedder())
        ran: list[str] = []
        final = invoke(agent(server, guard, ran), ASKED, THREAD)
        assert sorted(ran) == ["check", "publish"]
        assert [each.status for each in answers(final["messages"])] == ["error", "success"]
        assert server.refused == []


@pytest.mark.parametrize(
    ("policy", "replies", "resume", "runs", "told"),
    [
        ("warn", [BOTH], None, 1, "[Note of the failure memory"),
        ("block", [BOTH], None, 0, "Do not propose it again"),
        ("speed_bump", [BOTH], None, 0, "propose exactly this call again"),
        ("speed_bump", [BOTH, BOTH], None, 1, "propose exactly this call again"),
        ("acknowledge", [BOTH], "approve", 1, f"failed: {FAILURE}"),
        ("acknowledge", [BOTH], "reject", 0, "A person did not accept the risk"),
        ("record_only", [BOTH], None, 1, f"failed: {FAILURE}"),
    ],
)
def test_a_failure_of_one_run_is_met_in_the_next_one_under_each_policy(
    database: Path,
    invoke: Invoke,
    policy: Any,
    replies: list[Any],
    resume: str | None,
    runs: int,
    told: str,
) -> None:
    first_run(database, invoke)
    with SqliteMemoryStore.open(database) as store, strict_server(*replies, "done") as server:
        guard = DriftGuard(store=store, embeddings=SeededEmbedder())
        ran: list[str] = []
        made = agent(server, guard, ran, policy=policy)
        final = invoke(made, ASKED, THREAD)
        if resume is not None:
            assert len(final["__interrupt__"]) == 1
            final = invoke(made, Command(resume=resume), THREAD)
        assert server.refused == []
        assert ran.count("publish") == runs
        assert ran.count("check") >= 1
        heard = [each for each in server.heard[1] if each["role"] == "tool"]
        assert [each["tool_call_id"] for each in heard] == ["call-0-0", "call-0-1"]
        assert told in heard[0]["content"]
        assert heard[1]["content"] == "all is well"
        kept = "\n".join(str(each.content) for each in final["messages"])
        assert "[Note of the failure memory" not in kept


@pytest.mark.parametrize("exit_behavior", ["continue", "end"])
def test_a_thread_goes_on_after_a_loop_was_stopped(
    database: Path, invoke: Invoke, exit_behavior: Any
) -> None:
    with SqliteMemoryStore.open(database) as store:
        guard = DriftGuard(store=store, embeddings=SeededEmbedder())
        with strict_server(*[("check",)] * 4, "done") as server:
            ran: list[str] = []
            made = agent(server, guard, ran, exit_behavior=exit_behavior)
            invoke(made, ASKED, THREAD)
            invoke(made, ASKED, THREAD)
            assert server.refused == []
            assert ran == ["check"] * 3
