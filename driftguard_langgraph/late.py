"""Late outcomes: how a whole run ended, told when that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from driftguard_langgraph._twins import async_twin
from driftguard_langgraph.errors import StoreError
from driftguard_langgraph.events import RunOutcomeRecorded
from driftguard_langgraph.maintenance import MaintainedMemory
from driftguard_langgraph.memory.runs import build_verdict, run_receipt
from driftguard_langgraph.types import RunReceipt


class LateOutcomes(MaintainedMemory):
    """The part of the guard that hears of a run's end."""

    def record_run_outcome(
        self,
        *,
        thread_id: str | None = None,
        run_id: str | None = None,
        success: bool,
        outcome: str,
        severity: str = "medium",
        namespace: Sequence[str] | None = None,
    ) -> RunReceipt:
        """Remember how a whole run ended, for failures that show only then.

        The verdict is spread evenly over the distinct actions that were recorded in the run
        and names none of them. Reviews show it (`GuardReview.run_credit`) and trust in
        successes that belong to failing runs wanes; it never makes a warning.

        Args:
            thread_id: The thread that ended, as in the provenance of its episodes.
            run_id: Or the run. A verdict about a thread and one about a run of it are two
                verdicts: choose one of the two ways.
            success: Whether it ended well.
            outcome: What it led to.
            severity: How bad (or valuable) that was: `low`, `medium`, `high`, `critical`.
            namespace: Whose memory; by default the guard's own.

        Returns:
            What became of it. `status` is `stored`; `replaced`, when it took the place of an
            earlier verdict about the same run; `unknown`, when no episode of the run is
            remembered (it is kept all the same: they may come later, and the next `prune`
            drops it if they do not); or `unavailable`.

        Raises:
            InvalidEpisode: Something given cannot be kept; nothing was.
            ConfigurationError: Not exactly one of `thread_id` and `run_id` is given.
            StoreError: The memory failed, with `on_store_error="closed"`.
        """
        whose = self._whose(namespace)
        verdict = build_verdict(thread_id, run_id, success, outcome, severity, self._limits)
        try:
            kept = self.store.set_run(whose, verdict)
        except StoreError as error:
            self._tolerate(whose, "record_run_outcome", error)
            return run_receipt(verdict, "unavailable", error=str(error))
        self._emit(RunOutcomeRecorded(whose, success, kept.replaced, kept.actions))
        status: Literal["stored", "replaced", "unknown"] = "unknown"
        if kept.actions:
            status = "replaced" if kept.replaced else "stored"
        return run_receipt(verdict, status, actions=kept.actions)

    arecord_run_outcome = async_twin(record_run_outcome)
