"""The guard among the middleware that agents commonly have, in every order."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    SummarizationMiddleware,
    ToolErrorMiddleware,
    ToolRetryMiddleware,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from driftguard_langgraph import DriftGuardMiddleware
from tests.drift_samples import ScriptedModel
from tests.guard_samples import (
    ASKED,
    answers,
    burnt,
    call,
    counts,
    guard_of,
    in_thread,
    proposing,
    saver_tool,
    soft_tool,
)

OTHERS = ("retry", "human", "error", "summary")
ORDERS = list(permutations(("ours", *OTHERS)))
SHORT_ORDERS = list(permutations(("ours", "retry", "human", "error")))


def others() -> dict[str, Any]:
    return {
        "retry": ToolRetryMiddleware(
            max_retries=1, initial_delay=0, jitter=False, on_failure="error"
        ),
        "human": HumanInTheLoopMiddleware({"save": True}),
        "error": ToolErrorMiddleware(on_error=lambda error, request: f"sorry: {error}"),
        "summary": SummarizationMiddleware(
            ScriptedModel(script=["a summary"]), trigger=("messages", 5), keep=("messages", 4)
        ),
    }


def approved(made: Any, given: Any, thread: Any) -> dict[str, Any]:
    final: dict[str, Any] = made.invoke(given, thread)
    while made.get_state(thread).interrupts:
        asked = final["__interrupt__"][0].value["action_requests"]
        resume: Command[Any] = Command(resume={"decisions": [{"type": "approve"}] * len(asked)})
        final = made.invoke(resume, thread)
    return final


def test_every_order_remembers_a_failed_call_once_and_answers_the_model() -> None:
    for order in ORDERS:
        guard, ran = guard_of(), list[str]()
        parts = {**others(), "ours": DriftGuardMiddleware(guard)}
        made = create_agent(
            ScriptedModel(script=[proposing(call("/full", "c1"), call("/srv", "c2")), "done"]),
            [saver_tool(ran)],
            middleware=[parts[name] for name in order],
            checkpointer=InMemorySaver(),
        )
        thread = in_thread("-".join(order))
        final = approved(made, ASKED, thread)
        assert counts(guard) == (1, 1), order
        assert sorted(ran).count("/srv") == 1, order
        told = {each.tool_call_id: each.status for each in answers(final["messages"])}
        assert told == {"c1": "error", "c2": "success"}, order


def test_every_order_stops_a_known_failure() -> None:
    for order in SHORT_ORDERS:
        ran: list[str] = []
        parts = {**others(), "ours": DriftGuardMiddleware(burnt(), policy="block")}
        made = create_agent(
            ScriptedModel(script=[proposing(call("/full")), "done"]),
            [saver_tool(ran)],
            middleware=[parts[name] for name in order],
            checkpointer=InMemorySaver(),
        )
        final = approved(made, ASKED, in_thread("-".join(order)))
        assert ran == [], order
        assert "Do not propose it again" in str(answers(final["messages"])[0].content), order


@pytest.mark.parametrize("order", [("ours", "summary"), ("summary", "ours")])
def test_a_summary_hides_neither_a_loop_nor_what_was_shown(order: tuple[str, str]) -> None:
    ran: list[str] = []
    guard = burnt()
    parts = {**others(), "ours": DriftGuardMiddleware(guard, policy="speed_bump")}
    calls = [proposing(call("/srv", f"c{at}")) for at in range(6)]
    made = create_agent(
        ScriptedModel(
            script=[proposing(call("/full", "a1")), *calls, proposing(call("/full", "a2")), "done"]
        ),
        [soft_tool(ran)],
        middleware=[parts[name] for name in order],
        checkpointer=InMemorySaver(),
    )
    final = made.invoke(ASKED, in_thread("t"))
    assert str(final["messages"][0].content).startswith("Here is a summary")
    assert ran == ["/srv"] * 3 + ["/full"]


@pytest.mark.parametrize(
    ("order", "reviews", "evidence"),
    [
        (("ours", "error", "retry"), 1, True),
        (("ours", "retry", "error"), 1, True),
        (("error", "ours", "retry"), 1, False),
        (("error", "retry", "ours"), 2, False),
        (("retry", "ours", "error"), 1, True),
    ],
)
def test_outermost_it_reviews_once_and_the_model_sees_the_evidence_of_a_failure(
    order: tuple[str, ...], reviews: int, evidence: bool
) -> None:
    parts = {**others(), "ours": DriftGuardMiddleware(burnt())}
    model = ScriptedModel(script=[proposing(call("/full")), "done"])
    made = create_agent(model, [saver_tool([])], middleware=[parts[name] for name in order])
    events = list(made.stream(ASKED, stream_mode="custom"))
    assert [each["event"] for each in events].count("review") == reviews
    told = str(answers(model.heard[1])[0].content)
    assert told.startswith("sorry: ")
    assert ("[Note of the failure memory" in told) == evidence
