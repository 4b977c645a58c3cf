from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest

from driftguard_langgraph.errors import ConfigurationError, MissingExtra
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.judgement.settlement import kept_in
from driftguard_langgraph.mcp import server
from driftguard_langgraph.mcp.answers import Answer
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.testing.samples import SeededEmbedder
from driftguard_langgraph.types import Policy


@pytest.fixture
def guard() -> DriftGuard:
    return DriftGuard(store=EphemeralMemoryStore(), embeddings=SeededEmbedder())


def test_an_unknown_policy_is_refused(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match="unknown policy"):
        server.create_mcp_server(guard, policy="blok")  # type: ignore[arg-type]


def test_without_the_sdk_the_extra_is_named(
    guard: DriftGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "find_spec", lambda _: None)
    assert importlib.util.find_spec("mcp") is not None
    with pytest.raises(MissingExtra, match=r"driftguard-langgraph\[mcp\]"):
        server.create_mcp_server(guard)


async def test_only_so_many_speed_bumps_are_remembered(
    guard: DriftGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_BUMPED", 1)
    tools = server._Tools(guard, "speed_bump")
    for step in ("one", "other"):
        await tools.register_mistake(step, "failed", "nothing came of it")
    decisions = [(await tools.query_memory(step)).decision for step in ("one", "other", "one")]
    assert decisions == ["speed_bump"] * 3
    assert (await tools.query_memory("one")).decision == "override"


def test_a_muted_failure_is_not_said_to_be_unknown(guard: DriftGuard) -> None:
    guard.record("one", "failed", "nothing came of it")
    found = guard.review("one", policy="warn")
    muted = replace(found, warnings=(), muted=found.warnings, decision="proceed")
    assert "failed before" in Answer.of(muted).message


@pytest.mark.parametrize(
    ("policy", "done", "settled"),
    [
        ("warn", "one", [("shown", "ran")]),
        ("warn", "another", []),
        ("block", "another", [("shown", "instead")]),
    ],
)
async def test_a_warning_is_settled_when_the_client_tells_what_it_did(
    guard: DriftGuard, policy: Policy, done: str, settled: list[tuple[str, str]]
) -> None:
    tools = server._Tools(guard, policy)
    await tools.register_mistake("one", "failed", "nothing came of it")
    assert (await tools.query_memory("one")).warnings
    for _ in range(2):
        await tools.register_success(done, "ok", "it worked")
    told = await guard.store.alist(guard.namespace, "success")
    found = [[(each.arm, each.role) for each in kept_in(kept.metadata)] for kept in told]
    assert found == [settled, []]
