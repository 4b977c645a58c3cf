"""What a review says: warnings, reinforcements, look-alikes, and the decision.

Immutable and free of I/O, as all of `types`; `to_dict` returns plain JSON types only, so
that a review can live in graph state and cross process boundaries.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from driftguard_langgraph.html.memory_cards import recollection_card, review_card
from driftguard_langgraph.types import (
    REFUSALS,
    Decision,
    Kind,
    Match,
    Policy,
    RunCredit,
    Severity,
    utc_now,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The numbers behind one confidence; see `judgement.evidence` for the formula.

    Attributes:
        node_frequency: How often the action was observed.
        edge_frequency: How often it led to this feedback.
        reinforcement: Trust earned by these, .60 to .95.
        score: How surely the reviewed step is the remembered one, 0..1.
        age_days: Whole days since it was last seen.
        recency: Trust left by age, .50 to 1.
        recency_weight: Share of recency in the confidence.
        successes_since: Successes of the same step since its last failure.
        redeemed: Share of the confidence that these leave, 0..1.
        run_trust: Share of it that the ends of whole runs leave, 0..1; of successes only.
    """

    node_frequency: int
    edge_frequency: int
    reinforcement: float
    score: float
    age_days: int
    recency: float
    recency_weight: float
    successes_since: int = 0
    redeemed: float = 1.0
    run_trust: float = 1.0

    def explain(self, confidence: float) -> str:
        """Say in one line how the confidence comes about."""
        rest = 1 - self.recency_weight
        line = (
            f"confidence {confidence:.2f} = {rest:.2f} x (0.65 x {self.reinforcement:.2f} "
            f"[seen {self.node_frequency}x, led there {self.edge_frequency}x] "
            f"+ 0.35 x {self.score:.2f} [match]) "
            f"+ {self.recency_weight:.2f} x {self.recency:.2f} [{self.age_days} days old]"
        )
        if self.successes_since:
            line += f", x {self.redeemed:.2f} [{self.successes_since} successes since]"
        if self.run_trust < 1:
            line += f", x {self.run_trust:.2f} [its runs failed in the end]"
        return line


