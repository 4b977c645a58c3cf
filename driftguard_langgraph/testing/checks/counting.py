"""Counting episodes by their nodes, and what came after them."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta, timezone

import numpy as np

from driftguard_langgraph.memory.stores.base import BaseMemoryStore
from driftguard_langgraph.memory.stores.records import (
    EPISODE_SAMPLE,
)
from driftguard_langgraph.testing.places import Places
from driftguard_langgraph.testing.samples import (
    HOME,
    NOON,
    append,
    episode,
)
from driftguard_langgraph.types import SEVERITIES, Action, Episode

NODES = {
    f"{role}{n}{wording}": f"{role}{n}" for role in "afo" for n in range(4) for wording in "xy"
}


Key = tuple[str, str, str]


def key_of(kept: Episode) -> Key:
    """Return the path of an episode by its nodes."""
    return NODES[kept.action.text], NODES[kept.feedback], NODES[kept.outcome]


def drawn(seed: int, size: int) -> list[Episode]:
    """Draw episodes of few nodes, so that many share a path."""
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


class CountingChecks(Places):
    """Paths, counts and uses."""

    def test_paths_count_what_was_appended(self, store: BaseMemoryStore) -> None:
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

    def test_paths_of_some_actions_are_those_among_all(self, store: BaseMemoryStore) -> None:
        for each in drawn(seed=4, size=60):
            append(store, each, NODES)
        everything = store.paths(HOME, "mistake")
        for wanted in (["a1"], ["a0", "a2"], ["a2", "a0", "unknown"], []):
            assert store.paths(HOME, "mistake", wanted) == [
                path for path in everything if path.action in wanted
            ]

    def test_a_use_is_noted_for_the_actions_that_were_shown_only(
        self, store: BaseMemoryStore
    ) -> None:
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

    def test_a_use_is_noted_anew_after_a_day_and_never_turned_back(
        self, store: BaseMemoryStore
    ) -> None:
        append(store, episode("1", "a", "f", "o"))
        last = NOON
        for hours, noted in ((0, True), (23, False), (24, False), (25, True), (1, False)):
            at = NOON + timedelta(hours=hours)
            store.touch(HOME, "mistake", ["a"], at)
            last = at if noted else last
            assert store.paths(HOME, "mistake")[0].last_used == last

    def test_what_was_recorded_after_a_use_is_no_less_used(self, store: BaseMemoryStore) -> None:
        append(store, episode("1", "a", "f", "o"))
        store.touch(HOME, "mistake", ["a"], NOON + timedelta(days=50))
        append(store, episode("2", "a", "f", "o"))
        append(store, episode("3", "a", "f", "other"))
        assert {path.last_used for path in store.paths(HOME, "mistake")} == {
            NOON + timedelta(days=50)
        }

    def test_counting_since_a_moment_leaves_that_moment_out(self, store: BaseMemoryStore) -> None:
        tick = timedelta(microseconds=1)
        for number, moment in enumerate((NOON - tick, NOON, NOON + tick, NOON + tick)):
            append(store, episode(str(number), "a1" if number < 3 else "a2", created_at=moment))
        append(store, episode("other kind", "a1", kind="success", created_at=NOON + tick))
        assert store.count_since(HOME, "mistake", ["a1"], NOON) == 1
        assert store.count_since(HOME, "mistake", ["a1", "a2"], NOON) == 2
        assert store.count_since(HOME, "mistake", ["a1"], NOON - timedelta(days=1)) == 3
        assert store.count_since(HOME, "mistake", [], NOON - timedelta(days=1)) == 0
        east = timezone(timedelta(hours=5))
        assert store.count_since(HOME, "mistake", ["a1"], NOON.astimezone(east)) == 1

    def test_the_next_success_is_the_first_later_one_in_the_same_thread(
        self,
        store: BaseMemoryStore,
    ) -> None:
        append(store, episode("early", "too early", kind="success", thread="t"))
        append(store, episode("failed", "step", thread="t"))
        append(store, episode("elsewhere", "elsewhere", kind="success", thread="u"))
        append(store, episode("foreign", "foreign", kind="success", thread="t", namespace=("x",)))
        append(store, episode("failed again", "step", thread="t"))
        assert store.next_success(HOME, ["failed"]) is None
        call = Action("move(to=1)", "move", {"to": 1})
        append(store, episode("worked", call, kind="success", thread="t"))
        append(store, episode("worked later", "later", kind="success", thread="t"))
        assert store.next_success(HOME, ["failed", "failed again"]) == call
        assert store.next_success(HOME, ["unknown"]) is None
        assert store.next_success(HOME, []) is None

    def test_the_newest_of_the_episodes_decides_about_the_next_success(
        self,
        store: BaseMemoryStore,
    ) -> None:
        for name, thread in (("old", "t"), ("new", "u")):
            append(store, episode(name, "step", thread=thread))
        append(store, episode("after new", "new remedy", kind="success", thread="u"))
        append(store, episode("after old", "old remedy", kind="success", thread="t"))
        found = store.next_success(HOME, ["old", "new"])
        assert found is not None
        assert found.text == "new remedy"

    def test_episodes_without_a_thread_have_no_next_success(self, store: BaseMemoryStore) -> None:
        append(store, episode("failed", "step"))
        append(store, episode("worked", "other step", kind="success"))
        assert store.next_success(HOME, ["failed"]) is None
