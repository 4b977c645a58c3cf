"""The callback handler: what it accepts, what it does with odd events, and what it forgets."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from langchain_core.tools import StructuredTool, ToolException
from langgraph.errors import GraphInterrupt

from driftguard_langgraph import ConfigurationError, DriftGuardCallbackHandler
from driftguard_langgraph.callbacks import runs
from driftguard_langgraph.callbacks.runs import causes
from driftguard_langgraph.errors import GuardrailAcknowledgementRequired, GuardrailTriggered
from tests.guard_samples import burnt, call, counts, guard_of, soft_tool


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "blok"}, "'observe' or 'block'"),
        ({"policy": "block"}, "stops nothing"),
        ({"min_confidence": 0.5}, "stops nothing"),
        ({"mode": "block", "policy": "warn"}, "DriftGuardMiddleware"),
        ({"mode": "block", "min_confidence": 2}, "min_confidence"),
        ({"record": "tools"}, "must list what is recorded"),
        ({"record": ["tool"]}, "must list what is recorded"),
        ({"record": []}, "must list what is recorded"),
        ({"tools": "save"}, "must list the guarded tools"),
        ({"namespace": ("{user id}",)}, "no placeholder"),
        ({"is_failure": "error"}, "is_failure"),
        ({"redact": 3}, "redact"),
        ({"on_store_error": "ajar"}, "'open', 'closed'"),
        ({"guard": "memory"}, "must be a DriftGuard"),
    ],
)
def test_a_typo_in_the_configuration_fails_at_construction(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        DriftGuardCallbackHandler(**options)


def test_an_end_that_is_told_twice_is_recorded_once() -> None:
    memory, run_id = guard_of(), uuid4()
    handler = DriftGuardCallbackHandler(memory)
    handler.on_tool_start({"name": "save"}, "/a", run_id=run_id)
    handler.on_tool_end("saved", run_id=run_id)
    handler.on_tool_end("saved", run_id=run_id)
    handler.on_tool_error(ValueError("late"), run_id=run_id)
    assert counts(memory) == (0, 1)


def test_ends_of_unknown_runs_are_passed_over() -> None:
    memory = guard_of()
    handler = DriftGuardCallbackHandler(memory)
    for hook in (handler.on_chain_end, handler.on_llm_end, handler.on_retriever_end):
        hook(None, run_id=uuid4())
    handler.on_chain_error(ValueError("whose?"), run_id=uuid4())
    assert counts(memory) == (0, 0)


def test_runs_that_never_end_are_forgotten_and_their_living_parent_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "MAX_RUNS", 10)
    memory, root = guard_of(), uuid4()
    handler = DriftGuardCallbackHandler(memory)
    handler.on_chain_start(None, "plan", run_id=root, name="agent")
    for _ in range(50):
        handler.on_chain_start(None, "x", run_id=uuid4(), parent_run_id=root, name="lost")
    assert len(handler._watch.runs) == 10
    handler.on_chain_error(ValueError("over"), run_id=root)
    assert [each.action.text for each in memory.store.list(memory.namespace)] == [
        'agent(input="plan")'
    ]


def test_an_interrupt_is_no_failure() -> None:
    memory, run_id = guard_of(), uuid4()
    handler = DriftGuardCallbackHandler(memory)
    handler.on_tool_start({"name": "ask"}, "?", run_id=run_id)
    handler.on_tool_error(GraphInterrupt(()), run_id=run_id)
    assert (counts(memory), len(handler._watch.runs)) == ((0, 0), 0)


def test_a_call_with_an_id_inside_a_tool_is_a_step_of_its_own_and_its_error_is_one() -> None:
    memory, outer, middle, inner = guard_of(), uuid4(), uuid4(), uuid4()
    handler, error = DriftGuardCallbackHandler(memory), ValueError("no")
    handler.on_tool_start({"name": "research"}, "", run_id=outer, inputs={}, tool_call_id="c1")
    handler.on_chain_start(None, {}, run_id=middle, parent_run_id=outer, name="agent")
    handler.on_tool_start(
        {"name": "fetch"}, "", run_id=inner, parent_run_id=middle, inputs={}, tool_call_id="c2"
    )
    handler.on_tool_error(error, run_id=inner)
    handler.on_chain_error(error, run_id=middle)
    handler.on_tool_error(error, run_id=outer)
    assert [each.action.text for each in memory.store.list(memory.namespace)] == ["fetch()"]


def test_acknowledge_raises_an_error_of_its_own() -> None:
    handler = DriftGuardCallbackHandler(burnt(), mode="block", policy="acknowledge")
    with pytest.raises(GuardrailAcknowledgementRequired, match="disk quota"):
        soft_tool([]).invoke({"path": "/full"}, {"callbacks": [handler]})


def test_a_stopped_tool_leaves_no_run_behind() -> None:
    handler = DriftGuardCallbackHandler(burnt(), mode="block")
    with pytest.raises(GuardrailTriggered):
        soft_tool([]).invoke(call("/full"), {"callbacks": [handler]})
    assert len(handler._watch.runs) == 0


def test_a_confidence_that_is_asked_for_lets_lesser_warnings_pass() -> None:
    ran: list[str] = []
    handler = DriftGuardCallbackHandler(burnt(), mode="block", min_confidence=1.0)
    soft_tool(ran).invoke({"path": "/full"}, {"callbacks": [handler]})
    assert ran == ["/full"]


def test_an_error_that_a_tool_handles_itself_is_its_failure() -> None:
    def refuse(path: str) -> str:
        raise ToolException(f"{path} is read-only")

    memory = guard_of()
    made = StructuredTool.from_function(
        refuse, name="save", description="Save.", handle_tool_error=True
    )
    made.invoke(call("/a"), {"callbacks": [DriftGuardCallbackHandler(memory)]})
    assert counts(memory) == (1, 0)


def test_what_must_not_be_kept_is_taken_out() -> None:
    memory = guard_of()
    handler = DriftGuardCallbackHandler(memory, redact=lambda text: text.replace("ann", "***"))
    soft_tool([]).invoke({"path": "/home/ann"}, {"callbacks": [handler]})
    (kept,) = memory.store.list(memory.namespace)
    assert "ann" not in f"{kept.action.text} {kept.feedback}"


def test_a_predicate_that_fails_costs_nothing_and_says_nothing() -> None:
    memory = guard_of()
    handler = DriftGuardCallbackHandler(memory, is_failure=lambda said: said.nonsense)
    said = soft_tool([]).invoke({"path": "/a"}, {"callbacks": [handler]})
    assert (said, counts(memory)) == ("saved to /a", (0, 1))


def test_causes_are_followed_through_groups_and_come_to_an_end() -> None:
    first, second = ValueError("first"), KeyError("second")
    group = ExceptionGroup("both", [first])
    second.__cause__, first.__context__ = group, second
    assert causes(second) == [second, group, first]
