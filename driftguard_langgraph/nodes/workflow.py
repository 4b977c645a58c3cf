"""A whole loop: watch, propose, review, revise, execute, remember, try again.

`begin -> planner -> guard_review`, then `clear_outcome -> executor -> record_outcome` when the
step may run, back to the `planner` when it should be revised, or the end when it stays
refused. A failed step is recorded and goes back to the `planner` with a fresh budget of
revisions. In a graph with messages `drift_monitor -> recovery_scaffold` stand before the
planner each time, see `nodes.workflow_watch`.

`begin` clears what an earlier run of the same thread left in `DriftGuardState`, but for
`candidate_action`, `guard_bumped` and what is known of drift and recovery; keys of your own
stay. `clear_outcome` clears `feedback`, `outcome` and `success` of the step before, which the
planner has seen by then: what an executor leaves out must not be recorded with the words of
another step.

The end is reached in four ways: `success` is true; it is false and `max_attempts` steps were
executed; `guard_review["may_run"]` is false and the last proposal was not executed; or
`recovery_route` is `"stop"` and nothing more was proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from typing import Any, Literal

from langchain_core.runnables import Runnable
from langgraph.graph import END, START, StateGraph

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes.guard_review import create_guard_review_node
from driftguard_langgraph.nodes.options import check_count
from driftguard_langgraph.nodes.record_outcome import create_record_outcome_node
from driftguard_langgraph.nodes.routing import DEFAULT_MAX_REVISIONS, create_route_on_review
from driftguard_langgraph.nodes.state import DriftGuardState
from driftguard_langgraph.nodes.workflow_watch import WATCHED_KEYS, Builder, add_watch
from driftguard_langgraph.recovery.conduct import RecoveryConduct
from driftguard_langgraph.recovery.session import RecoveryPlan
from driftguard_langgraph.types import Policy

DEFAULT_MAX_ATTEMPTS = 3
"""As in LangGraph's `RetryPolicy`."""

_EDGES = (
    (START, "begin"),
    ("planner", "guard_review"),
    *pairwise(("clear_outcome", "executor", "record_outcome")),
)

_NOTHING_EXECUTED: dict[str, Any] = {"feedback": None, "outcome": None, "success": None}

_FRESH: dict[str, Any] = {
    **_NOTHING_EXECUTED,
    "guard_review": None,
    "guard_warnings_count": 0,
    "guard_confidence": 0.0,
    "guard_top_warning": None,
    "guard_reinforcements_count": 0,
    "guard_top_reinforcement": None,
    "guard_revisions": 0,
    "guard_open": [],
    "guard_attempts": 0,
    "guard_receipt": None,
}


def create_planner_revise_graph(
    planner: Any,
    executor: Any,
    *,
    guard: DriftGuard | None = None,
    policy: Policy | None = None,
    min_confidence: float | None = None,
    namespace: Sequence[str] | None = None,
    acknowledged_key: str | None = None,
    max_revisions: int = DEFAULT_MAX_REVISIONS,
    max_attempts: int = DEFAULT_MAX_ATTEMPTS,
    monitor: object = None,
    recovery: RecoveryPlan | RecoveryConduct | None = None,
    messages_key: str | None = "messages",
    state_schema: type[Any] = DriftGuardState,
    context_schema: type[Any] | None = None,
) -> StateGraph[Any, Any, Any, Any]:
    """Return an uncompiled graph whose planner is warned, and may revise, before each step.

    Args:
        planner: Node that returns `{"candidate_action": ...}`: function, coroutine function
            or `Runnable`, added as it is. After an objection the evidence is in
            `guard_review` and `guard_top_warning`, after a failure there is `feedback` too.
            What is under `recovery_scaffold` is for its model to see.
        executor: Node that runs it and returns `{"success": bool}`, and `"feedback"` and
            `"outcome"` when there is something to say. It starts with all three cleared.
        guard: Whom to ask; as in `create_guard_review_node`, and so are the next four.
        policy: What follows from a warning.
        min_confidence: Below this confidence nothing is stopped, 0..1.
        namespace: Whose memory.
        acknowledged_key: Where the state accepts, with true, the risk of the next proposal.
        max_revisions: How often one step may go back to the planner, before it is run with
            the warning (`warn`) or given up (the policies that refuse).
        max_attempts: How many steps one run may execute.
        monitor: What the messages are measured against, as in `create_drift_monitor_node`.
        recovery: When and how to recover; None is the default plan.
        messages_key: Where the state has its messages, if it has any. They are watched for
            drift, see `nodes.workflow_watch`; None: nobody watches.
        state_schema: `DriftGuardState` or a schema with its keys.
        context_schema: Schema of the run's context, as in `StateGraph`.

    Raises:
        ConfigurationError: An argument is not usable, or `state_schema` lacks keys.
    """
    _check_nodes(planner=planner, executor=executor)
    check_count("max_attempts", max_attempts, 1)
    builder = _builder(state_schema, context_schema)
    review = create_guard_review_node(
        guard,
        policy=policy,
        min_confidence=min_confidence,
        namespace=namespace,
        acknowledged_key=acknowledged_key,
    )
    record = create_record_outcome_node(guard, namespace=namespace)
    _add_nodes(builder, planner=planner, guard_review=review, executor=executor, record=record)
    settings = guard.settings if guard is not None else None
    proposing = add_watch(builder, monitor, recovery, messages_key, settings)
    _add_ways(builder, proposing, max_revisions, max_attempts)
    return builder


