from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.pages import collect_report
from driftguard_langgraph.pages.chains import CHAINS, WORDINGS, ChainTable
from driftguard_langgraph.testing.samples import HOME, NOON, append, episode
from driftguard_langgraph.types import Kind, utc_now
from tests.report_samples import fill, guard_over

ACTION, FEEDBACK, OUTCOME = "delete the temp directory", "cache wiped", "the build took an hour"


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[DriftGuard]:
    """A guard that embeds texts with the real model, over a file."""
    with SqliteMemoryStore.open(tmp_path / "memory.sqlite3") as store:
        yield DriftGuard(store=store)


def strongest(guard: DriftGuard, kind: str) -> dict[str, Any]:
    chains: list[dict[str, Any]] = collect_report(guard)[kind]["chains"]
    return chains[0]


def test_the_confidence_is_what_the_guard_gives_the_same_step(guard: DriftGuard) -> None:
    long_ago = utc_now() - timedelta(days=12)
    guard.record(ACTION, FEEDBACK, OUTCOME, created_at=long_ago)
    for _ in range(3):
        guard.record("clear out the temp folder", FEEDBACK, OUTCOME, created_at=long_ago)
    [warning] = guard.review(ACTION).warnings
    found = strongest(guard, "mistakes")
    assert found["confidence"] == pytest.approx(warning.confidence, abs=1e-3)
    assert found["frequency"] == 4
    assert not found["retired"]


def test_successes_of_the_same_words_take_from_it_until_the_guard_is_silent(
    guard: DriftGuard,
) -> None:
    for _ in range(3):
        guard.record(ACTION, FEEDBACK, OUTCOME)
    guard.record_success(ACTION, "done", "fine")
    [warning] = guard.review(ACTION).warnings
    found = strongest(guard, "mistakes")
    assert found["confidence"] == pytest.approx(warning.confidence, abs=1e-3)
    assert (found["successes_since"], found["retired"]) == (1, False)

    for _ in range(2):
        guard.record_success(ACTION, "done", "fine")
    assert guard.review(ACTION).warnings == ()
    assert strongest(guard, "mistakes")["retired"]


def test_a_success_whose_runs_failed_is_trusted_as_little_as_the_guard_does(
    guard: DriftGuard,
) -> None:
    guard.record_success(ACTION, "done", "fine", provenance={"thread_id": "t"})
    guard.record_run_outcome(thread_id="t", success=False, outcome="the disk was empty")
    [good] = guard.review(ACTION).reinforcements
    assert good.evidence.run_trust < 1
    assert strongest(guard, "successes")["confidence"] == pytest.approx(good.confidence, abs=1e-3)


def test_chains_are_shown_in_the_words_that_were_written(guard: DriftGuard) -> None:
    guard.record("Delete THE temp directory!", "Cache was WIPED.", "40 minutes lost")
    guard.record("delete the temp directory", "Cache was WIPED.", "40 minutes lost")
    found = strongest(guard, "mistakes")
    assert found["action"] == "Delete THE temp directory!"
    assert found["also"] == ["delete the temp directory"]
    assert found["wordings"] == 2
    assert (found["feedback"], found["outcome"]) == ("Cache was WIPED.", "40 minutes lost")


def chains(store: EphemeralMemoryStore, kind: Kind = "mistake", now: datetime = NOON) -> Any:
    return ChainTable(store, HOME, kind, now, 0.3).to_dict()


def test_the_most_frequent_comes_first_and_of_equals_the_newest() -> None:
    store = EphemeralMemoryStore()
    for number, (action, day) in enumerate([("a", 0), ("b", 1), ("c", 2), ("a", 0)]):
        at = NOON + timedelta(days=day)
        append(store, episode(f"e{number}", action, "f", "o", created_at=at))
    assert [each["action"] for each in chains(store)["chains"]] == ["a", "c", "b"]


def test_many_chains_and_wordings_are_cut_and_counted() -> None:
    store = EphemeralMemoryStore()
    fill(store, 90)
    for number in range(20):
        said = episode(f"w{number}", f"wording {number}", "f", "o")
        append(store, said, {f"wording {number}": "node"})
    found = chains(store)
    assert found["count"] == 61
    assert len(found["chains"]) == CHAINS
    top = found["chains"][0]
    assert top["action"] == "wording 0"
    assert top["wordings"] == 20
    assert len(top["also"]) == WORDINGS


def test_reading_a_memory_leaves_no_trace_of_a_warning() -> None:
    store = EphemeralMemoryStore()
    append(store, episode())
    collect_report(guard_over(store))
    [path] = store.paths(HOME, "mistake")
    assert path.last_used is None