@dataclass(frozen=True, slots=True)
class Recollection:
    """One remembered chain that speaks about the reviewed step.

    Attributes:
        trigger: Label of the remembered action (normalised words, as in the graph view).
        risk: Label of its feedback, the immediate signal.
        outcome: Label of what it led to.
        frequency: How often the remembered action was observed.
        confidence: 0..1; how much to trust this, by frequency, recency, similarity and
            the successes that speak against it.
        severity: The worst severity observed on this chain.
        last_seen: When the chain was last observed.
        action_text: The remembered action as somebody wrote it (the wording nearest to
            the reviewed step).
        feedback_text: The feedback as it was reported.
        outcome_text: The outcome as it was reported.
        episode_ids: The newest episodes behind it (a sample).
        match: Why the reviewed step counts as the remembered action.
        evidence: The numbers behind `confidence`.
    """

    trigger: str
    risk: str
    outcome: str
    frequency: int
    confidence: float
    severity: Severity
    last_seen: datetime
    action_text: str
    feedback_text: str
    outcome_text: str
    episode_ids: tuple[str, ...]
    match: Match
    evidence: Evidence

    def explain(self) -> str:
        """Say in a few lines what is remembered, why it counts, and how much."""
        why = f"{self.match.kind}, similarity {self.match.similarity:.2f}"
        if self.match.shared:
            why += f", both with {', '.join(self.match.shared)}"
        return (
            f"{self.action_text!r} -> {self.feedback_text!r} -> {self.outcome_text!r}\n"
            f"  matched: {why}; severity {self.severity}\n"
            f"  {self.evidence.explain(self.confidence)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the recollection as plain JSON."""
        return {
            "trigger": self.trigger,
            "risk": self.risk,
            "outcome": self.outcome,
            "frequency": self.frequency,
            "confidence": round(self.confidence, 6),
            "severity": self.severity,
            "last_seen": self.last_seen.isoformat(),
            "action_text": self.action_text,
            "feedback_text": self.feedback_text,
            "outcome_text": self.outcome_text,
            "episode_ids": list(self.episode_ids),
            "match": self.match.to_dict(),
            "evidence": asdict(self.evidence),
        }

    def _repr_html_(self) -> str:
        return recollection_card(type(self).__name__, self.to_dict(), self.explain())


@dataclass(frozen=True, slots=True)
class GuardWarning(Recollection):
    """Something like the reviewed step failed before.

    Attributes:
        remedy: What succeeded next in the thread of the failure, if it is of the same tool or
            near to the step in words; None when nothing such is known.
    """

    remedy: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the warning as plain JSON."""
        return {**Recollection.to_dict(self), "remedy": self.remedy}


@dataclass(frozen=True, slots=True)
class Reinforcement(Recollection):
    """Something like the reviewed step worked before."""

    @property
    def recommendation(self) -> str:
        """The feedback that came with the success."""
        return self.risk

    def to_dict(self) -> dict[str, Any]:
        """Return the reinforcement as plain JSON, `risk` under the name `recommendation`."""
        plain = Recollection.to_dict(self)
        plain["recommendation"] = plain.pop("risk")
        return plain


@dataclass(frozen=True, slots=True)
class RelatedMemory:
    """A look-alike that is not the reviewed step: shown to whoever asks, never a warning.

    Attributes:
        kind: Whether the look-alike failed or succeeded.
        action_text: The remembered action as somebody wrote it.
        match: What tells it apart from the reviewed step.
    """

    kind: Kind
    action_text: str
    match: Match

    def to_dict(self) -> dict[str, Any]:
        """Return the look-alike as plain JSON."""
        return {
            "kind": self.kind,
            "action_text": self.action_text,
            "match": self.match.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class GuardReview:
    """What the memory says about one proposed step, and what the policy makes of it.

    Attributes:
        query: The reviewed step as it was compared.
        warnings: Remembered failures of the same step, most trustworthy first.
        reinforcements: Remembered successes of the same step, most trustworthy first.
        related: Look-alikes that differ in something that matters.
        chains: The mistake chains behind the warnings, `[action, feedback, outcome]`
            labels, in the order of the warnings.
        confidence: The highest confidence among the warnings; 0.0 without any.
        decision: What follows; see `Decision`.
        policy: The policy that decided.
        run_credit: How runs with this step ended; None when no verdict is known.
        timestamp: When the review was made.
        error: Why the memory could not be asked, when `decision` is `unavailable`.
        review_id: Names this review; a random one unless given.
        unit: What is drawn for the holdout, a digest; see `judgement.holdout`.
        holdout: The share of units that were held out at the time, 0..1.
        withheld: Warnings that the holdout keeps silent: not shown, and nothing follows from
            them. Either all that would be shown are withheld, or none.
        muted: Warnings that evidence silenced: the step was run all the same and worked, time
            after time. The next failure brings them back.
    """

    query: str
    warnings: tuple[GuardWarning, ...] = ()
    reinforcements: tuple[Reinforcement, ...] = ()
    related: tuple[RelatedMemory, ...] = ()
    chains: tuple[tuple[str, ...], ...] = ()
    confidence: float = 0.0
    decision: Decision = "proceed"
    policy: Policy = "warn"
    run_credit: RunCredit | None = None
    timestamp: datetime = field(default_factory=utc_now)
    error: str | None = None
    review_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    unit: str = ""
    holdout: float = 0.0
    withheld: tuple[GuardWarning, ...] = ()
    muted: tuple[GuardWarning, ...] = ()

    @property
    def may_run(self) -> bool:
        """Whether the policy lets the step run now."""
        return self.decision not in REFUSALS

    def explain(self) -> str:
        """Say in plain text what was found, what it weighs, and what follows.

        Of what the holdout keeps silent it says nothing.
        """
        lines = [f"{self.query!r}: {self.decision} (policy {self.policy})"]
        for title, found in (("failed", self.warnings), ("worked", self.reinforcements)):
            lines.extend(f"{title}: {recollection.explain()}" for recollection in found)
        lines.extend(
            f"not the same as {memory.action_text!r}: {memory.match.kind} "
            f"({', '.join(memory.match.differences)})"
            for memory in self.related
        )
        lines.extend(f"muted: {recollection.explain()}" for recollection in self.muted)
        if self.run_credit:
            lines.append(self.run_credit.explain())
        if self.error:
            lines.append(f"the memory could not be asked: {self.error}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the review as plain JSON, safe to keep in graph state.

        What the holdout keeps silent is in it as digests only: who reads the state cannot be
        warned by it, and recording with it (`record(review=...)`) still settles it.
        """
        return {
            "query": self.query,
            "warnings": [w.to_dict() for w in self.warnings],
            "reinforcements": [r.to_dict() for r in self.reinforcements],
            "related": [r.to_dict() for r in self.related],
            "chains": [list(chain) for chain in self.chains],
            "confidence": round(self.confidence, 6),
            "decision": self.decision,
            "policy": self.policy,
            "may_run": self.may_run,
            "run_credit": None if self.run_credit is None else self.run_credit.to_dict(),
            "timestamp": self.timestamp.isoformat(),
            "error": self.error,
            "review_id": self.review_id,
            "unit": self.unit,
            "holdout": self.holdout,
            "withheld": [trigger_digest(w.trigger) for w in self.withheld],
            "muted": [w.to_dict() for w in self.muted],
        }

    def _repr_html_(self) -> str:
        return review_card(self.to_dict())


def trigger_digest(trigger: str) -> str:
    """Return what stands for the label of a remembered step where its words must not be."""
    return hashlib.blake2b(trigger.encode(), digest_size=8).hexdigest()