def _add_nodes(
    builder: Builder, *, planner: Any, guard_review: Any, executor: Any, record: Any
) -> None:
    nodes = {"begin": _begin, "planner": planner, "guard_review": guard_review}
    nodes |= {"clear_outcome": _clear_outcome, "executor": executor, "record_outcome": record}
    for name, node in nodes.items():
        builder.add_node(name, node)
    for start, end in _EDGES:
        builder.add_edge(start, end)


def _add_ways(builder: Builder, proposing: str, max_revisions: int, max_attempts: int) -> None:
    """Lead to the node that begins a proposal, from the start and whenever another is due."""
    builder.add_edge("begin", proposing)
    route = create_route_on_review(max_revisions=max_revisions)
    ways: dict[Hashable, str] = {"proceed": "clear_outcome", "revise": proposing, "stop": END}
    builder.add_conditional_edges("guard_review", route, ways)
    after_record: dict[Hashable, str] = {"retry": proposing, "end": END}
    builder.add_conditional_edges("record_outcome", _route_on_outcome(max_attempts), after_record)


def _begin(_state: Any) -> dict[str, Any]:
    return dict(_FRESH)


def _clear_outcome(_state: Any) -> dict[str, Any]:
    return dict(_NOTHING_EXECUTED)


def _route_on_outcome(max_attempts: int) -> Callable[[Any], Literal["retry", "end"]]:
    def route_on_outcome(state: Any) -> Literal["retry", "end"]:
        held = state if isinstance(state, dict) else vars(state)
        return "end" if held["success"] or held["guard_attempts"] >= max_attempts else "retry"

    return route_on_outcome


def _check_nodes(**nodes: object) -> None:
    for name, node in nodes.items():
        if not callable(node) and not isinstance(node, Runnable):
            raise ConfigurationError(
                f"{name} must be a function, a coroutine function or a Runnable, "
                f"not {type(node).__name__}: pass the node that LangGraph shall run."
            )


def _builder(state_schema: type[Any], context_schema: type[Any] | None) -> Builder:
    for name, schema in (("state_schema", state_schema), ("context_schema", context_schema)):
        if not isinstance(schema, type) and (schema is not None or name == "state_schema"):
            raise ConfigurationError(
                f"{name} must be a class (a TypedDict, a dataclass, a pydantic model), not "
                f"{type(schema).__name__}."
            )
    builder: Builder = StateGraph(state_schema, context_schema)
    needed = {key for key in DriftGuardState.__annotations__ if not key.startswith("compaction_")}
    missing = sorted(needed - WATCHED_KEYS - set(builder.channels))
    if missing:
        raise ConfigurationError(
            f"{state_schema.__name__} lacks the keys {', '.join(missing)}, and LangGraph would "
            "drop what the guard writes to them: let it inherit from DriftGuardState."
        )
    return builder
