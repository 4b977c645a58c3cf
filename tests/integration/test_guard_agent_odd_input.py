"""What models and tools should not do, and do: the agent goes on as it would without a guard."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from driftguard_langgraph import ConfigurationError, DriftGuard, DriftGuardMiddleware
from driftguard_langgraph.errors import SchemaMismatch
from tests.drift_samples import ScriptedModel, raising
from tests.guard_samples import (
    ASKED,
    FAILURE,
    answers,
    call,
    counts,
    guard_of,
    proposing,
    saver_tool,
)


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_that_cannot_be_printed_goes_out_as_it_is_and_is_remembered() -> None:
    @tool
    def save(path: str) -> str:
        """Save the report."""
        raise MuteError(path)

    guard = guard_of()
    made = create_agent(
        ScriptedModel(script=[proposing(call("/x")), "done"]),
        [save],
        middleware=[DriftGuardMiddleware(guard)],
    )
    with pytest.raises(MuteError):
        made.invoke(ASKED)
    assert counts(guard) == (1, 0)


def test_arguments_that_hold_themselves_do_not_end_the_run() -> None:
    @tool
    def save(path: Any) -> str:
        """Save the report."""
        return f"saved {len(path)}"

    loop: list[Any] = []
    loop.append(loop)
    odd: Any = {"name": "save", "args": {"path": loop}, "id": "c1", "type": "tool_call"}
    guarded = DriftGuardMiddleware(guard_of())._guarded
    request = ToolCallRequest(tool_call=odd, tool=save, state={"messages": []}, runtime=None)  # type: ignore[arg-type]
    answer = guarded.wrap(request, lambda _: ToolMessage("saved", tool_call_id="c1"))
    assert getattr(answer, "content", "") == "saved"


def test_a_broken_emoji_in_the_arguments_is_repaired_and_the_failure_is_remembered() -> None:
    guard, ran = guard_of(guard_policy="block"), list[str]()

    @tool
    def save(path: str) -> str:
        """Save the report."""
        ran.append(path)
        raise OSError(FAILURE)

    made = create_agent(
        ScriptedModel(script=[proposing(call("/full\ud83d"))] * 2 + ["done"]),
        [save],
        middleware=[DriftGuardMiddleware(guard)],
    )
    with pytest.raises(OSError, match=FAILURE):
        made.invoke(ASKED)
    final = made.invoke(ASKED)
    assert len(ran) == 1
    assert "Not run" in str(answers(final["messages"])[0].content)


def test_a_memory_of_another_version_does_not_stop_an_agent_under_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guard, ran = guard_of(on_store_error="open"), list[str]()
    wrong = SchemaMismatch("another application's database.")
    monkeypatch.setattr(guard, "review", raising(wrong))
    monkeypatch.setattr(guard, "record_success", raising(wrong))
    made = create_agent(
        ScriptedModel(script=[proposing(call("/srv")), "done"]),
        [saver_tool(ran)],
        middleware=[DriftGuardMiddleware(guard)],
    )
    assert made.invoke(ASKED)["messages"][-1].content == "done"
    assert ran == ["/srv"]


async def _later(_message: object) -> bool:
    return True


@pytest.mark.parametrize(
    "wrong",
    [{"guard": DriftGuard}, {"is_failure": _later}, {"redact": _later}],
    ids=lambda given: next(iter(given)),
)
def test_a_class_or_a_coroutine_function_is_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        DriftGuardMiddleware(**wrong)


def test_a_predicate_that_answers_in_words_decides_nothing() -> None:
    guard = guard_of()
    made = create_agent(
        ScriptedModel(script=[proposing(call("/srv")), "done"]),
        [saver_tool([])],
        middleware=[DriftGuardMiddleware(guard, is_failure=lambda _: "no")],  # type: ignore[arg-type,return-value]
    )
    made.invoke(ASKED)
    assert counts(guard) == (0, 1)
