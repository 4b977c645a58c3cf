"""The custom stream events of every door, in one place.

`graph.stream(..., stream_mode="custom")` shows them; those of nodes and agents inside subgraphs
only with `subgraphs=True`, then behind the namespace of the subgraph. With `version="v2"` an
event is the `data` of a part whose `type` is `"custom"`. Every event is plain JSON with
`"type": "driftguard"`, the kind of `event`, and the `node` (the name of the node or middleware)
that says it:

| event | said by | when |
|---|---|---|
| `review` | `guard_review` node, `DriftGuardMiddleware`, `guard_tool_call` | a step was reviewed |
| `record` | `record_outcome` node, the same middleware | an outcome was offered to the memory |
| `repeat` | the same middleware | a call was stopped for repeating without progress |
| `record_run` | `record_run_outcome` node | a verdict about a whole run was kept |
| `drift` | `drift_monitor` node, `DriftMonitorMiddleware` | new messages were measured |
| `drift_unavailable` | the same two | they could not be; the run went on |
| `recovery` | `recovery_scaffold` node, `DriftMonitorMiddleware` | a scaffold or a verdict is due |
| `compaction` | compaction node, `GuardedSummarizationMiddleware` | a summary was checked |

Unlike the guard's own events (`driftguard_langgraph.events`, for metrics), these show recorded
text: they are for whoever may read the conversation.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from driftguard_langgraph.types import Decision, Kind, Policy, RunReceipt


class _FromNode(TypedDict):
    type: Literal["driftguard"]
    node: str


class ReviewEvent(_FromNode):
    """A step was reviewed.

    Attributes:
        action: The step as it was compared.
        decision: What follows.
        policy: The policy that decided.
        warnings: Number of warnings.
        reinforcements: Number of reinforcements.
        confidence: Highest confidence among the warnings, 0..1.
        top_warning: The first of them, `GuardWarning.to_dict()`, or None.
        tool: Name of the tool, from doors that review tool calls.
        tool_call_id: Id of the call, from the same.
    """

    event: Literal["review"]
    action: str
    decision: Decision
    policy: Policy
    warnings: int
    reinforcements: int
    confidence: float
    top_warning: dict[str, Any] | None
    tool: NotRequired[str]
    tool_call_id: NotRequired[str | None]


class RecordEvent(_FromNode):
    """An outcome was offered to the memory.

    Attributes:
        status: What became of it: `stored`, `duplicate` or `unavailable`.
        episode_id: The id it is kept under.
        kind: `mistake` or `success`.
        action: The step as it was kept; this and the next five from nodes, see `Receipt`.
        feedback: The immediate signal as it was kept.
        outcome: What it led to, as it was kept.
        nodes_created: Nodes that it added to the graphs.
        nodes_merged: Nodes that it found there.
        error: Why the memory could not be reached, or None.
        tool: Name of the tool, from doors that record tool calls.
        tool_call_id: Id of the call, from the same.
    """

    event: Literal["record"]
    status: Literal["stored", "duplicate", "unavailable"]
    episode_id: str
    kind: Kind
    action: NotRequired[str]
    feedback: NotRequired[str]
    outcome: NotRequired[str]
    nodes_created: NotRequired[int]
    nodes_merged: NotRequired[int]
    error: NotRequired[str | None]
    tool: NotRequired[str]
    tool_call_id: NotRequired[str | None]


class RepeatEvent(_FromNode):
    """The same call had the same result too often and is not run again.

    Attributes:
        tool: Name of the tool.
        times: How often it was so.
        tool_call_id: Id of the call, unless the whole run ends for it.
    """

    event: Literal["repeat"]
    tool: str
    times: int
    tool_call_id: NotRequired[str | None]


class RecordRunEvent(_FromNode, RunReceipt):
    """A verdict about a whole run was kept; the fields of its `RunReceipt`."""

    event: Literal["record_run"]


class DriftEvent(_FromNode):
    """New messages were measured; the fields of `DriftReport.to_dict()` after the last of them.

    Attributes:
        measured: How many messages were new.
    """

    event: Literal["drift"]
    measured: int
    turn: int
    message_id: str | None
    channel: str
    score: float
    verdict: str
    is_effective: bool
    needs_reset: bool
    abstained: bool
    strategy_scores: dict[str, float]
    absolute_drift: float
    velocity: float
    components: dict[str, float]
    signatures: list[str]
    anomalies: list[dict[str, Any]]
    revisions: list[dict[str, Any]]
    corruption: float
    alarm: bool
    threat_level: str
    peak_level: str
    explanation: str
    backend: str


class DriftUnavailableEvent(_FromNode):
    """New messages could not be measured.

    Attributes:
        error: Why.
    """

    event: Literal["drift_unavailable"]
    error: str


class RecoveryEvent(_FromNode):
    """A scaffold was due, or it is known what became of one.

    Attributes:
        injected: Variant of the scaffold that the model is shown with this call, or None.
        trigger: What made it due, or None.
        route: What should happen next: `continue`, `reinject`, `interrupt` or `stop`.
        verdict: What became of the last scaffold, `RecoveryVerdict.to_dict()`, or None.
    """

    event: Literal["recovery"]
    injected: str | None
    trigger: str | None
    route: str
    verdict: dict[str, Any] | None


class CompactionEvent(_FromNode):
    """A summary was checked; the fields of `SurvivalReceipt.to_dict()`."""

    event: Literal["compaction"]
    total: int
    survived: int
    survival_rate: float
    dropped_count: int
    dropped: list[dict[str, str]]
    rules: int
    dropped_constraints: list[str]
    altered: list[dict[str, str]]
    tokens_before: int
    tokens_after: int
    token_reduction: float
    restored: int


StreamEvent = (
    ReviewEvent
    | RecordEvent
    | RepeatEvent
    | RecordRunEvent
    | DriftEvent
    | DriftUnavailableEvent
    | RecoveryEvent
    | CompactionEvent
)
"""Any of them; `event` tells which."""
