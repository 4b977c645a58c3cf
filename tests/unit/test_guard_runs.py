"""Late outcomes of whole runs, on the real default model and real SQLite."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
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
    StoreUnavailable,
)
from driftguard_langgraph.events import Event, RunOutcomeRecorded
from driftguard_langgraph.memory.stores.records import RunVerdict

STEP = "refund the order to the card on file"
ALIKE = "refund the order to the card that is on file"
OTHERS = ("look up the customer", "write the closing mail")
ASTRAY = "the money went to a closed card"


@pytest.fixture
def guard() -> Iterator[DriftGuard]:
    with DriftGuard(store=EphemeralMemoryStore()) as made:
        yield made


def run(guard: DriftGuard, thread: str, *steps: str, **where: str) -> None:
    """Let every step of a run work."""
    for step in steps:
        guard.record_success(step, "ok", "done", provenance={"thread_id": thread, **where})


def fail(guard: DriftGuard, thread: str) -> Any:
    return guard.record_run_outcome(thread_id=thread, success=False, outcome=ASTRAY)


class TestRecording:
    def test_a_verdict_is_stored_then_replaced(self, guard: DriftGuard) -> None:
        run(guard, "t1", STEP, *OTHERS)

        first = fail(guard, "t1")
        again = guard.record_run_outcome(thread_id="t1", success=True, outcome="it arrived")

        assert first == {
            "status": "stored", "thread_id": "t1", "run_id": None, "success": False,
            "outcome": ASTRAY, "actions": 3, "error": None,
        }  # fmt: skip
        assert (again["status"], again["success"]) == ("replaced", True)
        credit = guard.review(STEP).run_credit
        assert credit is not None
        assert (credit.failed_runs, credit.succeeded_runs) == (0, 1)

    def test_a_run_that_nobody_remembers_is_unknown_and_counts_once_it_is(
        self, guard: DriftGuard
    ) -> None:
        assert fail(guard, "t1")["status"] == "unknown"
        assert fail(guard, "t1")["status"] == "unknown"

        run(guard, "t1", STEP)

        assert guard.review(STEP).run_credit is not None
        assert fail(guard, "t1")["status"] == "replaced"

    def test_a_run_may_be_named_by_its_run_id(self, guard: DriftGuard) -> None:
        run(guard, "t1", STEP, run_id="r1")
        run(guard, "t1", *OTHERS, run_id="r2")

        receipt = guard.record_run_outcome(run_id="r1", success=False, outcome=ASTRAY)

        assert (receipt["status"], receipt["run_id"], receipt["actions"]) == ("stored", "r1", 1)
        assert guard.review(STEP).run_credit is not None
        assert guard.review(OTHERS[0]).run_credit is None

    def test_an_id_too_long_to_be_kept_whole_still_meets_its_episodes(
        self, guard: DriftGuard
    ) -> None:
        run(guard, "t" * 900, STEP)

        assert fail(guard, "t" * 900)["status"] == "stored"
        assert fail(guard, "t" * 901)["status"] == "unknown"

    def test_namespaces_are_apart(self, guard: DriftGuard) -> None:
        run(guard, "t1", STEP)

        receipt = guard.record_run_outcome(
            thread_id="t1", success=False, outcome=ASTRAY, namespace=("acme",)
        )

        assert receipt["status"] == "unknown"
        assert guard.review(STEP).run_credit is None

    def test_severity_and_outcome_are_kept(self, guard: DriftGuard) -> None:
        guard.record_run_outcome(
            run_id="r1", success=False, outcome=f"{ASTRAY}\0", severity="critical"
        )

        kept = guard.store.get_run(guard.namespace, "run", "r1")

        assert kept is not None
        assert (kept.success, kept.outcome, kept.severity) == (False, f"{ASTRAY}␀", "critical")

    def test_it_is_an_event_and_a_counter(self, guard: DriftGuard) -> None:
        events: list[Event] = []
        listened = DriftGuard(store=guard.store, hooks=[events.append])
        run(guard, "t1", STEP)

        fail(listened, "t1")

        assert events == [RunOutcomeRecorded(("driftguard",), False, False, 1)]
        assert listened.metrics_snapshot()["counters"]["run_outcomes_total"] == 1

    def test_the_async_twin_does_the_same(self, guard: DriftGuard) -> None:
        run(guard, "t1", STEP)

        told = guard.arecord_run_outcome(thread_id="t1", success=False, outcome=ASTRAY)

        assert asyncio.run(told)["status"] == "stored"
        review = asyncio.run(guard.areview(STEP))
        assert review.run_credit == guard.review(STEP).run_credit is not None

    @pytest.mark.parametrize("ids", [{}, {"thread_id": "t", "run_id": "r"}])
    def test_it_is_about_a_thread_or_about_a_run(
        self, guard: DriftGuard, ids: dict[str, str]
    ) -> None:
        with pytest.raises(ConfigurationError, match="about one thread or about one run"):
            guard.record_run_outcome(**ids, success=True, outcome="fine")

    @pytest.mark.parametrize(
        "wrong",
        [{"success": "false"}, {"success": None}, {"outcome": " "}, {"outcome": None},
         {"severity": "fatal"}, {"thread_id": ""}, {"thread_id": 7}, {"thread_id": "a\0"}],
    )  # fmt: skip
    def test_what_cannot_be_kept_is_refused_and_nothing_is(
        self, guard: DriftGuard, wrong: dict[str, Any]
    ) -> None:
        told: dict[str, Any] = {"thread_id": "t1", "success": False, "outcome": ASTRAY}
        with pytest.raises(InvalidEpisode):
            guard.record_run_outcome(**{**told, **wrong})
        assert guard.store.get_run(guard.namespace, "thread", "t1") is None

    def test_an_outage_is_answered_or_raised_as_the_settings_say(self, tmp_path: Path) -> None:
        store = SqliteMemoryStore.open(tmp_path / "memory.sqlite3")
        store.close()
        receipt = fail(DriftGuard(store=store), "t1")
        assert receipt["status"] == "unavailable"
        assert receipt["error"]
        with pytest.raises(StoreUnavailable):
            fail(DriftGuard(store=store, settings=DriftGuardSettings(on_store_error="closed")), "t")


class TestReviews:
    def test_without_verdicts_a_review_is_as_it_was(self, guard: DriftGuard) -> None:
        run(guard, "t1", STEP)

        review = guard.review(STEP)

        assert review.run_credit is None
        assert review.to_dict()["run_credit"] is None
        assert "runs" not in review.explain()
        [found] = review.reinforcements
        assert found.evidence.run_trust == 1.0

    def test_the_verdict_is_shared_and_names_nobody(self, guard: DriftGuard) -> None:
        run(guard, "t1", STEP, *OTHERS)
        fail(guard, "t1")

        credits_of = [guard.review(step).run_credit for step in (STEP, *OTHERS)]

        assert len(set(credits_of)) == 1
        [credit] = set(credits_of)
        assert credit is not None
        assert credit.blame == pytest.approx(1 / 3)
        assert 0.5 < credit.suspicion < 0.55

    def test_no_verdict_ever_makes_a_warning_or_stops_a_step(self, guard: DriftGuard) -> None:
        for number in range(30):
            run(guard, f"t{number}", STEP)
            fail(guard, f"t{number}")

        review = guard.before_step(STEP, policy="block", min_confidence=0.0)

        assert review.run_credit is not None
        assert review.run_credit.suspicion > 0.9
        assert (review.decision, review.warnings, review.confidence) == ("proceed", (), 0.0)

    def test_successes_in_failing_runs_are_trusted_less_and_it_is_explained(
        self, guard: DriftGuard
    ) -> None:
        for number in range(8):
            run(guard, f"t{number}", STEP)
        [before] = guard.review(STEP).reinforcements
        for number in range(8):
            fail(guard, f"t{number}")

        review = guard.review(STEP)

        [after] = review.reinforcements
        assert review.run_credit is not None
        trust = 2 * (1 - review.run_credit.suspicion)
        assert trust == pytest.approx(2 * (1 - 10 / 12))
        assert after.confidence == pytest.approx(before.confidence * trust)
        assert f"x {trust:.2f} [its runs failed in the end]" in review.explain()
        assert "of its runs 8 failed and 0 succeeded in the end: blame 8.00" in review.explain()

    def test_succeeding_runs_leave_the_trust_as_it_was(self, guard: DriftGuard) -> None:
        run(guard, "t1", STEP)
        [before] = guard.review(STEP).reinforcements
        guard.record_run_outcome(thread_id="t1", success=True, outcome="it arrived")

        [after] = guard.review(STEP).reinforcements

        assert after.confidence == pytest.approx(before.confidence)
        assert after.evidence.run_trust == 1.0

    def test_a_warning_weighs_what_it_weighed(self, guard: DriftGuard) -> None:
        guard.record(STEP, "declined", "no refund", provenance={"thread_id": "t1"})
        before = guard.review(STEP)
        fail(guard, "t1")

        after = guard.review(STEP)

        assert after.run_credit is not None
        assert after.confidence == pytest.approx(before.confidence)
        assert [w.evidence for w in after.warnings] == [w.evidence for w in before.warnings]

    def test_it_is_found_in_other_words_and_counted_once_over_both_graphs(
        self, guard: DriftGuard
    ) -> None:
        guard.record(STEP, "timeout", "tried again", provenance={"thread_id": "t1"})
        run(guard, "t1", STEP, *OTHERS)
        fail(guard, "t1")

        credit = guard.review(ALIKE).run_credit

        assert credit is not None
        assert credit.failed_runs == 1
        assert credit.blame == pytest.approx(1 / 3)

    def test_a_step_that_was_not_in_the_run_has_no_part_in_it(self, guard: DriftGuard) -> None:
        run(guard, "t1", STEP)
        run(guard, "t2", "water the plants")
        fail(guard, "t1")

        assert guard.review("water the plants").run_credit is None

    def test_a_review_with_credit_is_plain_json(self, guard: DriftGuard) -> None:
        run(guard, "t1", STEP, *OTHERS)
        fail(guard, "t1")

        plain = guard.review(STEP).to_dict()

        assert json.loads(json.dumps(plain)) == plain
        assert plain["run_credit"] == {
            "failed_runs": 1, "succeeded_runs": 0, "blame": 0.333333, "credit": 0.0,
            "suspicion": 0.538462,
        }  # fmt: skip

    def test_forgetting_the_run_and_pruning_takes_the_verdict_along(
        self, guard: DriftGuard
    ) -> None:
        receipt = guard.record_success(STEP, "ok", "done", provenance={"thread_id": "t1"})
        fail(guard, "t1")
        guard.forget(receipt["episode_id"])
        kept: RunVerdict | None = guard.store.get_run(guard.namespace, "thread", "t1")
        assert kept is not None

        guard.prune()

        assert guard.store.get_run(guard.namespace, "thread", "t1") is None
