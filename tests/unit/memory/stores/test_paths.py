"""Counting episodes by their nodes, and noting that they were used."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

import numpy as np

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import EPISODE_SAMPLE
from driftguard_langgraph.types import SEVERITIES, Episode
from tests.memory_samples import HOME, NOON, append, episode

NODES = {
    f"{role}{n}{wording}": f"{role}{n}" for role in "afo" for n in range(4) for wording in "xy"
}
Key = tuple[str, str, str]


def key_of(kept: Episode) -> Key:
    return NODES[kept.action.text], NODES[kept.feedback], NODES[kept.outcome]


def drawn(seed: int, size: int) -> list[Episode]:
    rng = np.random.default_rng(seed)
    return [
        episode(
            f"e{number}",
            *(f"{role}{rng.integers(3)}{'xy'[rng.integers(2)]}" for role in "afo"),
            severity=SEVERITIES[rng.integers(4)],
            created_at=NOON - timedelta(seconds=int(rng.integers(10_000))),
        )
        for number in range(size)
    ]


def test_paths_count_what_was_appended(store: BaseMemoryStore) -> None:
    given = drawn(seed=3, size=120)
    for each in given:
        append(store, each, NODES)
    groups: dict[Key, list[Episode]] = defaultdict(list)
    for each in given:
        groups[key_of(each)].append(each)
    paths = store.paths(HOME, "mistake")
    assert [path.key for path in paths] == list(groups)
    for path in paths:
        episodes = groups[path.key]
        assert path.frequency == len(episodes)
        assert path.first_seen == min(e.created_at for e in episodes)
        assert path.last_seen == max(e.created_at for e in episodes)
        assert path.severity == max((e.severity for e in episodes), key=SEVERITIES.index)
        newest = episodes[-1]
        assert (path.feedback_text, path.outcome_text) == (newest.feedback, newest.outcome)
        expected = [e.episode_id for e in reversed(episodes)][:EPISODE_SAMPLE]
        assert list(path.episode_ids) == expected
        assert path.last_used is None
        assert path.last_active == path.last_seen


def test_paths_of_some_actions_are_those_among_all(store: BaseMemoryStore) -> None:
    for each in drawn(seed=4, size=60):
        append(store, each, NODES)
    everything = store.paths(HOME, "mistake")
    for wanted in (["a1"], ["a0", "a2"], ["a2", "a0", "unknown"], []):
        assert store.paths(HOME, "mistake", wanted) == [
            path for path in everything if path.action in wanted
        ]


def test_a_use_is_noted_for_the_actions_that_were_shown_only(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a0x", "f0x", "o0x"), NODES)
    append(store, episode("2", "a0y", "f1x", "o0x"), NODES)
    append(store, episode("3", "a1x", "f0x", "o0x"), NODES)
    append(store, episode("4", "a0x", "f0x", "o0x", kind="success"), NODES)
    append(store, episode("5", "a0x", "f0x", "o0x", namespace=("x",)), NODES)
    later = NOON + timedelta(days=9)
    store.touch(HOME, "mistake", ["a0"], later)
    used = {path.key: path.last_used for path in store.paths(HOME, "mistake")}
    assert used == {
        ("a0", "f0", "o0"): later,
        ("a0", "f1", "o0"): later,
        ("a1", "f0", "o0"): None,
    }
    assert store.paths(HOME, "mistake")[0].last_active == later
    assert store.paths(HOME, "success")[0].last_used is None
    assert store.paths(("x",), "mistake")[0].last_used is None


def test_a_use_is_noted_anew_after_a_day_and_never_turned_back(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a", "f", "o"))
    last = NOON
    for hours, noted in ((0, True), (23, False), (24, False), (25, True), (1, False)):
        at = NOON + timedelta(hours=hours)
        store.touch(HOME, "mistake", ["a"], at)
        last = at if noted else last
        assert store.paths(HOME, "mistake")[0].last_used == last


def test_what_was_recorded_after_a_use_is_no_less_used(store: BaseMemoryStore) -> None:
    append(store, episode("1", "a", "f", "o"))
    store.touch(HOME, "mistake", ["a"], NOON + timedelta(days=50))
    append(store, episode("2", "a", "f", "o"))
    append(store, episode("3", "a", "f", "other"))
    assert {path.last_used for path in store.paths(HOME, "mistake")} == {NOON + timedelta(days=50)}
