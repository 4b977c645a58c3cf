from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes import create_record_outcome_node

STEP = {"candidate_action": "delete the temp directory", "feedback": "permission denied"}


def _counts(guard: DriftGuard) -> tuple[int, int]:
    stats = guard.stats()
    return stats["mistakes"]["episodes"], stats["successes"]["episodes"]


def test_a_failure_becomes_a_mistake_and_a_success_a_success(guard: DriftGuard) -> None:
    node = create_record_outcome_node(guard)
    node.invoke({**STEP, "success": False})
    node.invoke({**STEP, "feedback": "done", "success": True})
    assert _counts(guard) == (1, 1)


def test_it_writes_the_receipt_as_plain_json_and_counts_the_attempt(guard: DriftGuard) -> None:
    update = create_record_outcome_node(guard).invoke(
        {**STEP, "success": False, "guard_attempts": 2}
    )
    assert json.loads(json.dumps(update)) == update
    assert update["guard_receipt"]["status"] == "stored"
    assert update["guard_receipt"]["kind"] == "mistake"
    assert update["guard_attempts"] == 3


def test_sync_and_async_record_alike(guard: DriftGuard) -> None:
    node = create_record_outcome_node(guard)
    assert asyncio.run(node.ainvoke({**STEP, "success": False}))["guard_attempts"] == 1
    assert _counts(guard) == (1, 0)


@pytest.mark.parametrize(("success", "default"), [(True, "step succeeded"), (False, "step failed")])
@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_a_step_that_says_nothing_is_recorded_with_defaults(
    guard: DriftGuard, success: bool, default: str, blank: str | None
) -> None:
    state = {**STEP, "feedback": blank, "outcome": blank, "success": success}
    receipt = create_record_outcome_node(guard).invoke(state)["guard_receipt"]
    episode = guard.store.get(guard.namespace, receipt["episode_id"])
    assert episode is not None
    assert (episode.feedback, episode.outcome) == ("no feedback was given", default)


def test_an_id_and_a_severity_of_your_own_are_taken(guard: DriftGuard) -> None:
    node = create_record_outcome_node(guard, severity_key="grade", episode_id_key="ticket")
    state = {**STEP, "success": False, "grade": "critical", "ticket": "T-1"}
    receipts = [node.invoke(state)["guard_receipt"] for _ in range(2)]
    assert [receipt["status"] for receipt in receipts] == ["stored", "duplicate"]
    episode = guard.store.get(guard.namespace, "T-1")
    assert episode is not None
    assert episode.severity == "critical"
    assert episode.provenance == {"source": "node"}


def test_a_state_without_success_is_refused_and_nothing_is_recorded(guard: DriftGuard) -> None:
    with pytest.raises(
        ConfigurationError, match=r"'success' \(it holds: candidate_action, feedback\)"
    ):
        create_record_outcome_node(guard).invoke(STEP)
    assert _counts(guard) == (0, 0)


def test_text_is_not_taken_for_success(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match="'false'"):
        create_record_outcome_node(guard).invoke({**STEP, "success": "false"})
    assert _counts(guard) == (0, 0)


@pytest.mark.parametrize(
    "bad", [{"candidate_action": " "}, {"feedback": 3}, {"outcome": ["aborted"]}]
)
def test_what_cannot_be_remembered_is_refused_whole(guard: DriftGuard, bad: Any) -> None:
    with pytest.raises(InvalidEpisode):
        create_record_outcome_node(guard).invoke({**STEP, "success": False, **bad})
    assert _counts(guard) == (0, 0)


def test_a_state_without_the_action_is_refused(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match="candidate_action"):
        create_record_outcome_node(guard).invoke({"success": True})


def test_a_wrong_key_is_refused_when_the_graph_is_built(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match="success_key"):
        create_record_outcome_node(guard, success_key="")
