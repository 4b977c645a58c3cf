"""Age and number: what a prune drops whatever it is worth."""

from __future__ import annotations

from datetime import timedelta

import pytest

from driftguard_langgraph.memory.prune import prune
from driftguard_langgraph.memory.retention import Retention, forget_all
from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import RunVerdict
from tests.memory_samples import HOME, NOON, append, episode

OTHER = ("other",)


def kept(store: BaseMemoryStore) -> list[str]:
    return [each.episode_id for each in store.list(HOME, limit=10_000)]


def pruned(store: BaseMemoryStore, retention: Retention) -> tuple[int, int]:
    report = prune(store, HOME, NOON, 3650, 1, retention)
    return report["mistakes"]["episodes_expired"], report["successes"]["episodes_expired"]


def test_what_is_older_than_the_age_goes_used_or_not(store: BaseMemoryStore) -> None:
    for days in range(6):
        append(store, episode(f"e{days}", "a", created_at=NOON - timedelta(days=days)))
    append(store, episode("won", "a", kind="success", created_at=NOON - timedelta(days=9)))
    append(store, episode("e9", created_at=NOON - timedelta(days=9), namespace=OTHER))
    store.touch(HOME, "mistake", ["a"], NOON)
    assert pruned(store, Retention(max_age_days=3)) == (2, 1)
    assert kept(store) == ["e0", "e1", "e2", "e3"]
    assert len(store.list(OTHER)) == 1


def test_more_than_one_page_of_episodes_is_looked_through(
    store: BaseMemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftguard_langgraph.memory.retention.PAGE", 4)
    for number in range(30):
        age = timedelta(days=number % 2 * 10)
        append(store, episode(f"e{number}", created_at=NOON - age))
    assert pruned(store, Retention(max_age_days=5)) == (15, 0)
    assert kept(store) == [f"e{number}" for number in range(0, 30, 2)]


def test_of_too_many_those_go_that_were_neither_seen_nor_used_for_longest(
    store: BaseMemoryStore,
) -> None:
    for number, name in enumerate(("used", "idle", "seen")):
        for again in range(3):
            created = NOON - timedelta(days=50 - 10 * number, minutes=again)
            append(store, episode(f"{name} {again}", name, created_at=created))
    store.touch(HOME, "mistake", ["used"], NOON)
    assert pruned(store, Retention(max_episodes=5)) == (4, 0)
    assert kept(store) == ["used 0", "used 1", "used 2", "seen 1", "seen 2"]
    assert pruned(store, Retention(max_episodes=5)) == (0, 0)


def test_both_kinds_share_the_number_that_may_stay(store: BaseMemoryStore) -> None:
    for number in range(4):
        created = NOON - timedelta(days=10 - number)
        append(store, episode(f"m{number}", f"m{number}", created_at=created))
        won = created - timedelta(hours=1)
        append(store, episode(f"s{number}", f"s{number}", kind="success", created_at=won))
    assert pruned(store, Retention(max_episodes=3)) == (2, 3)
    assert kept(store) == ["m2", "m3", "s3"]


def test_without_limits_nothing_expires(store: BaseMemoryStore) -> None:
    append(store, episode(created_at=NOON - timedelta(days=3000)))
    assert pruned(store, Retention()) == (0, 0)
    assert kept(store) == ["e1"]


def test_forgetting_a_namespace_leaves_nothing_of_it_and_all_of_the_others(
    store: BaseMemoryStore,
) -> None:
    for namespace in (HOME, OTHER):
        append(store, episode("1", "a", namespace=namespace, thread="t"))
        append(store, episode("2", "b", kind="success", namespace=namespace))
        store.set_run(namespace, RunVerdict("thread", "t", False, "o", "low", NOON))
        store.set_run(namespace, RunVerdict("thread", "idle", False, "o", "low", NOON))
    assert forget_all(store, HOME) == 2
    assert list(store.namespaces()) == [OTHER]
    assert list(store.list_runs(HOME)) == []
    assert len(store.list_runs(OTHER)) == 2
    assert forget_all(store, HOME) == 0
