from __future__ import annotations

import sys

import pytest

from driftguard_langgraph.cli.demo import planners
from driftguard_langgraph.cli.demo.planners import check_llm, llm_planner, scripted_planner
from driftguard_langgraph.cli.demo.scenario import JOBS
from driftguard_langgraph.errors import ConfigurationError, MissingExtra


def test_a_script_goes_on_to_its_next_idea_when_the_guard_objects() -> None:
    planner = scripted_planner(("first", "second"))
    proposals = [planner({"guard_revisions": n})["candidate_action"] for n in (0, 1, 2)]
    assert proposals == ["first", "second", "second"]
    assert planner({}) == {"candidate_action": "first"}


def test_without_langchain_openai_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_openai", None)
    with pytest.raises(MissingExtra, match=r"driftguard-langgraph\[openai\]"):
        check_llm()


def test_without_a_key_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain_openai", reason="needs the extra 'openai'")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        llm_planner(JOBS[0], "any")


def test_a_model_is_told_what_failed_and_what_the_memory_says() -> None:
    fresh = planners._request(JOBS[0], {"guard_review": None, "success": None})
    assert fresh == f"Goal: {JOBS[0].goal}"
    warning = {"action_text": "wipe it", "feedback_text": "gone", "outcome_text": "slow"}
    state = {
        "candidate_action": "clear it",
        "guard_review": {"decision": "warn"},
        "guard_top_warning": warning,
        "success": False,
        "feedback": "refused",
        "outcome": "nothing",
    }
    told = planners._request(JOBS[0], state)
    assert told.splitlines()[1:] == [
        "The last step that was run failed: refused; nothing.",
        "You proposed: clear it",
        "A step like that failed before, as 'wipe it': gone; slow.",
        "Propose something else.",
    ]
