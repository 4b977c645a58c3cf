"""The node that remembers how an executed step went, once however often it is replayed.

Replays (resume after an interrupt, retry, crash and resume) share the episode's id, which
comes from the tool call's id and whether the call failed, or from the id of this visit of the
node. Going back to an older checkpoint gets new ids from LangGraph and counts again, unless the
step is a tool call with an `id`, or the state holds an id of its own (`episode_id_key`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.host.ids import episode_id, provenance
from driftguard_langgraph.judgement.open_warnings import objections
from driftguard_langgraph.nodes.base import GuardNode, NodeRun, Steps, Update
from driftguard_langgraph.nodes.options import check_names
from driftguard_langgraph.types import Kind, Receipt

NO_FEEDBACK = "no feedback was given"
DEFAULT_OUTCOMES = {True: "step succeeded", False: "step failed"}


class _Keys(NamedTuple):
    action_key: str
    feedback_key: str
    outcome_key: str
    success_key: str
    severity_key: str | None
    episode_id_key: str | None
    receipt_key: str
    attempts_key: str
    review_key: str
    open_key: str


def create_record_outcome_node(
    guard: DriftGuard | None = None,
    *,
    action_key: str = "candidate_action",
    feedback_key: str = "feedback",
    outcome_key: str = "outcome",
    success_key: str = "success",
    severity_key: str | None = None,
    episode_id_key: str | None = None,
    namespace: Sequence[str] | None = None,
    receipt_key: str = "guard_receipt",
    attempts_key: str = "guard_attempts",
    review_key: str = "guard_review",
    open_key: str = "guard_open",
    name: str = "record_outcome",
) -> GuardNode:
    """Return a node that records the executed step as a success or as a mistake.

    A resume, a retry and a crash are counted once. Going back in time on purpose (a run from
    an older checkpoint) is a new observation and is recorded again, unless the step is a tool
    call with an `id` and ends as it did before, or `episode_id_key` gives an id.

    A graph keeps the keys that a node does not write. In a loop of your own, an executor that
    leaves out the feedback, the outcome or the success is recorded with those of the step
    before: let it write all three, or let a node before it set them to None, as
    `create_planner_revise_graph` does.

    Args:
        guard: Whose memory; as in `create_guard_review_node`.
        action_key: Where the step is: words, or a tool call `{"name", "args"}`, whose `id`
            (if there is one) identifies the execution, together with whether it failed.
        feedback_key: Where the immediate signal is. Missing or blank: "no feedback was
            given"; a tool may well answer nothing, and that must not end the run.
        outcome_key: Where the outcome is. Missing or blank: "step succeeded" or "step failed".
        success_key: Where it says whether the step worked, true or false.
        severity_key: Where the severity is. None, or a missing value: `medium`.
        episode_id_key: Where an id of your own is. None, or a missing value: derived.
        namespace: Whose memory; as in `create_guard_review_node`.
        receipt_key: Gets the memory's `Receipt`.
        attempts_key: Counts the executed steps.
        review_key: Where the review node wrote its review. If it is of the executed step, its
            warnings are settled.
        open_key: Where that node keeps what it objected to. If another step was executed in
            its place, that is settled too.
        name: Name of the node.

    Raises:
        ConfigurationError: An argument is not usable; at run time, the state lacks
            `action_key` or `success_key`, or holds text in the latter.
        InvalidEpisode: At run time: the step cannot be remembered.
    """
    keys = _Keys(
        action_key, feedback_key, outcome_key, success_key, severity_key, episode_id_key,
        receipt_key, attempts_key, review_key, open_key,
    )  # fmt: skip
    return _RecordOutcomeNode(name, guard, namespace, keys)


class _RecordOutcomeNode(GuardNode):
    def __init__(
        self,
        name: str,
        guard: DriftGuard | None,
        namespace: Sequence[str] | None,
        keys: _Keys,
    ) -> None:
        check_names({"name": name, **keys._asdict()}, optional={"severity_key", "episode_id_key"})
        super().__init__(name, guard, namespace)
        self._keys = keys

    def _steps(self, run: NodeRun) -> Steps:
        succeeded = run.require_truth(self._keys.success_key, "success_key", "the executor")
        receipt: Receipt = yield partial(self._record, run, succeeded)
        run.emit("record", node=self.name, **receipt)
        settled: Update = {self._keys.open_key: []} if run.state.get(self._keys.open_key) else {}
        return {
            self._keys.receipt_key: dict(receipt),
            self._keys.attempts_key: int(run.state.get(self._keys.attempts_key) or 0) + 1,
            **settled,
        }

    def _record(self, run: NodeRun, succeeded: bool) -> Receipt:
        keys, guard = self._keys, self._source.get(run.store)
        action = run.require(keys.action_key, "action_key", "the planner")
        record = guard.record_success if succeeded else guard.record
        feedback = run.text(keys.feedback_key, NO_FEEDBACK)
        outcome = run.text(keys.outcome_key, DEFAULT_OUTCOMES[succeeded])
        kind: Kind = "success" if succeeded else "mistake"
        derived = episode_id(run.identity, action, kind)
        return record(
            action,
            feedback,
            outcome,
            severity=_optional(run, keys.severity_key) or "medium",
            episode_id=_optional(run, keys.episode_id_key) or derived,
            provenance=provenance(run.identity, action, "node"),
            namespace=self._filled_namespace(run),
            review=_mapping(run.state.get(keys.review_key)),
            instead_of=objections(run.state.get(keys.open_key), run.identity.run_id),
        )


def _optional(run: NodeRun, key: str | None) -> Any:
    return run.state.get(key) if key is not None else None


def _mapping(value: object) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None
