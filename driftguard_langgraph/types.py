"""The nouns of the package: actions, episodes, matches, and the words for decisions.

Everything here is immutable and free of I/O. `to_dict` returns plain JSON types only, so
that the result can live in graph state and cross process boundaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypedDict

from driftguard_langgraph.html.memory_cards import match_card

Namespace = tuple[str, ...]
"""Whose memory it is, for example `("acme", "user-7")`."""

Kind = Literal["mistake", "success"]
NodeType = Literal["action", "feedback", "outcome"]
Severity = Literal["low", "medium", "high", "critical"]
SEVERITIES: tuple[Severity, ...] = ("low", "medium", "high", "critical")

Policy = Literal["warn", "block", "acknowledge", "record_only", "speed_bump"]
"""What follows from a warning.

- `warn`: the step may run, the warning is returned.
- `block`: the step must not run.
- `acknowledge`: the step must not run until somebody accepts the risk.
- `speed_bump`: the first proposal in a thread is answered with the evidence and not run;
  proposing it again passes.
- `record_only`: nothing is reviewed, everything is recorded.
"""
POLICIES: tuple[Policy, ...] = ("warn", "block", "acknowledge", "record_only", "speed_bump")

Decision = Literal[
    "proceed", "warn", "block", "acknowledge", "speed_bump", "override", "skipped", "unavailable"
]
"""What a review decided.

- `proceed`: nothing like it is remembered as a failure; run it.
- `warn`: run it, with the warning in view.
- `block`, `acknowledge`, `speed_bump`: do not run it (now).
- `override`: it would have been stopped, but was acknowledged or proposed again; run it.
- `skipped`: the policy is `record_only`; nothing was looked up.
- `unavailable`: the memory could not be reached; see `GuardReview.error`.
"""
REFUSALS: frozenset[Decision] = frozenset({"block", "acknowledge", "speed_bump"})

Arm = Literal["shown", "withheld", "muted"]
"""What was done with the warnings of a review: shown, kept silent by the holdout to have
something to compare with, or silenced because evidence speaks against them."""

Role = Literal["ran", "instead"]
"""What an executed step is to a review: the reviewed step, or one in its place."""

MatchKind = Literal[
    "exact",
    "normalized",
    "paraphrase",
    "same_culprit",
    "same_frame",
    "judged",
    "dissimilar",
    "different_tool",
    "different_arguments",
    "different_polarity",
    "different_direction",
    "different_value",
    "different_target",
    "different_order",
    "different_mood",
]
"""Why two actions count as the same (the first five) or not (the rest); `judged` says that the
optional judge decided, one way or the other (`Match.same` says which)."""


class ToolCall(TypedDict):
    """A proposed tool call, as LangChain's messages hold it (other keys are ignored)."""

    name: str
    args: dict[str, Any]


def utc_now() -> datetime:
    """Return the current time with the UTC time zone attached."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Action:
    """A step in the form in which it is compared.

    Attributes:
        text: The words of the step; for a tool call, its canonical rendering.
        tool_name: Name of the tool when the step is a tool call.
        tool_args: Arguments of the tool call, plain JSON.
    """

    text: str
    tool_name: str | None = None
    tool_args: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """One observed outcome, kept as it was reported and never changed afterwards.

    Attributes:
        episode_id: Idempotency key within the namespace.
        namespace: Whose memory it belongs to.
        kind: `mistake` or `success`.
        action: What was tried.
        feedback: The immediate signal (error text, tool output).
        outcome: What it led to in the end.
        severity: How bad (or, for successes, how valuable) the outcome was.
        created_at: When it was observed, with a time zone.
        provenance: Where it was seen: `thread_id`, `run_id`, `checkpoint_ns`,
            `tool_call_id`, `source`, as far as known.
        metadata: Free JSON of the caller's.
    """

    episode_id: str
    namespace: Namespace
    kind: Kind
    action: Action
    feedback: str
    outcome: str
    severity: Severity = "medium"
    created_at: datetime = field(default_factory=utc_now)
    provenance: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the episode as plain JSON."""
        return {
            "episode_id": self.episode_id,
            "namespace": list(self.namespace),
            "kind": self.kind,
            "action": self.action.text,
            "tool_name": self.action.tool_name,
            "tool_args": None if self.action.tool_args is None else dict(self.action.tool_args),
            "feedback": self.feedback,
            "outcome": self.outcome,
            "severity": self.severity,
            "created_at": self.created_at.isoformat(),
            "provenance": dict(self.provenance),
            "metadata": dict(self.metadata),
        }


@dataclass(frozen=True, slots=True)
class Match:
    """Whether two actions are the same action, and why.

    Attributes:
        score: 0..1; how surely they are the same, after everything that tells them apart.
        same: The decision.
        similarity: Cosine of the two embeddings, -1..1.
        kind: What settled it.
        differences: What tells them apart, in words, for example `"staging / production"`.
        shared: For `same_culprit`, the parts that the feedback blamed and both contain; for
            `same_frame`, the identifiers under which the step failed all the same.
    """

    score: float
    same: bool
    similarity: float
    kind: MatchKind
    differences: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the match as plain JSON."""
        return {
            "score": round(self.score, 6),
            "same": self.same,
            "similarity": round(self.similarity, 6),
            "kind": self.kind,
            "differences": list(self.differences),
            "shared": list(self.shared),
        }

    def _repr_html_(self) -> str:
        return match_card(self.to_dict())


@dataclass(frozen=True, slots=True)
class RunCredit:
    """How runs with the reviewed step ended; see `judgement.credit` for the arithmetic.

    Each verdict about a run is spread evenly over its distinct actions, so this is a hint
    about a step among others and names no culprit. It makes no warning.

    Attributes:
        failed_runs: Runs with the step that failed in the end.
        succeeded_runs: Runs with the step that succeeded.
        blame: Sum of the step's shares in the failed ones.
        credit: Sum of its shares in the others.
        suspicion: 0..1; .5 without evidence, above when failures prevail.
    """

    failed_runs: int
    succeeded_runs: int
    blame: float
    credit: float
    suspicion: float

    def explain(self) -> str:
        """Say in one line how the runs ended and what that says about the step."""
        return (
            f"of its runs {self.failed_runs} failed and {self.succeeded_runs} succeeded in the "
            f"end: blame {self.blame:.2f}, credit {self.credit:.2f}, shared with the other "
            f"steps of each run; suspicion {self.suspicion:.2f}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the credit as plain JSON."""
        shares = {name: round(getattr(self, name), 6) for name in ("blame", "credit", "suspicion")}
        return {**asdict(self), **shares}


class Receipt(TypedDict):
    """What `record` answers."""

    status: Literal["stored", "duplicate", "unavailable"]
    episode_id: str
    kind: Kind
    action: str
    feedback: str
    outcome: str
    nodes_created: int
    nodes_merged: int
    error: str | None


class RunReceipt(TypedDict):
    """What `record_run_outcome` answers.

    Attributes:
        status: What became of the verdict; see `record_run_outcome`.
        thread_id: The thread it is about, or None.
        run_id: The run it is about, or None.
        success: Whether the run ended well.
        outcome: What it led to, as it was kept.
        actions: Distinct actions remembered of the run, which share the verdict.
        error: Why the memory could not be reached, when `status` is `unavailable`.
    """

    status: Literal["stored", "replaced", "unknown", "unavailable"]
    thread_id: str | None
    run_id: str | None
    success: bool
    outcome: str
    actions: int
    error: str | None
