from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes import create_guard_review_node
from driftguard_langgraph.reviews import GuardReview

FAILED = "delete the temp directory"


@pytest.fixture
def failed(guard: DriftGuard) -> DriftGuard:
    guard.record(FAILED, "permission denied", "the cleanup was aborted")
    return guard


def test_it_writes_the_review_as_plain_json_under_the_default_keys(failed: DriftGuard) -> None:
    update = create_guard_review_node(failed).invoke({"candidate_action": FAILED})
    assert json.loads(json.dumps(update)) == update
    assert set(update) == {
        "guard_review",
        "guard_warnings_count",
        "guard_confidence",
        "guard_top_warning",
        "guard_reinforcements_count",
        "guard_top_reinforcement",
        "guard_revisions",
        "guard_open",
    }
    assert update["guard_review"]["decision"] == "warn"
    assert update["guard_warnings_count"] == 1
    assert update["guard_top_warning"]["action_text"] == FAILED
    assert update["guard_confidence"] == update["guard_review"]["confidence"] > 0
    assert update["guard_revisions"] == 1
    assert update["guard_top_reinforcement"] is None


def test_a_success_shows_as_reinforcement(guard: DriftGuard) -> None:
    guard.record_success("restart the worker", "ok", "jobs run again")
    update = create_guard_review_node(guard).invoke({"candidate_action": "restart the worker"})
    assert update["guard_reinforcements_count"] == 1
    assert update["guard_top_reinforcement"]["recommendation"]
    assert update["guard_review"]["decision"] == "proceed"


def test_all_key_names_can_be_changed(failed: DriftGuard) -> None:
    names = {
        "review_key": "r",
        "warnings_key": "w",
        "confidence_key": "c",
        "top_warning_key": "tw",
        "reinforcements_key": "rc",
        "top_reinforcement_key": "tr",
        "bumped_key": "b",
        "revisions_key": "n",
        "open_key": "o",
    }
    node = create_guard_review_node(failed, action_key="a", policy="speed_bump", **names)  # type: ignore[arg-type]
    update = node.invoke({"a": FAILED})
    assert set(update) == set(names.values())


def test_sync_and_async_write_the_same(failed: DriftGuard) -> None:
    node = create_guard_review_node(failed)
    state = {"candidate_action": FAILED}
    updates = [node.invoke(state), asyncio.run(node.ainvoke(state))]
    for update in updates:
        for own in ("timestamp", "review_id", "unit"):
            update["guard_review"].pop(own)
        update.pop("guard_open")
    assert updates[0] == updates[1]


@pytest.mark.parametrize("policy", ["block", "acknowledge", "speed_bump"])
def test_a_refusal_is_a_decision_in_the_state_and_not_an_exception(
    failed: DriftGuard, policy: Any
) -> None:
    update = create_guard_review_node(failed, policy=policy).invoke({"candidate_action": FAILED})
    assert update["guard_review"]["decision"] == policy
    assert update["guard_review"]["may_run"] is False


def test_objections_are_counted_in_a_row_and_forgotten_after_a_clean_review(
    failed: DriftGuard,
) -> None:
    node = create_guard_review_node(failed)
    again = node.invoke({"candidate_action": FAILED, "guard_revisions": 4})
    clean = node.invoke({"candidate_action": "paint the fence", "guard_revisions": 4})
    assert (again["guard_revisions"], clean["guard_revisions"]) == (5, 0)


def test_only_a_true_acknowledgement_lets_a_refused_step_run(failed: DriftGuard) -> None:
    node = create_guard_review_node(failed, policy="block", acknowledged_key="accepted")
    decisions = [
        node.invoke({"candidate_action": FAILED, "accepted": said})["guard_review"]["decision"]
        for said in (True, False, None, "no")
    ]
    assert decisions == ["override", "block", "block", "block"]


@pytest.mark.parametrize("action", [FAILED, "paint the fence"])
def test_an_acknowledgement_is_used_up_by_one_review(failed: DriftGuard, action: str) -> None:
    node = create_guard_review_node(failed, policy="block", acknowledged_key="accepted")
    assert node.invoke({"candidate_action": action, "accepted": True})["accepted"] is False
    assert "accepted" not in node.invoke({"candidate_action": action, "accepted": False})


