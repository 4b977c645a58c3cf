"""`acknowledge`: the graph pauses with the evidence, and no answer is ever lost or misread."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from driftguard_langgraph.errors import StoreUnavailable
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes import DriftGuardState, create_guard_review_node

BAD = "delete the temp directory"
GOOD = "ask the owner to archive the logs"
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}

Graph = CompiledStateGraph[Any, Any, Any, Any]


@pytest.fixture
def graph(guard: DriftGuard) -> Graph:
    guard.record(BAD, "permission denied", "the cleanup was aborted")
    return build(guard)


def build(guard: DriftGuard) -> Graph:
    node = create_guard_review_node(guard, policy="acknowledge")
    builder = StateGraph(DriftGuardState).add_node(node).add_edge(START, "guard_review")
    return builder.compile(checkpointer=InMemorySaver())


def asked(result: dict[str, Any]) -> dict[str, Any]:
    (question,) = result["__interrupt__"]
    return dict(question.value)


def pause(graph: Graph, action: str = BAD) -> dict[str, Any]:
    return asked(graph.invoke({"candidate_action": action}, THREAD))


def resume(graph: Graph, answer: Any) -> dict[str, Any]:
    result: dict[str, Any] = graph.invoke(Command(resume=answer), THREAD)
    return result


def test_the_question_shows_the_evidence_and_the_answers_as_plain_json(graph: Graph) -> None:
    question = pause(graph)
    assert json.loads(json.dumps(question)) == question
    assert question["action"] == BAD
    assert "permission denied" in question["message"]
    assert question["review"]["warnings"][0]["action_text"] == BAD
    assert question["allowed_decisions"] == ["approve", "edit", "reject"]


def test_a_step_without_a_warning_is_not_asked_about(graph: Graph) -> None:
    result = graph.invoke({"candidate_action": GOOD}, THREAD)
    assert "__interrupt__" not in result
    assert result["guard_review"]["decision"] == "proceed"


@pytest.mark.parametrize(
    ("answer", "decision", "may_run", "revisions"),
    [
        (True, "override", True, 0),
        ("approve", "override", True, 0),
        ("yes", "override", True, 0),
        ("no", "acknowledge", False, 1),
        ({"decision": "approve"}, "override", True, 0),
        (False, "acknowledge", False, 1),
        ("reject", "acknowledge", False, 1),
        ({"decision": "reject"}, "acknowledge", False, 1),
    ],
)
def test_an_answer_settles_the_step(
    graph: Graph, answer: Any, decision: str, may_run: bool, revisions: int
) -> None:
    pause(graph)
    result = resume(graph, answer)
    review = result["guard_review"]
    assert (review["decision"], review["may_run"]) == (decision, may_run)
    assert result["guard_revisions"] == revisions
    assert result["candidate_action"] == BAD


def test_an_edited_step_is_reviewed_and_takes_the_place_of_the_proposed_one(graph: Graph) -> None:
    pause(graph)
    result = resume(graph, {"decision": "edit", "action": GOOD})
    assert result["candidate_action"] == GOOD
    assert result["guard_review"]["decision"] == "proceed"
    assert result["guard_review"]["query"] == GOOD


@pytest.mark.parametrize("last", [(True, "override"), (False, "acknowledge")])
def test_an_edited_step_that_is_refused_again_is_asked_about_again(
    graph: Graph, last: tuple[bool, str]
) -> None:
    pause(graph)
    again = "remove the temporary directory"
    question = asked(resume(graph, {"decision": "edit", "action": again}))
    assert question["action"] == again
    call = {"name": "archive_logs", "args": {"owner": "ann"}}
    assert asked(resume(graph, {"decision": "edit", "action": BAD}))["action"] == BAD
    answer, decision = last
    result = resume(graph, answer)
    assert (result["candidate_action"], result["guard_review"]["decision"]) == (BAD, decision)
    pause(graph)
    assert resume(graph, {"decision": "edit", "action": call})["candidate_action"] == call


@pytest.mark.parametrize("answer", ["maybe", 1, {"decision": "aprove"}, {"decision": "edit"}])
def test_a_misspelt_answer_is_asked_again_with_the_list(graph: Graph, answer: Any) -> None:
    pause(graph)
    for _ in range(2):
        problem = asked(resume(graph, answer))["problem"]
        assert re.search(r"'approve'.*'reject'.*'edit'", problem)
        assert graph.get_state(THREAD).next == ("guard_review",)
    assert resume(graph, "approve")["guard_review"]["decision"] == "override"


def test_a_misspelt_second_answer_does_not_disturb_the_first(graph: Graph) -> None:
    pause(graph)
    resume(graph, {"decision": "edit", "action": "remove the temporary directory"})
    question = asked(resume(graph, "hm"))
    assert question["action"] == "remove the temporary directory"
    assert "'hm' does not answer" in question["problem"]
    result = resume(graph, True)
    assert result["candidate_action"] == "remove the temporary directory"
    assert result["guard_review"]["decision"] == "override"


@pytest.mark.parametrize("action", ["  ", "nul \0 byte", {"name": "rm"}])
def test_an_edited_step_that_is_no_step_is_asked_about_again(graph: Graph, action: Any) -> None:
    pause(graph)
    question = asked(resume(graph, {"decision": "edit", "action": action}))
    assert question["problem"]
    assert question["action"] == BAD
    assert resume(graph, {"decision": "edit", "action": GOOD})["candidate_action"] == GOOD


@pytest.mark.parametrize(
    ("answer", "decision", "action"),
    [
        ("reject", "acknowledge", BAD),
        ("approve", "proceed", BAD),
        ({"decision": "edit", "action": GOOD}, "proceed", GOOD),
    ],
)
def test_an_answer_counts_even_if_the_memory_has_forgotten_the_question(
    guard: DriftGuard, graph: Graph, answer: Any, decision: str, action: str
) -> None:
    pause(graph)
    (warning,) = guard.review(BAD).warnings
    for episode_id in warning.episode_ids:
        guard.forget(episode_id)
    assert guard.review(BAD).decision == "proceed"
    result = resume(graph, answer)
    assert result["guard_review"]["decision"] == decision
    assert result["candidate_action"] == action


def test_a_rejection_counts_even_if_the_memory_is_out_of_reach(
    guard: DriftGuard, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause(graph)

    def unreachable(*_args: object, **_options: object) -> None:
        raise StoreUnavailable("the disk is gone")

    monkeypatch.setattr(guard._engine, "recall", unreachable)
    assert guard.review(BAD).decision == "unavailable"
    assert resume(graph, "reject")["guard_review"]["may_run"] is False


class Approval(DriftGuardState, total=False):
    said: str


def asks(state: Approval) -> dict[str, Any]:
    return {"said": interrupt(f"who wants to {state['candidate_action']}?")}


def test_an_answer_to_somebody_elses_question_is_left_alone(guard: DriftGuard) -> None:
    node = create_guard_review_node(guard, policy="acknowledge")
    in_a_row = StateGraph(Approval).add_node("asks", asks).add_node(node)
    in_a_row.add_edge(START, "asks").add_edge("asks", "guard_review")
    side_by_side = StateGraph(Approval).add_node("asks", asks).add_node(node)
    side_by_side.add_edge(START, "asks").add_edge(START, "guard_review")
    nested = StateGraph(Approval).add_node("inner", in_a_row.compile()).add_edge(START, "inner")
    for builder in (in_a_row, side_by_side, nested):
        graph = builder.compile(checkpointer=InMemorySaver())
        graph.invoke({"candidate_action": GOOD}, THREAD)
        result = resume(graph, "reject")
        assert result["said"] == "reject"
        assert result["guard_review"]["decision"] == "proceed"


def test_it_works_the_same_under_async(graph: Graph) -> None:
    other = {"decision": "edit", "action": "remove the temporary directory"}
    inputs: list[Any] = [{"candidate_action": BAD}, Command(resume=other), Command(resume=True)]

    async def conversation() -> list[dict[str, Any]]:
        return [await graph.ainvoke(each, THREAD) for each in inputs]

    first, second, last = asyncio.run(conversation())
    assert asked(first)["action"] == BAD
    assert asked(second)["action"] == last["candidate_action"] == "remove the temporary directory"
    assert last["guard_review"]["decision"] == "override"


def test_an_acknowledged_state_is_not_asked_about(guard: DriftGuard) -> None:
    guard.record(BAD, "permission denied", "the cleanup was aborted")
    node = create_guard_review_node(guard, policy="acknowledge", acknowledged_key="success")
    builder = StateGraph(DriftGuardState).add_node(node).add_edge(START, "guard_review")
    result = builder.compile().invoke({"candidate_action": BAD, "success": True})
    assert result["guard_review"]["decision"] == "override"


def test_an_acknowledgement_does_not_cover_the_next_step_of_the_thread(guard: DriftGuard) -> None:
    guard.record(BAD, "permission denied", "the cleanup was aborted")
    node = create_guard_review_node(guard, policy="block", acknowledged_key="accepted")
    builder = StateGraph(Accepting).add_node(node).add_edge(START, "guard_review")
    graph = builder.compile(checkpointer=InMemorySaver())
    first = graph.invoke({"candidate_action": BAD, "accepted": True}, THREAD)
    second = graph.invoke({"candidate_action": BAD}, THREAD)
    decisions = [state["guard_review"]["decision"] for state in (first, second)]
    assert decisions == ["override", "block"]


class Accepting(DriftGuardState, total=False):
    accepted: bool
