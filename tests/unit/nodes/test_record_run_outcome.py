from __future__ import annotations

from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes import create_record_run_outcome_node

KEYS = {"success_key": "solved", "outcome_key": "ending"}


def test_without_a_thread_it_says_how_to_get_one(guard: DriftGuard) -> None:
    node = create_record_run_outcome_node(guard, **KEYS)
    with pytest.raises(
        ConfigurationError, match=r"checkpointer .*record_run_outcome\(run_id=\.\.\.\)"
    ):
        node.invoke({"solved": False, "ending": "nobody was helped"})


def test_a_state_without_a_verdict_is_refused(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match=r"no 'solved' .*success_key"):
        create_record_run_outcome_node(guard, **KEYS).invoke({"ending": "nobody was helped"})


def test_text_is_not_taken_for_success(guard: DriftGuard) -> None:
    with pytest.raises(ConfigurationError, match="'false'"):
        create_record_run_outcome_node(guard, **KEYS).invoke({"solved": "false"})


@pytest.mark.parametrize(
    "wrong", [{"success_key": ""}, {"outcome_key": None}, {"receipt_key": " "}, {"name": ""}]
)
def test_a_wrong_name_is_refused_when_the_graph_is_built(
    guard: DriftGuard, wrong: dict[str, Any]
) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        create_record_run_outcome_node(guard, **{**KEYS, **wrong})