def test_the_threshold_of_the_node_overrules_the_guards(failed: DriftGuard) -> None:
    node = create_guard_review_node(failed, policy="block", min_confidence=1.0)
    assert node.invoke({"candidate_action": FAILED})["guard_review"]["decision"] == "warn"


def test_a_speed_bump_lets_the_second_proposal_pass_if_the_state_remembers(
    failed: DriftGuard,
) -> None:
    node = create_guard_review_node(failed, policy="speed_bump")
    first = node.invoke({"candidate_action": FAILED, "guard_bumped": ["older"]})
    assert first["guard_review"]["decision"] == "speed_bump"
    assert first["guard_bumped"][0] == "older"
    assert len(first["guard_bumped"]) == 2
    forgotten = node.invoke({"candidate_action": FAILED})
    assert forgotten["guard_review"]["decision"] == "speed_bump"
    second = node.invoke({"candidate_action": FAILED, "guard_bumped": first["guard_bumped"]})
    assert second["guard_review"]["decision"] == "override"
    assert "guard_bumped" not in second


def test_a_tool_call_is_reviewed_as_one(guard: DriftGuard) -> None:
    call = {"name": "delete_file", "args": {"path": "/srv/a"}, "id": "call_1", "type": "tool_call"}
    guard.record(call, "permission denied", "not deleted")
    update = create_guard_review_node(guard).invoke({"candidate_action": call})
    assert update["guard_warnings_count"] == 1


def test_a_template_separates_the_memories_of_users(guard: DriftGuard) -> None:
    guard.record(FAILED, "permission denied", "aborted", namespace=("acme", "ann"))
    node = create_guard_review_node(guard, namespace=("acme", "{user_id}"))
    counts = [
        node.invoke({"candidate_action": FAILED}, {"configurable": {"user_id": user}})[
            "guard_warnings_count"
        ]
        for user in ("ann", "bob")
    ]
    assert counts == [1, 0]


class PydanticState(BaseModel):
    candidate_action: str


@dataclass
class DataclassState:
    candidate_action: str


@pytest.mark.parametrize("state_type", [PydanticState, DataclassState])
def test_other_kinds_of_state_are_read(failed: DriftGuard, state_type: Callable[..., Any]) -> None:
    update = create_guard_review_node(failed).invoke(state_type(candidate_action=FAILED))
    assert update["guard_warnings_count"] == 1


def test_a_state_without_the_action_names_the_key_and_what_is_there(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match=r"'candidate_action' \(it holds: goal\)") as info:
        create_guard_review_node(guard).invoke({"goal": "clean up", "candidate_action": None})
    assert "action_key" in str(info.value)


def test_something_that_is_no_state_is_refused(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match="list"):
        create_guard_review_node(guard).invoke([FAILED])


def test_text_that_cannot_be_reviewed_is_refused(guard: DriftGuard) -> None:
    with pytest.raises(InvalidEpisode):
        create_guard_review_node(guard).invoke({"candidate_action": "  "})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("policy", "blok"),
        ("min_confidence", float("nan")),
        ("min_confidence", 1.5),
        ("min_confidence", "0.5"),
        ("min_confidence", True),
        ("action_key", ""),
        ("review_key", None),
        ("name", " "),
        ("namespace", "acme"),
    ],
)
def test_a_wrong_option_is_refused_when_the_graph_is_built(
    guard: DriftGuard, option: str, value: Any
) -> None:
    with pytest.raises(ConfigurationError, match=option):
        create_guard_review_node(guard, **{option: value})


def test_a_store_in_the_place_of_a_guard_is_refused(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match="DriftGuard\\(store"):
        create_guard_review_node(guard.store)  # type: ignore[arg-type]


def test_the_review_of_the_guard_and_of_the_node_say_the_same(failed: DriftGuard) -> None:
    review = failed.review(FAILED)
    assert isinstance(review, GuardReview)
    written = create_guard_review_node(failed).invoke({"candidate_action": FAILED})["guard_review"]
    own = {"timestamp": "", "review_id": "", "unit": ""}
    assert {**review.to_dict(), **own} == {**written, **own}
