from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.judgement.policy import checked_policy, decide, refusal_message
from driftguard_langgraph.reviews import Evidence, GuardReview, GuardWarning
from driftguard_langgraph.types import POLICIES, Match, Policy

WARNING = GuardWarning(
    trigger="drop table",
    risk="data go",
    outcome="restore from backup",
    frequency=3,
    confidence=0.8,
    severity="high",
    last_seen=datetime(2026, 1, 1, tzinfo=UTC),
    action_text="drop the table",
    feedback_text="data is gone",
    outcome_text="restored from backup",
    episode_ids=("e1",),
    match=Match(0.9, same=True, similarity=0.9, kind="paraphrase"),
    evidence=Evidence(3, 3, 0.85, 0.9, 0, 1.0, 0.15),
)


def review(policy: Policy, *warnings: GuardWarning) -> GuardReview:
    confidence = max((w.confidence for w in warnings), default=0.0)
    return GuardReview("drop it", warnings=warnings, confidence=confidence, policy=policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_stops_a_step_without_a_warning(policy: Policy) -> None:
    assert decide(review(policy), 0.0) == "proceed"


@pytest.mark.parametrize(
    ("policy", "decision"),
    [
        ("warn", "warn"),
        ("block", "block"),
        ("acknowledge", "acknowledge"),
        ("speed_bump", "speed_bump"),
    ],
)
def test_each_policy_answers_a_warning_in_its_way(policy: Policy, decision: str) -> None:
    assert decide(review(policy, WARNING), 0.0) == decision


@pytest.mark.parametrize("policy", ["block", "acknowledge", "speed_bump"])
def test_a_warning_below_the_floor_stops_nothing(policy: Policy) -> None:
    assert decide(review(policy, WARNING), 0.81) == "warn"
    assert decide(review(policy, WARNING), 0.80) == policy


@pytest.mark.parametrize("policy", ["block", "acknowledge", "speed_bump"])
def test_an_acknowledged_step_may_run(policy: Policy) -> None:
    assert decide(review(policy, WARNING), 0.0, acknowledged=True) == "override"


def test_a_speed_bump_lets_pass_only_what_it_already_answered() -> None:
    other = replace(WARNING, trigger="truncate table")
    both = review("speed_bump", WARNING, other)

    assert decide(both, 0.0, bumped=["drop table"]) == "speed_bump"
    assert decide(both, 0.0, bumped=["drop table", "truncate table"]) == "override"


@pytest.mark.parametrize("name", ["blok", "Block", "", "WARN", " warn"])
def test_an_unknown_policy_is_an_error_that_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigurationError, match="speed_bump"):
        checked_policy(name)


def test_a_refusal_names_the_evidence_and_the_way_out() -> None:
    stopped = replace(review("speed_bump", WARNING), decision="speed_bump")

    message = refusal_message(stopped)

    assert "drop the table" in message
    assert "data is gone" in message
    assert "3 times" in message
    assert "again" in message
