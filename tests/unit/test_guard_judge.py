"""A guard with a judge, on the real default model and real SQLite."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

from driftguard_langgraph import (
    ConfigurationError,
    DriftGuard,
    DriftGuardSettings,
    EphemeralMemoryStore,
)
from driftguard_langgraph.events import Event, MemoryFailed

STEP = "restart the ingest worker"
ALIKE = "bounce the ingestion process"
"""Nothing tells these two apart for certain, and nothing makes them the same."""

OPPOSITE = "do not restart the ingest worker"


@pytest.fixture(scope="module")
def score() -> float:
    """What the two are worth without a judge."""
    with DriftGuard(store=EphemeralMemoryStore()) as plain:
        found = plain.compare(STEP, ALIKE)
    assert found.kind in {"dissimilar", "paraphrase", "different_target", "different_direction"}
    return found.score


class Asked:
    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.pairs: list[set[str]] = []

    def __call__(self, a_text: str, b_text: str) -> Any:
        self.pairs.append({a_text, b_text})
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def guarded(judge: object, threshold: float, **settings: Any) -> DriftGuard:
    chosen = DriftGuardSettings(retrieval_min_similarity=threshold, **settings)
    guard = DriftGuard(store=EphemeralMemoryStore(), settings=chosen, judge=judge)
    guard.record(STEP, "connection refused", "no data for an hour")
    return guard


def test_without_a_judge_nothing_is_judged(score: float) -> None:
    assert not guarded(None, score + 0.05).before_step(ALIKE).warnings
    assert guarded(None, score - 0.05).before_step(ALIKE).warnings


def test_a_yes_warns_of_what_the_words_left_open(score: float) -> None:
    judge = Asked(answer=True)

    review = guarded(judge, score + 0.05).before_step(ALIKE)

    [warning] = review.warnings
    assert warning.match.kind == "judged"
    assert "matched: judged" in review.explain()
    assert judge.pairs == [{STEP, ALIKE}]


def test_a_no_keeps_a_step_from_being_warned_and_shows_it_as_related(score: float) -> None:
    review = guarded(Asked(answer=0.1), score - 0.05).before_step(ALIKE)

    assert not review.warnings
    [alike] = review.related
    assert (alike.action_text, alike.match.kind, alike.match.same) == (STEP, "judged", False)


def test_a_chat_model_decides_through_its_own_class(score: float) -> None:
    model = GenericFakeChatModel(messages=iter(['{"same": "yes"}']))
    guard = guarded(model, score + 0.05)

    assert guard.before_step(ALIKE).warnings
    assert guard.before_step(ALIKE).warnings, "the second time it is remembered"


def test_the_async_twins_ask_the_same_judge_off_the_event_loop(score: float) -> None:
    def judge(a_text: str, b_text: str) -> bool:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        asked.append({a_text, b_text})
        return True

    asked: list[set[str]] = []
    guard = guarded(judge, score + 0.05)

    assert asyncio.run(guard.abefore_step(ALIKE)).warnings
    assert asyncio.run(guard.acompare(ALIKE, STEP)).kind == "judged"
    assert asked == [{STEP, ALIKE}]


def test_compare_asks_the_judge_too(score: float) -> None:
    guard = guarded(Asked(answer=True), score + 0.05)

    assert guard.compare(STEP, ALIKE).same
    assert guard.compare(STEP, OPPOSITE).kind == "different_polarity"


def test_the_band_is_respected(score: float) -> None:
    judge = Asked(answer=True)
    guard = guarded(judge, score + 0.05, judge_band=0.04)

    assert not guard.before_step(ALIKE).warnings
    assert not guard.compare(STEP, ALIKE).same
    assert judge.pairs == []


def test_the_limit_holds_for_both_graphs_of_one_review_together(score: float) -> None:
    judge = Asked(answer=False)
    guard = guarded(judge, score - 0.05, judge_limit=1)
    guard.record_success(f"please {STEP}", "ok", "data again")

    guard.before_step(ALIKE)

    assert len(judge.pairs) == 1


def test_a_step_in_several_wordings_is_one_question(score: float) -> None:
    judge = Asked(answer=False)
    guard = guarded(judge, score - 0.05)
    guard.record(f"please {STEP}", "connection refused", "no data for an hour")
    [node] = [label for label in guard.graph().nodes if label.startswith("action")]
    assert len(guard.graph().nodes[node]["wordings"]) == 2

    assert not guard.before_step(ALIKE).warnings

    assert len(judge.pairs) == 1


@pytest.mark.parametrize("answer", [RuntimeError(STEP), "maybe", None])
def test_a_judge_that_fails_changes_nothing_and_is_counted(score: float, answer: Any) -> None:
    events: list[Event] = []
    settings = DriftGuardSettings(
        retrieval_min_similarity=score - 0.05, on_store_error="closed", guard_policy="warn"
    )
    store = EphemeralMemoryStore()
    plain = DriftGuard(store=store, settings=settings)
    guard = DriftGuard(store=store, settings=settings, judge=Asked(answer), hooks=[events.append])
    plain.record(STEP, "connection refused", "no data for an hour")

    expected, found = (asked.review(ALIKE, review_id="r").to_dict() for asked in (plain, guard))

    assert {**found, "timestamp": ""} == {**expected, "timestamp": ""}
    [failed] = [event for event in events if isinstance(event, MemoryFailed)]
    assert failed.operation == "judge"
    assert STEP not in failed.error
    assert guard.metrics_snapshot()["counters"]["memory_failures_total"] == 1


def test_merging_is_never_judged(score: float) -> None:
    judge = Asked(answer=True)
    guard = guarded(judge, score + 0.05, similarity_threshold_action=score + 0.05)

    guard.record(ALIKE, "connection refused", "no data for an hour")

    assert judge.pairs == []
    actions = [label for label in guard.graph().nodes if label.startswith("action")]
    assert len(actions) == 2


def test_something_that_cannot_judge_is_refused_when_the_guard_is_made() -> None:
    with pytest.raises(ConfigurationError, match="judge must be"):
        DriftGuard(store=EphemeralMemoryStore(), judge="gpt-4o")
