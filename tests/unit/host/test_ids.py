from __future__ import annotations

from typing import Any

import pytest

from driftguard_langgraph.host import ids
from driftguard_langgraph.host.ids import RunIdentity, provenance
from driftguard_langgraph.types import Kind

IN_THREAD = RunIdentity("thread-1", "run-1", "record:abc", "task-1")
CALL: dict[str, Any] = {"name": "rm", "args": {"path": "/srv", "force": True}, "id": "call_1"}


def episode_id(
    identity: RunIdentity,
    action: object,
    kind: Kind = "mistake",
) -> str | None:
    return ids.episode_id(identity, action, kind)


def test_a_tool_call_is_identified_by_thread_call_arguments_and_whether_it_failed() -> None:
    later = RunIdentity("thread-1", "run-2", "record:xyz", "task-9")
    assert episode_id(IN_THREAD, CALL) == episode_id(later, CALL)
    assert str(episode_id(IN_THREAD, CALL)).startswith("thread-1:call_1:")


def test_the_order_of_arguments_does_not_change_the_id() -> None:
    turned = {**CALL, "args": {"force": True, "path": "/srv"}}
    assert episode_id(IN_THREAD, turned) == episode_id(IN_THREAD, CALL)


@pytest.mark.parametrize(
    ("identity", "call"),
    [
        (RunIdentity("thread-2", None, "record:abc", "task-1"), CALL),
        (IN_THREAD, {**CALL, "id": "call_2"}),
        (IN_THREAD, {**CALL, "args": {"path": "/var"}}),
    ],
    ids=["other thread", "other call", "same call id, other arguments"],
)
def test_different_executions_of_tool_calls_have_different_ids(
    identity: RunIdentity, call: dict[str, Any]
) -> None:
    assert episode_id(identity, call) != episode_id(IN_THREAD, CALL)


def test_a_call_that_is_executed_again_and_ends_otherwise_has_another_id() -> None:
    assert episode_id(IN_THREAD, CALL, "success") != episode_id(IN_THREAD, CALL, "mistake")


@pytest.mark.parametrize("action", ["delete it", {"name": "rm", "args": {}}])
def test_without_a_call_id_the_visit_of_the_node_identifies(action: object) -> None:
    assert episode_id(IN_THREAD, action) == "thread-1:record:abc:task-1"


def test_without_a_thread_the_place_tells_apart_calls_that_one_node_runs_at_once() -> None:
    no_thread = RunIdentity(None, None, "tools:abc", "task-1")
    found = [str(episode_id(no_thread, {**CALL, "id": name})) for name in ("call_1", "call_2")]
    assert found[0] != found[1]
    assert found[0].startswith("run:tools:abc:call_1:")
    other_run = RunIdentity(None, None, "tools:xyz", "task-2")
    assert episode_id(other_run, CALL) != found[0]


def test_reviews_of_calls_that_one_node_runs_at_once_have_ids_of_their_own() -> None:
    first, second = (ids.review_id(IN_THREAD, 0, {**CALL, "id": name}) for name in ("a", "b"))
    assert first != second
    assert first == ids.review_id(IN_THREAD, 0, {**CALL, "id": "a"})


def test_outside_a_graph_the_memory_chooses_the_id() -> None:
    assert episode_id(RunIdentity.of(None), CALL) is None


def test_provenance_holds_only_what_is_known() -> None:
    assert provenance(RunIdentity(), "delete it", "node") == {"source": "node"}
    assert provenance(IN_THREAD, CALL, "node") == {
        "thread_id": "thread-1",
        "run_id": "run-1",
        "checkpoint_ns": "record:abc",
        "tool_call_id": "call_1",
        "source": "node",
    }


def test_the_id_stays_short_however_deep_the_graphs_are_nested() -> None:
    deep = [
        RunIdentity("thread-1", None, "|".join(["a_subgraph:" + "0" * 36] * 20), f"task-{n}")
        for n in (1, 2, 1)
    ]
    found = [str(episode_id(identity, "delete it")) for identity in deep]
    assert max(map(len, found)) < 100
    assert found[0] == found[2] != found[1]
