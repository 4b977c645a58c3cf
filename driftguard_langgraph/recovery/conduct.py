"""Recovery of many sessions with one configuration: what node and middleware have in common.

What is known of a session is plain JSON that its owner keeps (graph state, so it is per thread
and part of every checkpoint). The scaffold is part of it, and goes before the model with each
call until the session is back and the messages that did it are gone (removed, or summarised):
what misled a model once would do so again. It is not part of the messages unless somebody puts it
there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.drift.report import Anomaly, DriftReport
from driftguard_langgraph.drift.turns import given_id, is_own_scaffold
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.anchor import Anchor
from driftguard_langgraph.recovery.compaction.guard import as_anchor
from driftguard_langgraph.recovery.placement import checked_role
from driftguard_langgraph.recovery.scaffold import RecoveryScaffold, build_scaffold
from driftguard_langgraph.recovery.schedule import Variant, checked_variant, weaker
from driftguard_langgraph.recovery.session import RecoveryPlan, RecoverySession, RecoveryStep
from driftguard_langgraph.recovery.transcript import opening_anchor
from driftguard_langgraph.text.tokens import TokenCounter, estimated_tokens


@dataclass(frozen=True, slots=True)
class Conducted:
    """What follows for a session.

    Attributes:
        kept: What to keep of the session, plain JSON.
        message: The scaffold to show to the model, as a message mapping; None while there is
            nothing to recover from.
        step: What was decided.
    """

    kept: dict[str, Any]
    message: dict[str, Any] | None
    step: RecoveryStep

    @property
    def verdict(self) -> dict[str, Any] | None:
        """What became of the last injection, plain JSON; None before the first."""
        return self.step.verdict.to_dict() if self.step.verdict is not None else None

    def event(self, node: str) -> dict[str, Any]:
        """Return the custom stream event about it, plain JSON.

        Args:
            node: Who decided.
        """
        return {
            "type": "driftguard",
            "event": "recovery",
            "node": node,
            "injected": self.step.inject,
            "trigger": self.step.trigger,
            "route": self.step.route,
            "verdict": self.verdict,
        }


class RecoveryConduct:
    """One configuration for any number of sessions; safe to use from many threads at once.

    Args:
        anchor_or_baseline: What to restore: an `Anchor`, a system prompt, or the messages that
            a session starts with. None: each session brings its own.
        plan: When to inject, what, and how long to wait.
        role: Whose message the scaffold is: `system` or `user`.
        token_budget: Most tokens of a scaffold; None is no limit.
        count_tokens: Counts tokens.

    Raises:
        ConfigurationError: An argument is not usable, or the anchor does not fit the budget.
    """

    def __init__(
        self,
        anchor_or_baseline: object = None,
        *,
        plan: RecoveryPlan | None = None,
        role: str = "system",
        token_budget: int | None = None,
        count_tokens: TokenCounter = estimated_tokens,
    ) -> None:
        if plan is not None and not isinstance(plan, RecoveryPlan):
            raise ConfigurationError(f"plan must be a RecoveryPlan, not {type(plan).__name__}.")
        self.plan = plan if plan is not None else RecoveryPlan()
        self._role = checked_role(role)
        self._budget = token_budget
        self._count = count_tokens
        self._anchor = as_anchor(anchor_or_baseline)
        if self._anchor is not None:
            self._scaffold(self._anchor, self.plan.variant, (), 0)

    def after(
        self,
        report: Mapping[str, Any],
        kept: object = None,
        *,
        baseline: object = None,
        messages: Sequence[object] = (),
    ) -> Conducted:
        """Return what follows from a report.

        Args:
            report: `DriftReport.to_dict()` of the newest turn.
            kept: What the call before said to keep; None starts the session.
            baseline: The baseline of this session, where the configuration brings none. None:
                the system messages and the first user message at the start of `messages`.
            messages: The messages of the session.

        Raises:
            ConfigurationError: `report` or `kept` is none; or a scaffold is due and the session
                has no baseline, or its anchor does not fit the token budget.
        """
        newest = DriftReport.from_dict(report)
        held: Mapping[str, Any] = kept if isinstance(kept, Mapping) else {}
        session = RecoverySession(self.plan)
        if "session" in held:
            session.load(held["session"])
        known = self._session_anchor(held, baseline, messages)
        anchor = known.with_revisions(newest.revisions) if known is not None else None
        step = session.after(newest)
        shown = step.active or (step.verdict is not None and _are_there(step.suspects, messages))
        message = held.get("message") if shown else None
        # What the user has revised since must not be undone by an older scaffold.
        if step.inject is not None or (message is not None and anchor != known):
            if anchor is None:
                raise ConfigurationError(
                    "there is nothing to recover to: give the system prompt as the baseline, or "
                    "let the session start with a system or user message."
                )
            message = self._message(anchor, step, newest.turn)
        pinned = anchor.to_dict() if anchor is not None else None
        state = {"session": session.state, "anchor": pinned, "message": message}
        return Conducted(state, message, step)

    def _session_anchor(
        self, held: Mapping[str, Any], baseline: object, messages: Sequence[object]
    ) -> Anchor | None:
        if held.get("anchor") is not None:
            return Anchor.from_dict(held["anchor"])
        return self._anchor or as_anchor(baseline) or opening_anchor(messages)

    def _message(self, anchor: Anchor, step: RecoveryStep, turn: int) -> dict[str, Any] | None:
        last = step.verdict.variant if step.verdict is not None else self.plan.variant
        variant = checked_variant(step.inject or last)
        scaffold = self._fitting(anchor, variant, step.evidence, turn)
        return scaffold.to_message(self._role) if scaffold.text else None

    def _fitting(
        self, anchor: Anchor, variant: Variant, evidence: Sequence[Anomaly], turn: int
    ) -> RecoveryScaffold:
        """Return the strongest scaffold up to a variant that fits the budget."""
        try:
            return self._scaffold(anchor, variant, evidence, turn)
        except ConfigurationError:
            less = weaker(variant)
            if less == variant:
                raise
        return self._fitting(anchor, less, evidence, turn)

    def _scaffold(
        self, anchor: Anchor, variant: Variant, evidence: Sequence[Anomaly], turn: int
    ) -> RecoveryScaffold:
        return build_scaffold(
            anchor,
            evidence,
            variant=variant,
            turn=turn,
            token_budget=self._budget,
            count_tokens=self._count,
        )


def _are_there(suspects: Sequence[str], messages: Sequence[object]) -> bool:
    """Whether a model still reads any of the messages that did it.

    A text that is put before it from a key of the state cannot be looked at here and counts.
    """
    names = {given_id(message) for message in messages if not is_own_scaffold(message)}
    return any(name in names or name.startswith("state:") for name in suspects)
