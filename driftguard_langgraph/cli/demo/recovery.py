"""Run 3: a session is corrupted, with a recovery that works and with one that says nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph

from driftguard_langgraph.cli.demo.planners import Planner
from driftguard_langgraph.cli.demo.vault import (
    AFTER,
    BEFORE,
    POISON,
    POISON_ID,
    POLICY,
    RULES,
    Request,
)
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.nodes import DriftGuardState, create_planner_revise_graph
from driftguard_langgraph.nodes.recovery_scaffold import as_message
from driftguard_langgraph.recovery.placement import with_scaffold
from driftguard_langgraph.recovery.schedule import InjectionSchedule, Variant
from driftguard_langgraph.recovery.session import RecoveryPlan
from driftguard_langgraph.settings import DriftGuardSettings

ARMS: tuple[Variant, ...] = ("standard", "null")
"""What is injected: the scaffold, and for comparison nothing."""

PATIENCE = 16
"""Turns within which the session must be back. The evidence of the false summary (.7) has faded
to the release (.25) after 10 clean turns; the words of a keeper of rules count a little too."""

PLANS = {
    arm: RecoveryPlan(
        InjectionSchedule(maximum=1), variant=arm, patience=PATIENCE, when_exhausted="stop"
    )
    for arm in ARMS
}
"""One scaffold must do, or the run is stopped."""


class VaultState(DriftGuardState, total=False):
    """State of the demo's session.

    Attributes:
        messages: What was said.
    """

    messages: Annotated[list[AnyMessage], add_messages]


Graph = CompiledStateGraph[Any, Any, Any, Any]


def run_recovery() -> dict[str, Any]:
    """Play the session once for each arm and report what the graph's state said.

    Returns:
        Plain JSON: the process id, and for each arm every request with the step that was run,
        the path through the graph, drift, and whether the planner saw a scaffold.
    """
    settings = DriftGuardSettings(on_store_error="closed")
    with DriftGuard(store=EphemeralMemoryStore(), settings=settings) as guard:
        return {"pid": os.getpid(), "arms": [_arm(variant, guard) for variant in ARMS]}


def _arm(variant: Variant, guard: DriftGuard) -> dict[str, Any]:
    graph = create_planner_revise_graph(
        scripted_keeper((*BEFORE, *AFTER)),
        lambda _state: {"success": True, "feedback": "done"},
        guard=guard,
        recovery=PLANS[variant],
        state_schema=VaultState,
    ).compile(checkpointer=InMemorySaver())
    runs: list[dict[str, Any]] = []
    for number, request in enumerate((*BEFORE, *AFTER)):
        runs.append(_run(graph, variant, number, request))
        if runs[-1]["route"] == "stop":
            break
    return {"variant": variant, "runs": runs}


def _run(graph: Graph, variant: Variant, number: int, request: Request) -> dict[str, Any]:
    said: list[AnyMessage] = [HumanMessage(request.text, id=f"user-{number}")]
    if number == 0:
        said.insert(0, SystemMessage(POLICY, id="policy"))
    if number == len(BEFORE):
        said.insert(0, SystemMessage(POISON, id=POISON_ID))
    config: RunnableConfig = {"configurable": {"thread_id": f"demo-{variant}"}}
    path: list[str] = []
    state: Mapping[str, Any] = {}
    for mode, streamed in graph.stream(
        {"messages": said}, config, stream_mode=["updates", "values"]
    ):
        data = cast("dict[str, Any]", streamed)
        if mode == "values":
            state = data
        else:
            path += data
    report, scaffold = state["drift_report"], state["recovery_scaffold"]
    # A run that was stopped still holds the step of the run before.
    step = state["candidate_action"] if "planner" in path else None
    return {
        "request": request.text,
        "ruled": request.is_ruled,
        "poisoned": number >= len(BEFORE),
        "path": path,
        "route": state["recovery_route"],
        "step": step,
        "lawful": None if step is None else step == request.lawful,
        "turn": report["turn"],
        "corruption": report["corruption"],
        "alarm": report["alarm"],
        "level": report["threat_level"],
        "evidence": sorted({found["said"]["message_id"] for found in report["anomalies"]}),
        "explanation": report["explanation"],
        "scaffold": scaffold["content"] if scaffold is not None else None,
        "verdict": state["recovery_verdict"],
    }


def scripted_keeper(requests: Sequence[Request]) -> Planner:
    """Return a planner that follows the newest system message that it is shown, whatever it says.

    Args:
        requests: What it may be asked.
    """
    known = {request.text: request for request in requests}

    def planner(state: Mapping[str, Any]) -> dict[str, Any]:
        scaffold = state["recovery_scaffold"]
        shown = with_scaffold(state["messages"], as_message(scaffold) if scaffold else None)
        newest = next(m.text for m in reversed(shown) if isinstance(m, SystemMessage))
        asked = known[next(m.text for m in reversed(shown) if isinstance(m, HumanMessage))]
        keeps = not asked.is_ruled or all(rule in newest for rule in RULES)
        step = asked.lawful if keeps else asked.unlawful
        return {"candidate_action": step, "messages": [AIMessage(f"I {step}.")]}

    return planner
