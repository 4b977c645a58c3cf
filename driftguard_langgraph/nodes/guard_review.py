"""The node that asks the memory about a proposed step before it is run.

It never raises for a policy: a refusal is a decision in the state, for a conditional edge
(`route_on_review`) to act on.

- `acknowledge` pauses the graph with `interrupt()` and the evidence. `Command(resume=...)`
  takes True or "approve" (the decision becomes `override`), False or "reject" (it stays
  `acknowledge`), or `{"decision": "edit", "action": ...}`, whose action is reviewed in its
  turn and written to the state. Any other answer is an error and leaves the graph waiting.
- What the review objected to stays open in the state until the record node tells what ran: the
  objected step all the same, or another one instead.
- `speed_bump` keeps the triggers it has shown in the state, so that it is the thread, not
  the process, that remembers them.

LangGraph drops what a node writes to keys that the state does not declare: extend
`DriftGuardState`, or declare the keys you read (and `guard_bumped` for `speed_bump`, `guard_open`
for `driftguard worth`). A node
with a `CachePolicy` would freeze its decisions; give this one none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from driftguard_langgraph.errors import InvalidEpisode
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.host.asking import Settled, settle
from driftguard_langgraph.host.ids import review_id
from driftguard_langgraph.judgement.open_warnings import with_objections
from driftguard_langgraph.judgement.policy import checked_policy
from driftguard_langgraph.nodes.base import GuardNode, NodeRun, Steps, Update
from driftguard_langgraph.nodes.options import check_names
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.text.validation import checked_share
from driftguard_langgraph.types import REFUSALS, Policy

OBJECTIONS = REFUSALS | {"warn"}
"""Decisions that give the planner a reason to revise."""


class _Keys(NamedTuple):
    action_key: str
    acknowledged_key: str | None
    review_key: str
    warnings_key: str
    confidence_key: str
    top_warning_key: str
    reinforcements_key: str
    top_reinforcement_key: str
    bumped_key: str
    revisions_key: str
    open_key: str


def create_guard_review_node(
    guard: DriftGuard | None = None,
    *,
    action_key: str = "candidate_action",
    policy: Policy | None = None,
    min_confidence: float | None = None,
    namespace: Sequence[str] | None = None,
    acknowledged_key: str | None = None,
    review_key: str = "guard_review",
    warnings_key: str = "guard_warnings_count",
    confidence_key: str = "guard_confidence",
    top_warning_key: str = "guard_top_warning",
    reinforcements_key: str = "guard_reinforcements_count",
    top_reinforcement_key: str = "guard_top_reinforcement",
    bumped_key: str = "guard_bumped",
    revisions_key: str = "guard_revisions",
    open_key: str = "guard_open",
    name: str = "guard_review",
) -> GuardNode:
    """Return a node that reviews the step in the state and writes plain JSON about it.

    Args:
        guard: Whom to ask. None: a guard over the store that the graph was compiled with
            (see `LangGraphMemoryStore`), or else the default guard (`DRIFTGUARD_*` settings,
            one for the process), built at the first review.
        action_key: Where the step is: words, or a tool call `{"name", "args"}`.
        policy: What follows from a warning. None: the guard's own.
        min_confidence: Below this confidence nothing is stopped, 0..1. None: the guard's.
        namespace: Whose memory, with placeholders for values of the run:
            `("acme", "{user_id}")`. None: the guard's own.
        acknowledged_key: Where the state says, with true, that the risk is accepted. It
            holds for one review: the node writes false back, whatever it decided, so that
            an acceptance never covers a later step. Parallel branches that share the key
            need a reducer on it.
        review_key: Gets the review; `DriftGuardState` describes it and the keys below.
        warnings_key: Gets the number of warnings.
        confidence_key: Gets the highest confidence among them.
        top_warning_key: Gets the first warning, or None.
        reinforcements_key: Gets the number of reinforcements.
        top_reinforcement_key: Gets the first reinforcement, or None.
        bumped_key: Keeps what `speed_bump` has shown.
        revisions_key: Counts objections in a row.
        open_key: Keeps objections until the record node settles them.
        name: Name of the node.

    Raises:
        ConfigurationError: An argument is not usable; at run time, the state lacks
            `action_key` or a placeholder has no value.
    """
    keys = _Keys(
        action_key, acknowledged_key, review_key, warnings_key, confidence_key, top_warning_key,
        reinforcements_key, top_reinforcement_key, bumped_key, revisions_key, open_key,
    )  # fmt: skip
    return _GuardReviewNode(name, guard, namespace, keys, policy, min_confidence)


class _GuardReviewNode(GuardNode):
    def __init__(
        self,
        name: str,
        guard: DriftGuard | None,
        namespace: Sequence[str] | None,
        keys: _Keys,
        policy: Policy | None,
        min_confidence: float | None,
    ) -> None:
        check_names({"name": name, **keys._asdict()}, optional={"acknowledged_key"})
        super().__init__(name, guard, namespace)
        self._keys = keys
        self._policy = None if policy is None else checked_policy(policy)
        self._min_confidence = (
            None if min_confidence is None else checked_share(min_confidence, "min_confidence")
        )

    def _steps(self, run: NodeRun) -> Steps:
        proposed = run.require(self._keys.action_key, "action_key", "the planner")
        acknowledged = self._is_acknowledged(run)
        review = yield partial(self._review, run, proposed, acknowledged=acknowledged)
        settled = Settled(proposed, (review,))
        if review.policy == "acknowledge" and not acknowledged and run.runtime is not None:
            settled = yield from settle(proposed, review, partial(self._review_edited, run))
        update = self._update(run, settled.reviews)
        if settled.action is not proposed:
            update[self._keys.action_key] = settled.action
        if acknowledged and self._keys.acknowledged_key is not None:
            update[self._keys.acknowledged_key] = False
        self._announce(run, settled.reviews[-1])
        return update

    def _review(
        self, run: NodeRun, action: Any, number: int = 0, *, acknowledged: bool = False
    ) -> GuardReview:
        identity = run.identity
        return self._source.get(run.store).review(
            action,
            policy=self._policy,
            min_confidence=self._min_confidence,
            acknowledged=acknowledged,
            bumped=self._bumped(run),
            namespace=self._filled_namespace(run),
            thread_id=identity.thread_id,
            review_id=review_id(identity, number),
        )

    def _review_edited(self, run: NodeRun, action: Any, number: int) -> GuardReview | str:
        # An error here would be final: LangGraph keeps the answer that led to it.
        try:
            return self._review(run, action, number)
        except InvalidEpisode as error:
            return str(error)

    def _is_acknowledged(self, run: NodeRun) -> bool:
        key = self._keys.acknowledged_key
        return key is not None and run.state.get(key) is True

    def _bumped(self, run: NodeRun) -> list[str]:
        return list(run.state.get(self._keys.bumped_key) or ())

    def _update(self, run: NodeRun, reviews: Sequence[GuardReview]) -> Update:
        keys, review = self._keys, reviews[-1]
        plain = review.to_dict()
        objected = review.decision in OBJECTIONS
        update: Update = {
            keys.review_key: plain,
            keys.warnings_key: len(review.warnings),
            keys.confidence_key: plain["confidence"],
            keys.top_warning_key: _first(plain["warnings"]),
            keys.reinforcements_key: len(review.reinforcements),
            keys.top_reinforcement_key: _first(plain["reinforcements"]),
            keys.revisions_key: int(run.state.get(keys.revisions_key) or 0) + 1 if objected else 0,
        }
        if review.decision == "speed_bump":
            shown = (*self._bumped(run), *(warning.trigger for warning in review.warnings))
            update[keys.bumped_key] = list(dict.fromkeys(shown))
        objections = [each for each in reviews if each.decision in OBJECTIONS]
        if objections:
            held = run.state.get(keys.open_key)
            update[keys.open_key] = with_objections(held, objections, run.identity.run_id)
        return update

    def _announce(self, run: NodeRun, review: GuardReview) -> None:
        plain = review.to_dict()
        run.emit(
            "review",
            node=self.name,
            action=review.query,
            decision=review.decision,
            policy=review.policy,
            warnings=len(review.warnings),
            reinforcements=len(review.reinforcements),
            confidence=plain["confidence"],
            top_warning=_first(plain["warnings"]),
        )


def _first(found: list[dict[str, Any]]) -> dict[str, Any] | None:
    return found[0] if found else None
