"""What is wrong when something is made is said then, and not at its first use."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

import driftguard_langgraph as package
from driftguard_langgraph import nodes
from driftguard_langgraph.drift.tracking.tracker import DriftTracker
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.testing.samples import SeededEmbedder

EMBEDDER = SeededEmbedder("odd", 16)


class Odd:
    """Something that nobody asked for."""


def guard(**given: Any) -> DriftGuard:
    return DriftGuard(**{"store": EphemeralMemoryStore(), "embeddings": EMBEDDER, **given})


@cache
def client() -> Any:
    return pytest.importorskip("openai").OpenAI(api_key="none")


def wrapped(**options: Any) -> Any:
    return package.wrap(client(), **{"embeddings": EMBEDDER, **options})


def tracker(**options: Any) -> DriftTracker:
    return DriftTracker(
        **{"system_prompt": "Be kind.", "embeddings": EMBEDDER, "persist": False, **options}
    )


def sqlite(**options: Any) -> SqliteMemoryStore:
    return SqliteMemoryStore(**{"connection": sqlite3.connect(":memory:"), **options})


def kept(state: Any) -> Any:
    return state


DOORS: dict[str, Callable[..., Any]] = {
    "DriftGuard": guard,
    "DriftGuardMiddleware": package.DriftGuardMiddleware,
    "guard_tool_call": package.guard_tool_call,
    "DriftGuardCallbackHandler": package.DriftGuardCallbackHandler,
    "create_search_failures_tool": partial(package.create_search_failures_tool, guard()),
    "guard_step": partial(package.guard_step, guard()),
    "wrap": wrapped,
    "DriftMonitor": partial(package.DriftMonitor, embeddings=EMBEDDER),
    "DriftTracker": tracker,
    "DriftMonitorMiddleware": package.DriftMonitorMiddleware,
    "JsonMemoryStore": package.JsonMemoryStore,
    "SqliteMemoryStore": sqlite,
    "RecoveryPlan": package.RecoveryPlan,
    "create_planner_revise_graph": partial(nodes.create_planner_revise_graph, kept, kept),
    "create_record_run_outcome_node": partial(
        nodes.create_record_run_outcome_node, success_key="a", outcome_key="b"
    ),
    "create_compaction_guard_node": partial(package.create_compaction_guard_node, kept),
    **{
        name: getattr(nodes, name)
        for name in (
            "create_guard_review_node",
            "create_record_outcome_node",
            "create_drift_monitor_node",
            "create_route_on_review",
            "create_route_on_drift",
        )
    },
    "create_recovery_scaffold_node": package.create_recovery_scaffold_node,
    "create_route_on_recovery": package.create_route_on_recovery,
}
MADE_OF: dict[str, Callable[..., Any]] = {
    "SqliteMemoryStore": SqliteMemoryStore,
    "DriftGuard": DriftGuard,
    "DriftTracker": DriftTracker,
    "wrap": package.wrap,
}
ODD: tuple[object, ...] = (
    Odd(), Odd, "x", " ", b"x", -1, 0, 3.5, float("nan"), True, kept,
    [], [1], {}, {"a": 1}, {"a", "b"}, (None,), (["a"],), ({"a": 1},), ("{0}",), ("{a.b}",),
)  # fmt: skip


def parameters(name: str) -> Iterator[str]:
    given = inspect.signature(MADE_OF.get(name, DOORS[name])).parameters.values()
    yield from (p.name for p in given if p.kind is not p.VAR_KEYWORD and p.name != "client")
    if name == "wrap":
        yield from (name for name in inspect.signature(DriftTracker).parameters)


@pytest.mark.parametrize("name", sorted(DOORS))
def test_whatever_is_given_is_taken_or_refused_as_a_configuration_error(name: str) -> None:
    for parameter in dict.fromkeys(parameters(name)):
        for value in ODD:
            # Any other error fails the test.
            with suppress(ConfigurationError):
                DOORS[name](**{parameter: value})


REFUSED: tuple[tuple[str, str, object, str], ...] = (
    ("DriftGuard", "store", "x.sqlite3", r"SqliteMemoryStore.open\(path\)"),
    ("DriftGuard", "store", Path("memory.json"), "sqlite_filepath=path"),
    ("DriftGuard", "store", EphemeralMemoryStore, "not <class"),
    ("DriftGuard", "store", 7, "subclass of BaseMemoryStore"),
    ("DriftGuard", "normalizer", "spacy", r"DriftGuardSettings\(normalizer="),
    ("DriftGuard", "hooks", print, "hooks=\\[on_event\\]"),
    ("DriftGuard", "hooks", ["x"], "give a function"),
    ("DriftGuard", "hooks", [Odd], "give a function"),
    ("DriftGuard", "settings", {}, "must be DriftGuardSettings"),
    ("DriftGuard", "settings", False, "must be DriftGuardSettings"),
    ("DriftGuard", "namespace", "acme", "sequence of non-empty strings"),
    ("DriftGuard", "namespace", {"acme": 1}, "sequence of non-empty strings"),
    ("DriftGuard", "namespace", {"acme", "bob"}, "sequence of non-empty strings"),
    ("DriftGuard", "namespace", ("acme", ["bob"]), "sequence of non-empty strings"),
    ("DriftGuard", "namespace", ("acme", "{user_id}"), "looks like a placeholder"),
    ("DriftGuard", "judge", "gpt", "judge"),
    ("DriftGuardMiddleware", "namespace", ("{0}",), "no placeholder"),
    ("DriftGuardMiddleware", "namespace", ("{a.b}",), "no placeholder"),
    ("DriftGuardMiddleware", "namespace", {"user": "{user_id}"}, "sequence of non-empty"),
    ("guard_tool_call", "namespace", (["{user_id}"],), "sequence of non-empty strings"),
    ("DriftGuardCallbackHandler", "namespace", ("{0}",), "no placeholder"),
    ("create_guard_review_node", "namespace", ("{0}",), "no placeholder"),
    ("wrap", "conversation", [], "an id in words"),
    ("wrap", "conversation", " ", "an id in words"),
    ("wrap", "persist", [], "persist="),
    ("wrap", "persist_path", 5, "persist_path=5"),
    ("wrap", "strategis", "keyword", "no option strategis"),
    ("DriftTracker", "persist_path", 5, "persist_path=5"),
    ("DriftMonitor", "baseline", [1], "system prompt"),
    ("DriftMonitor", "baseline", {"a": 1}, "system prompt"),
    ("DriftMonitor", "strategies", Odd, "embeddings must be"),
    ("DriftMonitorMiddleware", "few_shot_examples", 5, "few_shot_examples must be"),
    ("DriftMonitorMiddleware", "scaffold_keys", {"a": 1}, "collection of strings"),
    ("create_drift_monitor_node", "few_shot_examples", {}, "few_shot_examples must be"),
    ("create_drift_monitor_node", "scaffold_keys", [1], "collection of strings"),
    ("create_planner_revise_graph", "messages_key", 5, "non-empty string"),
    ("create_planner_revise_graph", "state_schema", {}, "must be a class"),
    ("create_planner_revise_graph", "context_schema", "Context", "must be a class"),
    ("guard_step", "input_getter", "action", "must be a function"),
    ("guard_step", "on_review", 5, "must be a function"),
    ("guard_step", "raise_on_match", "yes", "True or False"),
    ("JsonMemoryStore", "path", 5, "must name a file"),
    ("SqliteMemoryStore", "connection", "m.sqlite3", r"SqliteMemoryStore.open\(path\)"),
    ("RecoveryPlan", "when_exhausted", [], "interrupt, stop or continue"),
)


@pytest.mark.parametrize(
    ("name", "parameter", "value", "told"),
    REFUSED,
    ids=[f"{name}-{parameter}-{n}" for n, (name, parameter, _, _) in enumerate(REFUSED)],
)
def test_what_is_wrong_is_refused_with_what_to_do(
    name: str, parameter: str, value: object, told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        DOORS[name](**{parameter: value})


async def later(event: object) -> None:
    """Receive an event, if somebody awaited it."""


def test_a_hook_that_nobody_would_await_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="nobody awaits it"):
        guard(hooks=[later])


def test_a_generator_is_no_namespace() -> None:
    with pytest.raises(ConfigurationError, match="sequence of non-empty strings"):
        guard(namespace=(label for label in ("acme", "bob")))


@pytest.mark.parametrize("namespace", [("acme", "a{b}c"), ["acme"], ("ä {x", "{}y")])
def test_any_other_text_is_a_label_of_a_guard(namespace: list[str]) -> None:
    assert guard(namespace=namespace).namespace == tuple(namespace)


def test_a_path_that_is_none_is_refused_before_anything_is_opened() -> None:
    for path in ("", " ", 5, None):
        with pytest.raises(ConfigurationError, match="must name a file"):
            SqliteMemoryStore.open(path)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="'normal' or 'full'"):
        SqliteMemoryStore.open("x.sqlite3", durability="maximal")  # type: ignore[arg-type]
    assert not Path("x.sqlite3").exists()
