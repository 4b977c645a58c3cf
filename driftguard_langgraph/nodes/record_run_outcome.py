"""The node that tells the memory how the whole run ended, for its place before `END`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes.base import GuardNode, NodeRun, Steps
from driftguard_langgraph.nodes.options import check_names
from driftguard_langgraph.types import RunReceipt

DEFAULT_OUTCOMES = {True: "run succeeded", False: "run failed"}


def create_record_run_outcome_node(
    guard: DriftGuard | None = None,
    *,
    success_key: str,
    outcome_key: str,
    namespace: Sequence[str] | None = None,
    receipt_key: str = "guard_run_receipt",
    name: str = "record_run_outcome",
) -> GuardNode:
    """Return a node that records how the run ended, as a verdict about its thread.

    Running it again replaces the verdict, so a replay does no harm, and a thread that goes on
    after all gets the verdict of its new end.

    Args:
        guard: Whose memory; as in `create_guard_review_node`.
        success_key: Where it says whether the run ended well, true or false.
        outcome_key: Where it says what it led to. Missing or blank: "run succeeded" or
            "run failed".
        namespace: Whose memory; as in `create_guard_review_node`.
        receipt_key: Gets the memory's `RunReceipt`.
        name: Name of the node.

    Raises:
        ConfigurationError: An argument is not usable; at run time, the graph runs without a
            thread, or the state lacks `success_key` or holds text in it.
        InvalidEpisode: At run time: the outcome cannot be kept.
    """
    return _RecordRunOutcomeNode(name, guard, namespace, success_key, outcome_key, receipt_key)


class _RecordRunOutcomeNode(GuardNode):
    def __init__(
        self,
        name: str,
        guard: DriftGuard | None,
        namespace: Sequence[str] | None,
        success_key: str,
        outcome_key: str,
        receipt_key: str,
    ) -> None:
        check_names(
            {
                "name": name,
                "success_key": success_key,
                "outcome_key": outcome_key,
                "receipt_key": receipt_key,
            }
        )
        super().__init__(name, guard, namespace)
        self._success_key = success_key
        self._outcome_key = outcome_key
        self._receipt_key = receipt_key

    def _steps(self, run: NodeRun) -> Steps:
        success = run.require_truth(self._success_key, "success_key", "the graph")
        outcome = run.text(self._outcome_key, DEFAULT_OUTCOMES[success])
        thread = run.identity.thread_id
        if thread is None:
            raise ConfigurationError(
                f"{self.name} records the outcome of a thread, and this graph runs without one: "
                "compile it with a checkpointer and pass config={'configurable': "
                "{'thread_id': ...}}, or call guard.record_run_outcome(run_id=...)."
            )
        receipt: RunReceipt = yield partial(self._record, run, thread, success, outcome)
        run.emit("record_run", node=self.name, **receipt)
        return {self._receipt_key: dict(receipt)}

    def _record(self, run: NodeRun, thread: str, success: bool, outcome: str) -> RunReceipt:
        return self._source.get(run.store).record_run_outcome(
            thread_id=thread,
            success=success,
            outcome=outcome,
            namespace=self._filled_namespace(run),
        )
