"""The guard on the real default model and real SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from driftguard_langgraph import (
    ConfigurationError,
    DriftGuard,
    DriftGuardSettings,
    EmbeddingError,
    EphemeralMemoryStore,
    GuardrailAcknowledgementRequired,
    GuardrailTriggered,
    InvalidEpisode,
    SchemaMismatch,
    SqliteMemoryStore,
    StoreUnavailable,
)
from driftguard_langgraph.events import EpisodeRecorded, Event, MemoryFailed, ReviewCompleted

FAILURE = ("retry the payment webhook with the same payload", "422 again", "run aborted")


@pytest.fixture
def guard() -> Iterator[DriftGuard]:
    with DriftGuard(store=EphemeralMemoryStore()) as made:
        yield made


@pytest.fixture
def burnt(guard: DriftGuard) -> DriftGuard:
    guard.record(*FAILURE)
    return guard


class BrokenEmbedder:
    model_id = "broken"
    dimension = 3

    def embed(self, texts: Any) -> NDArray[np.float32]:
        raise EmbeddingError("the model is on fire")


class TestRemembering:
    def test_a_failure_is_recalled_in_other_words_with_its_evidence(
        self, guard: DriftGuard
    ) -> None:
        guard.record(
            "delete the temp directory", "build cache was wiped", "next build took 40 minutes",
            severity="high", provenance={"thread_id": "t1"},
        )  # fmt: skip

        review = guard.before_step("remove everything under the tmp folder")

        [warning] = review.warnings
        assert warning.action_text == "delete the temp directory"
        assert warning.feedback_text == "build cache was wiped"
        assert warning.outcome_text == "next build took 40 minutes"
        assert warning.severity == "high"
        assert warning.frequency == 1
        assert review.chains == ((warning.trigger, warning.risk, warning.outcome),)
        assert review.confidence == warning.confidence > 0.6
        assert review.decision == "warn"
        assert review.may_run

    def test_nothing_is_said_about_an_unrelated_step(self, burnt: DriftGuard) -> None:
        review = burnt.before_step("water the plants on the balcony")

        assert not review.warnings
        assert not review.reinforcements
        assert not review.chains
        assert review.decision == "proceed"

    def test_a_look_alike_is_related_and_never_a_warning(self, burnt: DriftGuard) -> None:
        review = burnt.before_step("do not retry the payment webhook with the same payload")

        assert not review.warnings
        [alike] = review.related
        assert alike.match.kind == "different_polarity"
        assert alike.action_text == FAILURE[0]

    def test_a_success_is_a_reinforcement_and_weakens_no_mistake(self, guard: DriftGuard) -> None:
        guard.record_success("bake at 220 degrees", "crisp crust", "everyone was happy")

        review = guard.before_step("bake at 220 degrees")

        [found] = review.reinforcements
        assert (found.recommendation, found.frequency) == ("crisp crust", 1)
        assert not review.warnings

    def test_successes_retire_a_warning_and_a_new_failure_brings_it_back(
        self, burnt: DriftGuard
    ) -> None:
        for _ in range(50):
            burnt.record_success(FAILURE[0], "200 OK", "paid")
        assert not burnt.before_step(FAILURE[0]).warnings

        burnt.record(*FAILURE)

        [warning] = burnt.before_step(FAILURE[0]).warnings
        assert warning.frequency == 2

    def test_the_remedy_is_what_worked_next_in_the_same_thread(self, guard: DriftGuard) -> None:
        guard.record(*FAILURE, provenance={"thread_id": "t1"})
        guard.record_success("tidy the desk", "ok", "ok", provenance={"thread_id": "t2"})
        guard.record_success(
            "fix the payload of the webhook, then send it",
            "200 OK",
            "paid",
            provenance={"thread_id": "t1"},
        )

        [warning] = guard.before_step(FAILURE[0]).warnings

        assert warning.remedy == "fix the payload of the webhook, then send it"

    def test_what_worked_next_but_is_about_something_else_is_no_remedy(
        self, guard: DriftGuard
    ) -> None:
        guard.record(*FAILURE, provenance={"thread_id": "t1"})
        guard.record_success("tidy the desk", "ok", "ok", provenance={"thread_id": "t1"})

        [warning] = guard.before_step(FAILURE[0]).warnings

        assert warning.remedy is None

    def test_two_failures_that_share_feedback_never_make_a_chain_nobody_saw(
        self, guard: DriftGuard
    ) -> None:
        guard.record("bake sourdough bread", "timeout error", "dinner was late")
        guard.record("deploy the api at night", "timeout error", "the pager went off")

        review = guard.before_step("bake sourdough bread")

        assert [chain[-1] for chain in review.chains] == ["dinner be late"]
        assert guard.stats()["mistakes"] == {"episodes": 2, "nodes": 5, "edges": 4}

    def test_an_outcome_that_is_also_an_action_does_not_extend_the_chain(
        self, guard: DriftGuard
    ) -> None:
        guard.record("edit the config", "service is down", "restart the server")
        guard.record("restart the server", "connection refused", "users saw errors")

        [chain] = guard.before_step("edit the config").chains

        assert chain[-1] == "restart server"

    def test_a_step_that_failed_under_several_identifiers_fails_under_the_next(
        self, guard: DriftGuard
    ) -> None:
        for order in ("A17", "B04"):
            call = {"name": "refund", "args": {"order": order, "reason": "late"}}
            guard.record(call, "permission denied for role clerk", "customer waits")

        call = {"name": "refund", "args": {"order": "C99", "reason": "late"}}
        [warning] = guard.before_step(call).warnings
        assert warning.match.kind == "same_frame"
        assert warning.match.shared == ("A17", "B04")

        done = {"name": "refund", "args": {"order": "D01", "reason": "late"}}
        guard.record_success(done, "refunded", "customer is happy")
        assert not guard.before_step(call).warnings

    def test_feedback_that_names_the_identifier_is_about_that_one(self, guard: DriftGuard) -> None:
        for order in ("A17", "B04"):
            call = {"name": "refund", "args": {"order": order}}
            guard.record(call, f"there is no order {order}", "customer waits")

        assert not guard.before_step({"name": "refund", "args": {"order": "C99"}}).warnings

    def test_a_review_explains_itself(self, burnt: DriftGuard) -> None:
        burnt.record_success(FAILURE[0], "200 OK", "paid", created_at=LONG_AGO)

        said = burnt.before_step(FAILURE[0]).explain()

        assert f"failed: {FAILURE[0]!r} -> '422 again' -> 'run aborted'" in said
        assert "worked: " in said
        assert "seen 1x, led there 1x" in said
        assert "policy warn" in said

    def test_the_worst_outcome_is_not_hidden_behind_a_frequent_mild_one(
        self, guard: DriftGuard
    ) -> None:
        for _ in range(3):
            guard.record("run the migration", "lock timeout", "users waited", severity="low")
        guard.record("run the migration", "lock timeout", "table corrupted", severity="critical")

        [warning] = guard.before_step("run the migration").warnings

        assert warning.severity == "critical"
        assert warning.outcome_text == "table corrupted"
        assert warning.frequency == 4

    def test_the_same_episode_id_counts_once(self, guard: DriftGuard) -> None:
        first = guard.record(*FAILURE, episode_id="t1:call-1")
        again = guard.record(*FAILURE, episode_id="t1:call-1")

        assert (first["status"], again["status"]) == ("stored", "duplicate")
        assert guard.stats()["episodes"] == 1
        assert guard.record(*FAILURE, episode_id="t1:call-1", namespace=("b",))["status"] == (
            "stored"
        )

    def test_namespaces_know_nothing_of_each_other(self, guard: DriftGuard) -> None:
        guard.record(*FAILURE, namespace=("acme", "ann@example.com"))

        assert not guard.before_step(FAILURE[0]).warnings
        assert guard.before_step(FAILURE[0], namespace=("acme", "ann@example.com")).warnings
        assert not guard.before_step(FAILURE[0], namespace=("acme",)).warnings

    def test_a_tool_call_is_recalled_by_its_arguments(self, guard: DriftGuard) -> None:
        guard.record({"name": "refund", "args": {"order": "A17"}}, "no such order", "lost")

        same = {"name": "refund", "args": {"order": "A17"}, "id": "call_9", "type": "tool_call"}
        assert guard.before_step(same).warnings
        assert not guard.before_step({"name": "refund", "args": {"order": "A18"}}).warnings

    def test_a_memory_that_works_does_not_expire_and_others_do(self) -> None:
        settings = DriftGuardSettings(prune_node_stale_days=10)
        guard = DriftGuard(store=EphemeralMemoryStore(), settings=settings)
        long_ago = datetime.now(UTC) - timedelta(days=50)
        guard.record(*FAILURE, created_at=long_ago)
        guard.record("paint the fence", "rain", "paint ran", created_at=long_ago)
        guard.record("feed the cat", "cat is full", "cat is fat")
        assert guard.before_step(FAILURE[0]).warnings

        report = guard.prune()

        assert report["mistakes"]["episodes_removed"] == 1
        assert guard.before_step(FAILURE[0]).warnings
        assert guard.before_step("feed the cat").warnings
        assert not guard.before_step("paint the fence").warnings

    def test_forgetting_one_episode_leaves_the_others(self, guard: DriftGuard) -> None:
        receipt = guard.record(*FAILURE)
        guard.record("feed the cat", "cat is full", "cat is fat")

        assert guard.forget(receipt["episode_id"])
        assert not guard.forget(receipt["episode_id"])
        assert guard.stats()["episodes"] == 1
        with pytest.raises(InvalidEpisode):
            guard.forget("\ud800")


class TestPolicies:
    def test_block_raises_with_the_review(self, burnt: DriftGuard) -> None:
        with pytest.raises(GuardrailTriggered, match="422 again") as caught:
            burnt.before_step(FAILURE[0], policy="block")

        assert caught.value.review.decision == "block"
        assert caught.value.review.warnings

    def test_acknowledge_raises_until_it_is(self, burnt: DriftGuard) -> None:
        with pytest.raises(GuardrailAcknowledgementRequired):
            burnt.before_step(FAILURE[0], policy="acknowledge")

        passed = burnt.before_step(FAILURE[0], policy="acknowledge", acknowledged=True)
        assert passed.decision == "override"

    def test_a_speed_bump_answers_once(self, burnt: DriftGuard) -> None:
        with pytest.raises(GuardrailTriggered) as caught:
            burnt.before_step(FAILURE[0], policy="speed_bump")

        seen = [warning.trigger for warning in caught.value.review.warnings]
        passed = burnt.before_step(FAILURE[0], policy="speed_bump", bumped=seen)
        assert passed.decision == "override"

    def test_record_only_asks_nothing(self, burnt: DriftGuard) -> None:
        review = burnt.before_step(FAILURE[0], policy="record_only")

        assert review.decision == "skipped"
        assert not review.warnings
        assert burnt.metrics_snapshot()["counters"]["reviews_skipped_total"] == 1

    def test_raise_on_match_turns_warn_into_block_for_one_call(self, burnt: DriftGuard) -> None:
        with pytest.raises(GuardrailTriggered):
            burnt.before_step(FAILURE[0], raise_on_match=True)
        assert burnt.before_step(FAILURE[0]).decision == "warn"
        skipped = burnt.before_step(FAILURE[0], policy="record_only", raise_on_match=True)
        assert skipped.decision == "skipped"

    def test_weak_evidence_passes_as_an_ordinary_warning(self, burnt: DriftGuard) -> None:
        review = burnt.before_step(FAILURE[0], policy="block", min_confidence=0.99)

        assert review.decision == "warn"
        assert review.warnings

    def test_review_never_raises_for_a_policy(self, burnt: DriftGuard) -> None:
        review = burnt.review(FAILURE[0], policy="block")

        assert (review.decision, review.may_run) == ("block", False)

    def test_a_blocked_review_is_counted_once(self, burnt: DriftGuard) -> None:
        burnt.review(FAILURE[0], policy="block")

        counters = burnt.metrics_snapshot()["counters"]
        assert counters["reviews_total"] == 1
        assert counters["reviews_blocked_total"] == 1
        assert counters["review_warnings_total"] == 1
        assert counters["records_total"] == 1
        assert counters["nodes_created_total"] == 3


class TestBadInput:
    @pytest.mark.parametrize(
        "action",
        [None, 7, b"bytes", "", "  \n", "a\0b", "a\ud800b", [], {}, {"name": "x"},
         {"name": "", "args": {}}, {"name": "x", "args": []}, {"name": "x", "args": {"a": {1}}},
         {"name": "x", "args": {"a": float("nan")}}, {"name": 3, "args": {}}],
    )  # fmt: skip
    def test_an_action_that_is_none_is_refused_everywhere(
        self, guard: DriftGuard, action: Any
    ) -> None:
        with pytest.raises(InvalidEpisode):
            guard.before_step(action)
        with pytest.raises(InvalidEpisode):
            guard.record(action, "feedback", "outcome")
        with pytest.raises(InvalidEpisode):
            guard.compare(action, "x")
        assert guard.stats()["episodes"] == 0

    @pytest.mark.parametrize("text", [None, 3, "", " ", b"x"])
    def test_feedback_and_outcome_must_be_text(self, guard: DriftGuard, text: Any) -> None:
        with pytest.raises(InvalidEpisode, match="feedback"):
            guard.record("do it", text, "outcome")
        with pytest.raises(InvalidEpisode, match="outcome"):
            guard.record("do it", "feedback", text)
        assert guard.stats()["episodes"] == 0

    def test_binary_output_is_kept_with_its_bytes_made_visible(self, guard: DriftGuard) -> None:
        receipt = guard.record("cat image.png", "\0\0PNG\udcff", "terminal is broken")

        assert receipt["feedback"] == "␀␀PNG�"
        assert guard.before_step("cat image.png").warnings

    @pytest.mark.parametrize(
        "details",
        [{"severity": "fatal"}, {"created_at": datetime(2026, 1, 1)}, {"created_at": "today"},  # noqa: DTZ001
         {"episode_id": ""}, {"episode_id": "x" * 501}, {"metadata": {"a": object()}},
         {"provenance": {"thread_id": 7}}, {"metadata": {"x": float("inf")}}],
    )  # fmt: skip
    def test_wrong_details_are_refused_and_nothing_is_kept(
        self, guard: DriftGuard, details: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidEpisode):
            guard.record("do it", "feedback", "outcome", **details)
        assert guard.stats()["episodes"] == 0

    def test_an_unknown_detail_is_an_error(self, guard: DriftGuard) -> None:
        with pytest.raises(TypeError, match="severty"):
            guard.record("do it", "f", "o", severty="low")  # type: ignore[call-arg]

    @pytest.mark.parametrize("namespace", [(), "acme", ("",), (" ",), ("a", 3)])
    def test_a_namespace_is_a_sequence_of_words(self, namespace: Any) -> None:
        with pytest.raises(ConfigurationError, match="namespace"):
            DriftGuard(store=EphemeralMemoryStore(), namespace=namespace)

    @pytest.mark.parametrize("floor", [float("nan"), -0.1, 1.1, "0.5", True])
    def test_min_confidence_is_a_share(self, guard: DriftGuard, floor: Any) -> None:
        with pytest.raises(ConfigurationError, match="min_confidence"):
            guard.before_step("do it", min_confidence=floor)

    @pytest.mark.parametrize("wrong", ["false", 1, None])
    def test_only_true_acknowledges(self, guard: DriftGuard, wrong: Any) -> None:
        with pytest.raises(ConfigurationError, match="acknowledged"):
            guard.before_step("do it", acknowledged=wrong)

    @pytest.mark.parametrize("wrong", ["do it", 5, None])
    def test_bumped_is_a_collection_of_triggers(self, guard: DriftGuard, wrong: Any) -> None:
        with pytest.raises(ConfigurationError, match="bumped"):
            guard.before_step("do it", bumped=wrong)

    def test_an_unknown_policy_is_refused(self, guard: DriftGuard) -> None:
        with pytest.raises(ConfigurationError, match="blok"):
            guard.before_step("do it", policy="blok")

    def test_a_huge_text_is_bounded_and_still_told_from_another(self, guard: DriftGuard) -> None:
        huge = "copy this line " * 70_000
        other = huge[:500_000] + "X" + huge[500_000:]

        receipt = guard.record(huge, "out of memory", "killed")

        assert len(receipt["action"]) == guard.settings.max_text_chars
        assert guard.before_step(huge).warnings[0].match.kind == "exact"
        assert guard.compare(huge, other).kind != "exact"

    def test_of_a_long_text_only_head_and_tail_are_embedded_and_all_of_it_is_compared(
        self,
    ) -> None:
        embedded: list[str] = []

        class Watched(Letters):
            def embed(self, texts: Any) -> NDArray[np.float32]:
                embedded.extend(texts)
                return super().embed(texts)

        settings = DriftGuardSettings(embedding_max_chars=300)
        guard = DriftGuard(
            store=EphemeralMemoryStore(), embeddings=Watched(26, "w"), settings=settings
        )
        middle = ["delete the rows of 2024", "delete the rows of 2025"]
        a, b = ("please " * 60 + text + " and report" * 60 for text in middle)

        assert guard.compare(a, b).kind == "different_value"
        assert {len(text) for text in embedded} == {300}

    def test_a_huge_text_is_refused_when_the_settings_say_so(self) -> None:
        settings = DriftGuardSettings(text_overflow="refuse", max_text_chars=1000)
        guard = DriftGuard(store=EphemeralMemoryStore(), settings=settings)

        with pytest.raises(InvalidEpisode, match="max_text_chars=1000"):
            guard.record("x" * 1001, "feedback", "outcome")
        assert guard.stats()["episodes"] == 0


class TestFailures:
    def test_a_failing_embedder_lets_the_step_run_when_open(self) -> None:
        seen: list[Event] = []
        guard = DriftGuard(
            store=EphemeralMemoryStore(), embeddings=BrokenEmbedder(), hooks=[seen.append]
        )

        review = guard.before_step("do it", policy="block")
        receipt = guard.record("do it", "f", "o")

        assert (review.decision, review.may_run) == ("unavailable", True)
        assert "on fire" in str(review.error)
        assert receipt["status"] == "unavailable"
        assert "on fire" in str(receipt["error"])
        assert guard.stats()["episodes"] == 0
        assert [type(event) for event in seen] == [MemoryFailed, ReviewCompleted, MemoryFailed]
        assert guard.metrics_snapshot()["counters"]["memory_failures_total"] == 2

    def test_a_failing_embedder_raises_when_closed(self) -> None:
        guard = DriftGuard(
            store=EphemeralMemoryStore(),
            embeddings=BrokenEmbedder(),
            settings=DriftGuardSettings(on_store_error="closed"),
        )

        with pytest.raises(EmbeddingError, match="on fire"):
            guard.before_step("do it")
        with pytest.raises(EmbeddingError, match="on fire"):
            guard.record("do it", "f", "o")

    def test_a_closed_store_is_an_outage(self, burnt: DriftGuard) -> None:
        burnt.store.close()

        assert burnt.before_step(FAILURE[0]).decision == "unavailable"
        closed = DriftGuardSettings(on_store_error="closed")
        with pytest.raises(StoreUnavailable):
            DriftGuard(store=burnt.store, settings=closed).before_step(FAILURE[0])

    def test_a_foreign_database_is_refused_and_left_as_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "crm.sqlite3"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE customers(name)")
        connection.close()
        before = path.read_bytes()
        guard = DriftGuard(settings=DriftGuardSettings(sqlite_filepath=path))

        with pytest.raises(SchemaMismatch, match="another application"):
            guard.before_step("do it")

        assert path.read_bytes() == before

    def test_a_damaged_file_is_kept_and_the_steps_go_on(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        path = tmp_path / "memory.sqlite3"
        path.write_bytes(b"not a database at all " * 100)

        guard = DriftGuard(settings=DriftGuardSettings(sqlite_filepath=path))
        receipt = guard.record(*FAILURE)

        assert receipt["status"] == "unavailable"
        assert "move it away" in str(receipt["error"])
        assert guard.before_step(FAILURE[0]).decision == "unavailable"
        assert path.read_bytes() == b"not a database at all " * 100
        assert "is damaged" in caplog.text
        path.rename(tmp_path / "old")
        assert guard.record(*FAILURE)["status"] == "stored"

    def test_a_failing_hook_does_not_fail_the_step(self, caplog: pytest.LogCaptureFixture) -> None:
        def hook(event: Event, /) -> None:
            raise RuntimeError(type(event).__name__)

        guard = DriftGuard(store=EphemeralMemoryStore(), hooks=[hook])

        assert guard.record(*FAILURE)["status"] == "stored"
        assert "EpisodeRecorded" in caplog.text


class TestModels:
    def test_another_model_re_embeds_a_small_memory_by_itself(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.sqlite3"
        with SqliteMemoryStore.from_conn_string(str(path)) as store:
            DriftGuard(store=store, embeddings=Letters(26, "letters")).record(*FAILURE)

        with SqliteMemoryStore.from_conn_string(str(path)) as store:
            guard = DriftGuard(store=store)

            assert guard.before_step("send the payment webhook with the same payload").warnings
            space = store.space()
            assert space is not None
            assert space.dimension == 384

    def test_a_large_memory_is_not_mixed_but_reported(self) -> None:
        store = EphemeralMemoryStore()
        DriftGuard(store=store, embeddings=Letters(26, "letters")).record(*FAILURE)
        guard = DriftGuard(store=store, settings=DriftGuardSettings(reembed_limit=2))

        with pytest.raises(SchemaMismatch, match=r"reembed\(\)"):
            guard.before_step(FAILURE[0])
        assert guard.reembed() == 3
        assert guard.before_step(FAILURE[0]).warnings


class Letters:
    """A real, tiny embedder: letter frequencies."""

    def __init__(self, dimension: int, model_id: str) -> None:
        self.dimension = dimension
        self.model_id = model_id

    def embed(self, texts: Any) -> NDArray[np.float32]:
        letters = [chr(97 + i) for i in range(self.dimension)]
        counts = np.array([[text.lower().count(c) + 0.01 for c in letters] for text in texts])
        unit: NDArray[np.float32] = counts / np.linalg.norm(counts, axis=1, keepdims=True)
        return unit.astype(np.float32)


class TestShape:
    def test_a_review_is_plain_json(self, burnt: DriftGuard) -> None:
        burnt.record_success(FAILURE[0] + " slowly", "fine", "fine", created_at=LONG_AGO)

        plain = burnt.before_step(FAILURE[0]).to_dict()

        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert plain["warnings"][0]["match"]["kind"] == "exact"

    async def test_every_async_twin_does_what_the_sync_method_does(self, guard: DriftGuard) -> None:
        receipt = await guard.arecord(*FAILURE)
        await guard.arecord_success("feed the cat", "purr", "happy cat")

        assert (await guard.abefore_step(FAILURE[0])).warnings
        assert (await guard.areview(FAILURE[0], policy="block")).decision == "block"
        with pytest.raises(GuardrailTriggered):
            await guard.abefore_step(FAILURE[0], policy="block")
        assert (await guard.acompare("feed the cat", "feed the cat")).kind == "exact"
        assert (await guard.agraph("success")).number_of_nodes() == 3
        assert (await guard.astats())["episodes"] == 2
        assert (await guard.aprune())["mistakes"]["episodes_removed"] == 0
        assert await guard.aforget(receipt["episode_id"])
        await guard.aclose()

    def test_events_carry_no_recorded_text(self) -> None:
        seen: list[Event] = []
        guard = DriftGuard(store=EphemeralMemoryStore(), hooks=[seen.append])
        guard.record(*FAILURE)
        guard.before_step(FAILURE[0])

        assert [type(event) for event in seen] == [EpisodeRecorded, ReviewCompleted]
        assert not any(text in repr(seen) for text in FAILURE)

    def test_nothing_is_opened_before_the_first_use(self, user_data_dir: Path) -> None:
        guard = DriftGuard()
        assert not user_data_dir.exists()

        guard.record(*FAILURE)

        assert user_data_dir.exists()
        guard.close()


LONG_AGO = datetime.now(UTC) - timedelta(days=100)


async def test_a_guard_can_be_built_inside_an_event_loop(tmp_path: Path) -> None:
    guard = DriftGuard(settings=DriftGuardSettings(sqlite_filepath=tmp_path / "memory.sqlite3"))

    assert (await guard.arecord(*FAILURE))["status"] == "stored"
    await guard.aclose()
