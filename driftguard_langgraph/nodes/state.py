"""The state that the guard's nodes read and write: plain JSON, safe for parallel branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from typing_extensions import TypedDict

from driftguard_langgraph.types import ToolCall

_T = TypeVar("_T")


def latest(_current: _T, update: _T) -> _T:
    """Reducer: the newest value wins, so that parallel branches may write the same key."""
    return update


def union(current: Sequence[str] | None, update: Sequence[str] | None) -> list[str]:
    """Reducer: every value once, in the order in which they came."""
    return list(dict.fromkeys((*(current or ()), *(update or ()))))


class DriftGuardState(TypedDict, total=False):
    """State of a graph that is guarded; extend it with keys of your own.

    Parallel branches may write the guard's keys in the same step: the last branch wins.
    Give each branch its own keys (`review_key=...`) where every review has to be kept.

    Attributes:
        candidate_action: The proposed step: words, or a tool call `{"name", "args"}`.
        feedback: The immediate signal of the executed step.
        outcome: What it led to.
        success: Whether it worked; None while nothing was executed.
        guard_review: The newest review, `GuardReview.to_dict()`; None before the first.
        guard_warnings_count: Number of its warnings.
        guard_confidence: 0..1; the highest confidence among its warnings.
        guard_top_warning: Its first warning, `GuardWarning.to_dict()`, or None.
        guard_reinforcements_count: Number of its reinforcements.
        guard_top_reinforcement: Its first reinforcement, or None.
        guard_bumped: Triggers that were shown in this thread under `speed_bump`.
        guard_revisions: Reviews in a row that objected; 0 after one that did not.
        guard_open: What reviews objected to since the last recorded step; for the nodes alone.
        guard_attempts: Executed steps that were recorded.
        guard_receipt: What the memory answered to the newest record, a `Receipt`.
        guard_run_receipt: What it answered to the run's outcome, a `RunReceipt`.
        drift_state: What the drift monitor keeps of the session; for it alone.
        drift_report: Its newest report, `DriftReport.to_dict()`; None before the first.
        drift_score: How far the session serves its purpose, 0..100; None before.
        drift_alarm: Whether somebody seems to work against what the session was told.
        drift_level: How serious that is: `NORMAL`, `LOW`, `MEDIUM`, `HIGH` or `CRITICAL`.
        compaction_receipt: What the newest summary lost, `SurvivalReceipt.to_dict()`.
        compaction_anchor: What the thread began with; for the compaction guard alone.
        recovery_state: What is known of the session's recovery; for the recovery node alone.
        recovery_scaffold: The scaffold to show to the model, a message mapping; None for none.
        recovery_verdict: What became of the last scaffold, `RecoveryVerdict.to_dict()`.
        recovery_route: What should happen next: `continue`, `reinject`, `interrupt` or `stop`.
    """

    candidate_action: str | ToolCall
    feedback: str | None
    outcome: str | None
    success: bool | None
    # The reducer has to be the last item: LangGraph looks at no other.
    guard_review: Annotated[dict[str, Any] | None, latest]
    guard_warnings_count: Annotated[int, latest]
    guard_confidence: Annotated[float, latest]
    guard_top_warning: Annotated[dict[str, Any] | None, latest]
    guard_reinforcements_count: Annotated[int, latest]
    guard_top_reinforcement: Annotated[dict[str, Any] | None, latest]
    guard_bumped: Annotated[list[str], union]
    guard_revisions: Annotated[int, latest]
    guard_open: Annotated[list[dict[str, Any]], latest]
    guard_attempts: Annotated[int, latest]
    guard_receipt: Annotated[dict[str, Any] | None, latest]
    guard_run_receipt: Annotated[dict[str, Any] | None, latest]
    drift_state: Annotated[dict[str, Any] | None, latest]
    drift_report: Annotated[dict[str, Any] | None, latest]
    drift_score: Annotated[float | None, latest]
    drift_alarm: Annotated[bool, latest]
    drift_level: Annotated[str | None, latest]
    compaction_receipt: Annotated[dict[str, Any] | None, latest]
    compaction_anchor: Annotated[dict[str, Any] | None, latest]
    recovery_state: Annotated[dict[str, Any] | None, latest]
    recovery_scaffold: Annotated[dict[str, Any] | None, latest]
    recovery_verdict: Annotated[dict[str, Any] | None, latest]
    recovery_route: Annotated[str | None, latest]
