"""Which runs are steps of their own, which of their ends is recorded, and what is stopped."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from driftguard_langgraph.callbacks.runs import Run, RunKind, RunMap
from driftguard_langgraph.callbacks.steps import call_of, place_for, place_of
from driftguard_langgraph.errors import (
    ConfigurationError,
    GuardrailAcknowledgementRequired,
    GuardrailTriggered,
    StoreError,
)
from driftguard_langgraph.host.control_flow import is_control_flow
from driftguard_langgraph.host.own_tools import asks_memory
from driftguard_langgraph.host.tool_calls import ToolCallGuard

logger = logging.getLogger(__name__)


class Watch:
    """Follows runs from their start to their end.

    Args:
        calls: Reviews, judges and records.
        tools: The tools that are observed; None for all.
        kinds: What is recorded.
        blocks: Whether tools are reviewed before they run.
    """

    def __init__(
        self,
        calls: ToolCallGuard,
        tools: frozenset[str] | None,
        kinds: frozenset[RunKind],
        *,
        blocks: bool,
    ) -> None:
        self.runs = RunMap()
        self._calls = calls
        self._tools = tools
        self._kinds = kinds
        self._blocks = blocks

    def start_tool(
        self,
        name: str,
        inputs: Mapping[str, Any],
        call_id: object,
        run_id: UUID,
        parent_id: UUID | None,
        metadata: Mapping[str, Any] | None,
    ) -> None:
        """Remember that a tool starts, after its review if there is one.

        Args:
            name: The tool.
            inputs: Its arguments.
            call_id: The id that a chat model gave the call, if one did.
            run_id: Its id.
            parent_id: The run that it is part of.
            metadata: Its metadata.

        Raises:
            GuardrailTriggered, GuardrailAcknowledgementRequired: It must not run.
            StoreError: It could not be reviewed, and memory is `closed`.
            ConfigurationError: A placeholder of the namespace has no value.
        """
        run = self._begun("tools", name, run_id, parent_id, metadata)
        run.call_id = call_id if isinstance(call_id, str) and call_id else None
        # A call with an id inside another tool: that tool is an agent, and this is its step.
        is_step = run.call_id is not None or not run.covers
        is_named = self._tools is None or name in self._tools
        is_observed = is_named and not asks_memory(metadata)
        run.covers = run.covers or "tools" in self._kinds or not is_observed
        run.recorded = is_step and is_observed and "tools" in self._kinds
        run.inputs = inputs
        if self._blocks and is_step and is_observed:
            self._review(run)
        self.runs.start(run)

    def answered(self, run_id: UUID, output: object) -> None:
        """Record how a tool did that answered.

        Args:
            run_id: The run.
            output: What it answered.

        Raises:
            StoreError: It could not be recorded, and memory is `closed`.
        """
        run = self.runs.end(run_id)
        if run is not None and run.recorded:
            self._record(run, output)

    def end(self, run_id: UUID) -> None:
        """Forget a run that ended well.

        Args:
            run_id: The run.
        """
        self.runs.end(run_id)

    def _begun(
        self,
        kind: RunKind,
        name: str,
        run_id: UUID,
        parent_id: UUID | None,
        metadata: Mapping[str, Any] | None,
    ) -> Run:
        covered = self.runs.is_covered(parent_id)
        run = Run(run_id, parent_id, kind, name, covers=covered, metadata=metadata or {})
        run.recorded = kind in self._kinds and not covered
        if run.recorded or kind == "tools":
            run.place = place_of(metadata)
        return run

    def start(
        self,
        kind: RunKind,
        name: str,
        inputs: object,
        run_id: UUID,
        parent_id: UUID | None,
        metadata: Mapping[str, Any] | None,
    ) -> None:
        """Remember that anything but a tool starts.

        Args:
            kind: What it is.
            name: Its name.
            inputs: What it is given.
            run_id: Its id.
            parent_id: The run that it is part of.
            metadata: Its metadata.
        """
        run = self._begun(kind, name, run_id, parent_id, metadata)
        run.inputs = inputs if run.recorded else None
        self.runs.start(run)

    def _review(self, run: Run) -> None:
        call = call_of(run)
        ruling = self._calls.review(call, place_for(run, call, "mistake"))
        run.review = ruling.review
        if ruling.refusal is None:
            return
        if ruling.review.decision == "unavailable":
            raise StoreError(ruling.refusal)
        if ruling.review.decision == "acknowledge":
            raise GuardrailAcknowledgementRequired(ruling.refusal, ruling.review)
        raise GuardrailTriggered(ruling.refusal, ruling.review)

    def failed(self, run_id: UUID, error: BaseException, inputs: object = None) -> None:
        """Record that a run raised, unless its error arose elsewhere or belongs to a tool call.

        Args:
            run_id: The run.
            error: What it raised.
            inputs: What it was given, if that is known only now.

        Raises:
            StoreError: The failure of a tool could not be recorded, and memory is `closed`.
        """
        run = self.runs.end(run_id)
        if run is None or is_control_flow(error):
            return
        if run.has_seen(error):
            self.runs.pass_up(run, error)
            return
        if not run.recorded and self.runs.is_covered(run.parent_id):
            # The tool call that it is part of answers for it.
            return
        self.runs.pass_up(run, error)
        if run.recorded:
            run.inputs = run.inputs if inputs is None else inputs
            self._record(run, error)

    def _record(self, run: Run, result: object) -> None:
        try:
            outcome = self._calls.outcome_of(result)
            call = call_of(run)
            place = place_for(run, call, outcome.kind)
            self._calls.record(call, place, outcome, review=run.review)
        except StoreError:
            if run.kind == "tools":
                raise
            # The run fails anyway, and its own error is what has to be seen.
            logger.warning("driftguard: a failure of %s was not recorded", run.kind)
        except ConfigurationError as error:
            logger.warning("driftguard: nothing was recorded: %s", error)
        except Exception as error:
            logger.warning("driftguard: nothing was recorded: %s", type(error).__name__)
            logger.debug("why nothing was recorded", exc_info=error)
