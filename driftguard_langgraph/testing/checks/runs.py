"""Verdicts about runs: kept once per run, counted from the episodes that are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from driftguard_langgraph.memory.prune import prune
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    WEIGHED_EPISODES,
    RunKept,
    RunScope,
    RunVerdict,
)
from driftguard_langgraph.testing.places import Places
from driftguard_langgraph.testing.samples import (
    HOME,
    NOON,
    append,
    episode,
    given_up,
)
from driftguard_langgraph.types import Kind

OTHER = ("someone else",)


def verdict(
    run: str = "t1", scope: RunScope = "thread", success: bool = False, **others: Any
) -> RunVerdict:
    """Return a verdict of which only what matters to a test has to be said."""
    said = RunVerdict(scope, run, success, "the refund went astray", "high", NOON)
    return replace(said, **others)


def act(
    store: BaseMemoryStore,
    action: str,
    kind: Kind = "success",
    nodes: Mapping[str, str] | None = None,
    namespace: tuple[str, ...] = HOME,
    **where: str,
) -> str:
    """Append one more episode of an action; return its id."""
    name = f"e{len(store.list(namespace, limit=10_000))}"
    step = episode(name, action, "f", "o", kind=kind, namespace=namespace)
    append(store, replace(step, provenance=where), nodes)
    return name


def shares(store: BaseMemoryStore, **actions: list[str]) -> list[tuple[bool, float]]:
    """Return the shares of these actions, in order, rounded."""
    wanted: Any = actions
    found = store.run_shares(HOME, wanted)
    return sorted((success, round(share, 6)) for success, share in found)


class RunChecks(Places):
    """Verdicts and their shares."""

    def test_a_verdict_is_kept_whole_and_tells_how_many_actions_share_it(
        self,
        store: BaseMemoryStore,
    ) -> None:
        for action in ("a", "b", "a"):
            act(store, action, thread_id="t1")
        assert store.set_run(HOME, verdict()) == RunKept(replaced=False, actions=2)
        assert store.get_run(HOME, "thread", "t1") == verdict()
        assert store.get_run(HOME, "run", "t1") is None
        assert store.get_run(OTHER, "thread", "t1") is None

    def test_the_newest_verdict_about_a_run_replaces_the_one_before(
        self, store: BaseMemoryStore
    ) -> None:
        act(store, "a", thread_id="t1")
        store.set_run(HOME, verdict())
        newer = verdict(
            success=True, outcome="it arrived", severity="low", decided_at=NOON + timedelta(days=1)
        )
        assert store.set_run(HOME, newer) == RunKept(replaced=True, actions=1)
        assert store.get_run(HOME, "thread", "t1") == newer
        assert shares(store, success=["a"]) == [(True, 1.0)]

    def test_verdicts_are_listed_in_the_order_in_which_they_were_given(
        self, store: BaseMemoryStore
    ) -> None:
        later = NOON + timedelta(microseconds=1)
        given = [
            verdict("t9"),
            verdict("t1", "run", decided_at=later),
            verdict("t1", "thread", decided_at=later),
        ]
        for each in reversed(given):
            store.set_run(HOME, each)
        store.set_run(OTHER, verdict())
        assert list(store.list_runs(HOME)) == given
        assert list(store.list_runs(("nobody",))) == []

    def test_a_thread_and_a_run_of_the_same_id_are_two(self, store: BaseMemoryStore) -> None:
        act(store, "a", thread_id="x", run_id="y")
        act(store, "b", thread_id="x", run_id="z")
        assert store.set_run(HOME, verdict("x")) == RunKept(replaced=False, actions=2)
        assert store.set_run(HOME, verdict("x", "run")) == RunKept(replaced=False, actions=0)
        assert store.set_run(HOME, verdict("y", "run", success=True)) == RunKept(
            replaced=False, actions=1
        )
        assert shares(store, success=["a"]) == [(False, 0.5), (True, 1.0)]
        assert shares(store, success=["b"]) == [(False, 0.5)]

    def test_each_distinct_action_of_a_run_carries_the_same_share(
        self, store: BaseMemoryStore
    ) -> None:
        for action in ("a", "b", "a", "c", "a"):
            act(store, action, thread_id="t1")
        act(store, "a", thread_id="t2")
        store.set_run(HOME, verdict("t1"))
        store.set_run(HOME, verdict("t2", success=True))
        assert shares(store, success=["a"]) == [(False, 0.333333), (True, 1.0)]
        assert shares(store, success=["b"]) == [(False, 0.333333)]
        assert shares(store, success=["a", "b"]) == [(False, 0.666667), (True, 1.0)]

    def test_all_shares_of_a_run_are_one_verdict_together(self, store: BaseMemoryStore) -> None:
        for action in ("a", "b", "c", "d"):
            act(store, action, thread_id="t1")
            act(store, action, thread_id="t1")
        store.set_run(HOME, verdict())
        total = sum(share for node in "abcd" for _, share in shares(store, success=[node]))
        assert total == pytest.approx(1.0)

    def test_an_action_that_failed_and_then_worked_is_one_action(
        self, store: BaseMemoryStore
    ) -> None:
        act(store, "a", "mistake", thread_id="t1")
        act(store, "a", "success", thread_id="t1")
        act(store, "b", thread_id="t1")
        assert store.set_run(HOME, verdict()).actions == 2
        assert shares(store, mistake=["a"], success=["a"]) == [(False, 0.5)]
        assert shares(store, mistake=["a"]) == [(False, 0.5)]

    def test_wordings_of_one_node_are_one_action(self, store: BaseMemoryStore) -> None:
        for words in ("delete it", "remove it", "look"):
            act(store, words, nodes={"remove it": "delete it"}, thread_id="t1")
        assert store.set_run(HOME, verdict()).actions == 2
        assert shares(store, success=["delete it"]) == [(False, 0.5)]

    def test_episodes_that_come_after_the_verdict_share_it_too(
        self, store: BaseMemoryStore
    ) -> None:
        assert store.set_run(HOME, verdict()) == RunKept(replaced=False, actions=0)
        assert shares(store, success=["a"]) == []
        act(store, "a", thread_id="t1")
        assert shares(store, success=["a"]) == [(False, 1.0)]
        act(store, "b", thread_id="t1")
        assert shares(store, success=["a"]) == [(False, 0.5)]

    def test_only_runs_with_a_verdict_count(self, store: BaseMemoryStore) -> None:
        act(store, "a", thread_id="t1")
        act(store, "a", thread_id="t2")
        act(store, "a")
        store.set_run(HOME, verdict("t1"))
        store.set_run(HOME, verdict("t3"))
        assert shares(store, success=["a"]) == [(False, 1.0)]
        assert shares(store, success=["b"]) == []
        assert shares(store) == []

    def test_namespaces_know_nothing_of_each_others_runs(self, store: BaseMemoryStore) -> None:
        act(store, "a", thread_id="t1")
        act(store, "b", namespace=OTHER, thread_id="t1")
        store.set_run(OTHER, verdict())
        assert shares(store, success=["a", "b"]) == []
        store.set_run(HOME, verdict(success=True))
        assert shares(store, success=["a"]) == [(True, 1.0)]
        assert [share for _, share in store.run_shares(OTHER, {"success": ["b"]})] == [1.0]

    def test_only_the_runs_of_the_newest_episodes_count(self, store: BaseMemoryStore) -> None:
        with store.exclusive():
            for number in range(WEIGHED_EPISODES + 5):
                step = episode(f"e{number}", "a", "f", "o", thread=f"t{number}")
                append(store, step)
                store.set_run(HOME, verdict(f"t{number}", success=number >= 5))
        assert shares(store, mistake=["a"]) == [(True, 1.0)] * WEIGHED_EPISODES

    def test_a_verdict_that_is_given_up_is_not_kept(self, store: BaseMemoryStore) -> None:
        with given_up(store):
            store.set_run(HOME, verdict())
        assert store.get_run(HOME, "thread", "t1") is None

    def test_pruning_drops_verdicts_of_which_no_episode_is_left(
        self, store: BaseMemoryStore
    ) -> None:
        act(store, "a", "mistake", thread_id="t1", run_id="r1")
        act(store, "b", "mistake", thread_id="t2", run_id="r2")
        for name in ("1", "2", "3"):
            store.set_run(HOME, verdict(f"t{name}"))
            store.set_run(HOME, verdict(f"r{name}", "run"))
            store.set_run(OTHER, verdict(f"t{name}"))
        store.delete(HOME, "e0")

        prune(store, HOME, NOON, 60, 2)

        scopes: tuple[tuple[RunScope, str], ...] = (("thread", "t"), ("run", "r"))
        kept = [
            letter + name
            for scope, letter in scopes
            for name in ("1", "2", "3")
            if store.get_run(HOME, scope, letter + name)
        ]
        assert kept == ["t2", "r2"]
        assert store.get_run(OTHER, "thread", "t3")
        assert store.drop_idle_runs(OTHER) == 3
        assert store.drop_idle_runs(OTHER) == 0

    def test_a_stale_run_goes_with_its_episodes_in_one_prune(self, store: BaseMemoryStore) -> None:
        act(store, "a", "mistake", thread_id="t1")
        store.set_run(HOME, verdict())
        prune(store, HOME, NOON + timedelta(days=61), 60, 2)
        assert store.get_run(HOME, "thread", "t1") is None
