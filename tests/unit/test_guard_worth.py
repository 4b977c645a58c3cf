"""Holdout, settlement and muting through the guard, on real SQLite."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph import (
    ConfigurationError,
    DriftGuard,
    DriftGuardSettings,
    EphemeralMemoryStore,
    InvalidEpisode,
    SqliteMemoryStore,
)
from driftguard_langgraph.errors import GuardrailTriggered
from driftguard_langgraph.events import Event, ReviewCompleted, WarningSettled
from driftguard_langgraph.judgement.muting import MIN_SUCCESSES
from driftguard_langgraph.judgement.settlement import SETTLEMENT_KEY, kept_in
from driftguard_langgraph.judgement.worth import Tally
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.testing.samples import SeededEmbedder
from driftguard_langgraph.types import utc_now

STEP, OTHER = "drop the orders table", "archive the orders table to cold storage"


@contextmanager
def opened(path: Path, hooks: Any = (), **settings: Any) -> Iterator[DriftGuard]:
    with SqliteMemoryStore.open(path / "memory.sqlite3") as store:
        yield DriftGuard(
            store=store,
            embeddings=SeededEmbedder(),
            settings=DriftGuardSettings(**settings),
            hooks=hooks,
        )


def fail(guard: DriftGuard, times: int = 1, **details: Any) -> None:
    for _ in range(times):
        guard.record(STEP, "permission denied", "orders lost", **details)


def work(guard: DriftGuard, review: GuardReview | None = None) -> None:
    guard.record_success(STEP, "dropped", "space is free", review=review)


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[DriftGuard]:
    with opened(tmp_path) as made:
        fail(made)
        yield made


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[DriftGuard]:
    """A guard that holds everybody out."""
    with opened(tmp_path, holdout=1.0) as made:
        fail(made)
        yield made


class TestHoldout:
    @pytest.mark.parametrize("policy", ["warn", "block", "acknowledge", "speed_bump"])
    def test_what_is_held_out_is_silent_and_stops_nothing(
        self, silent: DriftGuard, policy: str
    ) -> None:
        review = silent.before_step(STEP, policy=policy, raise_on_match=True)

        assert review.decision == "proceed"
        assert (review.warnings, review.chains, review.confidence) == ((), (), 0.0)
        assert [warning.action_text for warning in review.withheld] == [STEP]
        told = json.dumps({**review.to_dict(), "query": ""}) + "\n".join(
            review.explain().splitlines()[1:]
        )
        for word in (STEP, "permission", "denied", "lost"):
            assert word not in told

    def test_without_a_holdout_nothing_is_withheld(self, guard: DriftGuard) -> None:
        with pytest.raises(GuardrailTriggered) as refused:
            guard.before_step(STEP, policy="block")
        assert refused.value.review.withheld == ()

    def test_a_thread_gets_the_same_answer_each_time_and_the_share_is_right(
        self, tmp_path: Path
    ) -> None:
        with opened(tmp_path, holdout=0.3, holdout_seed="s") as guard:
            fail(guard)
            reviews = [
                [guard.review(STEP, thread_id=f"t{n}") for _ in range(2)] for n in range(300)
            ]
        held = [bool(first.withheld) for first, _ in reviews]
        assert [bool(again.withheld) for _, again in reviews] == held
        assert 60 <= sum(held) <= 120

    def test_what_was_learned_meanwhile_does_not_change_the_draw(self, tmp_path: Path) -> None:
        with opened(tmp_path, holdout=0.5) as guard:
            fail(guard)
            before = [bool(guard.review(STEP, thread_id=f"t{n}").withheld) for n in range(40)]
            guard.record(f"{STEP} ", "timeout", "half of it is gone")
            fail(guard, 3)
            after = [bool(guard.review(STEP, thread_id=f"t{n}").withheld) for n in range(40)]
        assert before == after

    def test_the_id_of_a_review_is_random_unless_given(self, guard: DriftGuard) -> None:
        ids = {guard.review(STEP).review_id for _ in range(3)}
        assert len(ids) == 3
        assert guard.review(STEP, review_id="mine").to_dict()["review_id"] == "mine"
        with pytest.raises(InvalidEpisode, match="review_id"):
            guard.review(STEP, review_id="  ")

    def test_a_memory_that_is_held_out_does_not_grow_stale(self, silent: DriftGuard) -> None:
        silent.review(STEP)
        (path,) = silent.store.paths(silent.namespace, "mistake")
        assert path.last_used is not None

    @pytest.mark.parametrize("wrong", [{"holdout": 1.1}, {"holdout": -0.1}, {"holdout_seed": " "}])
    def test_settings_out_of_range_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ConfigurationError, match="holdout"):
            DriftGuardSettings(**wrong)


class TestSettlement:
    def test_a_warned_step_that_runs_all_the_same_is_overridden(self, guard: DriftGuard) -> None:
        fail(guard, review=guard.review(STEP).to_dict())
        work(guard, guard.review(STEP))
        report = guard.worth()
        assert report.overridden == Tally(2, 1)
        assert report.heeded == Tally(0, 0)

    def test_what_runs_in_place_of_a_refused_step_heeds_the_warning(
        self, guard: DriftGuard
    ) -> None:
        refused = guard.review(STEP, policy="block")
        guard.record_success(OTHER, "ok", "done", review=guard.review(OTHER), instead_of=refused)
        assert guard.worth().heeded == Tally(1, 0)

    def test_the_review_of_another_step_settles_nothing(self, guard: DriftGuard) -> None:
        receipt = guard.record_success(OTHER, "ok", "done", review=guard.review(STEP))
        kept = guard.store.get(guard.namespace, receipt["episode_id"])
        assert kept is not None
        assert SETTLEMENT_KEY not in kept.metadata

    def test_recording_the_same_episode_again_settles_once(self, tmp_path: Path) -> None:
        events: list[Event] = []
        with opened(tmp_path, hooks=[events.append]) as guard:
            fail(guard)
            review = guard.review(STEP)
            for _ in range(3):
                fail(guard, review=review, episode_id="once")
            report, counters = guard.worth(), guard.metrics_snapshot()["counters"]
        assert (report.overridden, report.repeats) == (Tally(1, 1), 0)
        settled = [event for event in events if isinstance(event, WarningSettled)]
        assert settled == [WarningSettled(guard.namespace, "shown", "ran", success=False)]
        assert counters["settled_overridden_total"] == 1
        assert counters["settled_overridden_failed_total"] == 1

    def test_the_control_arm_is_told_apart_and_gives_the_lift(self, tmp_path: Path) -> None:
        with opened(tmp_path, holdout=0.5) as guard:
            fail(guard)
            for number in range(60):
                review = guard.review(STEP, thread_id=f"t{number}")
                if review.withheld:
                    fail(guard, review=review)
                else:
                    guard.record_success(OTHER, "ok", "done", instead_of=review)
            report = guard.worth()
        assert report.lift == 1.0
        assert report.heeded.settled + report.withheld.settled == 60
        assert report.interval is not None
        assert report.interval.low > 0.7

    def test_erasing_the_episode_takes_its_settlement_along(self, guard: DriftGuard) -> None:
        fail(guard, review=guard.review(STEP), episode_id="gone")
        guard.forget("gone")
        assert guard.worth().overridden == Tally(0, 0)

    def test_metadata_of_the_caller_stays_and_cannot_forge_or_break(
        self, guard: DriftGuard
    ) -> None:
        mine = {"ticket": 7, SETTLEMENT_KEY: [{"unit": "x"}, "y"]}
        fail(guard, metadata=mine, episode_id="mine", review=guard.review(STEP, review_id="r"))
        fail(guard, metadata=mine, episode_id="other")
        kept = guard.store.get(guard.namespace, "mine")
        assert kept is not None
        assert kept.metadata["ticket"] == 7
        assert [each.review_id for each in kept_in(kept.metadata)] == ["r"]
        assert guard.worth().overridden == Tally(1, 1)

    def test_an_export_carries_settlements_although_ids_look_like_secrets(
        self, guard: DriftGuard, tmp_path: Path
    ) -> None:
        # A review id in the form of an API key, and a redactor that takes every digest.
        review = guard.review(STEP, review_id="sk-" + "A1b2" * 12, thread_id="t")
        fail(guard, review=review)
        guard.export_jsonl(tmp_path / "memory.jsonl")
        settings = DriftGuardSettings(redact_patterns=("[0-9a-f]{8,}",))
        other = DriftGuard(
            store=EphemeralMemoryStore(), embeddings=SeededEmbedder(), settings=settings
        )
        other.import_jsonl(tmp_path / "memory.jsonl")
        assert other.worth() == guard.worth()
        assert other.worth().overridden == Tally(1, 1)

    def test_a_text_in_place_of_a_review_is_refused(self, guard: DriftGuard) -> None:
        with pytest.raises(InvalidEpisode, match="review must be a GuardReview"):
            fail(guard, review="the review")

    def test_the_async_twins_do_the_same(self, guard: DriftGuard) -> None:
        async def run() -> Tally:
            review = await guard.areview(STEP, thread_id="t", review_id="r")
            await guard.arecord(STEP, "denied", "lost", review=review)
            return (await guard.aworth()).overridden

        assert asyncio.run(run()) == Tally(1, 1)

    def test_another_namespace_has_its_own(self, guard: DriftGuard) -> None:
        work(guard, guard.review(STEP))
        assert guard.worth(namespace=("nobody",)).warned == Tally(0, 0)


class TestMuting:
    @pytest.fixture
    def wrong(self, tmp_path: Path) -> Iterator[DriftGuard]:
        """A step that failed often before somebody mended the cause."""
        with opened(tmp_path) as guard:
            fail(guard, 3 * MIN_SUCCESSES, created_at=utc_now() - timedelta(days=1))
            yield guard

    def override(self, guard: DriftGuard, times: int) -> None:
        for _ in range(times):
            work(guard, guard.review(STEP))

    def test_a_warning_that_was_overridden_and_wrong_often_enough_is_muted(
        self, wrong: DriftGuard
    ) -> None:
        self.override(wrong, MIN_SUCCESSES - 1)
        assert wrong.review(STEP).decision == "warn"
        self.override(wrong, 1)

        review = wrong.before_step(STEP, policy="block")
        assert review.decision == "proceed"
        assert (review.warnings, review.confidence, review.chains) == ((), 0.0, ())
        assert [warning.action_text for warning in review.muted] == [STEP]
        assert review.related == ()
        assert "muted: 'drop the orders table'" in review.explain()
        assert review.to_dict()["muted"][0]["action_text"] == STEP

    def test_it_stays_muted_however_often_it_works(self, wrong: DriftGuard) -> None:
        self.override(wrong, MIN_SUCCESSES)
        for _ in range(MIN_SUCCESSES + 3):
            review = wrong.review(STEP)
            assert review.muted
            work(wrong, review)
        report = wrong.worth()
        assert report.overridden == Tally(MIN_SUCCESSES, 0)
        assert report.muted == Tally(MIN_SUCCESSES + 3, 0)

    def test_the_next_failure_brings_it_back(self, wrong: DriftGuard) -> None:
        self.override(wrong, MIN_SUCCESSES)
        assert wrong.review(STEP).muted
        fail(wrong, review=wrong.review(STEP))
        review = wrong.review(STEP)
        assert review.decision == "warn"
        assert review.muted == ()
        self.override(wrong, MIN_SUCCESSES - 1)
        assert wrong.review(STEP).warnings

    def test_successes_that_nobody_was_warned_of_mute_nothing(self, wrong: DriftGuard) -> None:
        for _ in range(MIN_SUCCESSES + 1):
            work(wrong)
        assert wrong.review(STEP).decision == "warn"

    def test_a_success_recorded_twice_or_of_one_review_counts_once(self, wrong: DriftGuard) -> None:
        review = wrong.review(STEP)
        for _ in range(MIN_SUCCESSES):
            work(wrong, review)
        assert wrong.review(STEP).decision == "warn"

    def test_a_failure_for_another_reason_brings_it_back_too(self, wrong: DriftGuard) -> None:
        self.override(wrong, MIN_SUCCESSES)
        wrong.record(STEP, "connection timed out", "half of the orders are gone")
        review = wrong.review(STEP)
        assert len(review.warnings) == 2
        assert review.muted == ()

    def test_overrides_from_before_the_last_failure_do_not_count(self, wrong: DriftGuard) -> None:
        self.override(wrong, MIN_SUCCESSES)
        fail(wrong)
        for _ in range(MIN_SUCCESSES):
            wrong.record_success(STEP, "it went through", "nobody was warned")
        assert wrong.review(STEP).decision == "warn"

    def test_what_ran_in_place_of_the_step_mutes_nothing(self, wrong: DriftGuard) -> None:
        for _ in range(MIN_SUCCESSES):
            wrong.record_success(f"{STEP}.", "ok", "done", instead_of=wrong.review(STEP))
        review = wrong.review(STEP)
        assert review.warnings[0].evidence.successes_since == MIN_SUCCESSES
        assert review.muted == ()

    def test_events_and_counters_tell_of_it(self, tmp_path: Path) -> None:
        events: list[Event] = []
        with opened(tmp_path, hooks=[events.append]) as guard:
            fail(guard, 3 * MIN_SUCCESSES)
            self.override(guard, MIN_SUCCESSES)
            guard.review(STEP)
            counters = guard.metrics_snapshot()["counters"]
        (last,) = [event for event in events if isinstance(event, ReviewCompleted)][-1:]
        assert (last.warnings, last.muted) == (0, 1)
        assert counters["review_warnings_muted_total"] == 1
        assert counters["settled_overridden_total"] == MIN_SUCCESSES
