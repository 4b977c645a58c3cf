"""One line for any chain, retriever, agent or graph: what fails is remembered.

    chain.invoke(question, {"callbacks": [DriftGuardCallbackHandler()]})

A handler sees and cannot change what it sees. It is therefore first of all an observer; where a
model should be told what failed before, `DriftGuardMiddleware` and `guard_tool_call` do more.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, get_args
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import BaseTool

from driftguard_langgraph.callbacks.runs import Run, RunKind, RunMap
from driftguard_langgraph.callbacks.steps import call_of, place_for, place_of
from driftguard_langgraph.errors import (
    ConfigurationError,
    GuardrailAcknowledgementRequired,
    GuardrailTriggered,
    StoreError,
)
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.host.control_flow import is_control_flow
from driftguard_langgraph.host.tool_calls import OnStoreError, Redact, ToolCallGuard
from driftguard_langgraph.host.tool_names import tool_names
from driftguard_langgraph.host.tool_outcomes import FailurePredicate

logger = logging.getLogger(__name__)

Mode = Literal["observe", "block"]

KINDS: tuple[RunKind, ...] = get_args(RunKind)
"""What can be recorded, and is by default."""


class DriftGuardCallbackHandler(BaseCallbackHandler):
    """Records what fails in a run, and which tools work; on request it stops what failed before.

    Attach it to anything that takes callbacks, to one runnable (`with_config`) or to a whole run
    (`config={"callbacks": [handler]}`). One instance serves any number of runs, threads and
    event loops.

    What is a step: a tool call, with all that runs beneath it; outside of one, the innermost run
    that failed. Its error is recorded there and once, however many parents it passes and in
    whatever it is wrapped on the way. A tool call has the same id for a node, a middleware and a
    handler, so all of them together record it once. Successes are recorded of tools only.
    Interrupts, cancellation and refusals are no failures.

    Under async everything runs in worker threads of the event loop. Sync code that is called on
    the event loop runs its callbacks there, and so waits for the memory as for the tool.

    Args:
        guard: Whose memory. None: a guard over the store of the graph that runs, or else the
            default guard (`DRIFTGUARD_*` settings).
        namespace: Whose memory within it, with placeholders: `("acme", "{user_id}")`. They are
            filled from the metadata of the run (`config={"metadata": {"user_id": ...}}`).
            LangChain does not show `configurable` to handlers; only what runs inside a graph
            finds it, so do not rely on it. None: the guard's own.
        mode: `observe`: only record. `block`: also review every tool call, and raise before it
            runs what the policy refuses. In a `ToolNode` that handles its errors this is an
            answer to the model; elsewhere it ends the run.
        policy: With `block`: `block` raises `GuardrailTriggered` (the default), `acknowledge`
            raises `GuardrailAcknowledgementRequired`.
        min_confidence: With `block`: below this confidence nothing is stopped, 0..1. None: the
            guard's own.
        tools: Which tools are observed, by name or as `BaseTool`; of the others nothing that
            happens inside them is recorded either. None: all of them.
        record: What is recorded: `tools`, `chains` (any runnable, and the nodes of graphs),
            `retrievers`, `models`. An error that arises in what is left out is not recorded.
        is_failure: Says of a tool's answer without an error whether it is a failure.
        redact: Applied to every text before it is looked up or recorded, besides the guard's
            own redaction.
        on_store_error: What a failure of ours does: `open` costs the run nothing, `closed`
            refuses tools that cannot be reviewed, and raises when a tool call cannot be
            recorded. None: the guard's setting.

    Raises:
        ConfigurationError: An argument is not usable; with `block` also before a tool runs,
            when a placeholder of the namespace has no value.
    """

    raise_error = True

    def __init__(
        self,
        guard: DriftGuard | None = None,
        *,
        namespace: Sequence[str] | None = None,
        mode: Mode = "observe",
        policy: Literal["block", "acknowledge"] | None = None,
        min_confidence: float | None = None,
        tools: Iterable[BaseTool | str] | None = None,
        record: Iterable[RunKind] = KINDS,
        is_failure: FailurePredicate | None = None,
        redact: Redact | None = None,
        on_store_error: OnStoreError | None = None,
    ) -> None:
        super().__init__()
        _check_mode(mode, policy, min_confidence)
        self._blocks = mode == "block"
        self._tools = None if tools is None else tool_names(tools)
        self._kinds = _checked_kinds(record)
        self._runs = RunMap()
        self._calls = ToolCallGuard(
            guard,
            namespace=namespace,
            policy=policy or ("block" if self._blocks else None),
            min_confidence=min_confidence,
            is_failure=is_failure,
            redact=redact,
            on_store_error=on_store_error,
            source="callback",
        )

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember that a tool starts; with `block`, review it first.

        Raises:
            GuardrailTriggered, GuardrailAcknowledgementRequired: It must not run.
            StoreError: It could not be reviewed, and memory is `closed`.
            ConfigurationError: With `block`: a placeholder of the namespace has no value.
        """
        name = (serialized or {}).get("name") or kwargs.get("name") or "tool"
        call_id = kwargs.get("tool_call_id")
        # A call of its own within another tool is the step of an agent that this tool is.
        is_step = bool(call_id) or not self._runs.is_covered(parent_run_id)
        is_observed = self._tools is None or name in self._tools
        run = self._begun("tools", str(name), run_id, parent_run_id, metadata)
        run.call_id = call_id if isinstance(call_id, str) else None
        run.covers = run.covers or "tools" in self._kinds or not is_observed
        run.recorded = is_step and is_observed and "tools" in self._kinds
        run.inputs = {"input": input_str} if inputs is None else dict(inputs)
        if self._blocks and is_step and is_observed:
            self._review(run)
        self._runs.start(run)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Record how a tool that answered did.

        Raises:
            StoreError: It could not be recorded, and memory is `closed`.
        """
        run = self._runs.end(run_id)
        if run is not None and run.recorded:
            self._record(run, output)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a tool raised, unless the error came from a step within.

        Raises:
            StoreError: It could not be recorded, and memory is `closed`.
        """
        self._failed(run_id, error)

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember that a runnable, or a node of a graph, starts."""
        name = _name(serialized, kwargs, "chain")
        self._start("chains", name, inputs, run_id, parent_run_id, metadata)

    def on_retriever_start(
        self,
        serialized: dict[str, Any] | None,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember that a retriever starts."""
        name = _name(serialized, kwargs, "retriever")
        self._start("retrievers", name, {"query": query}, run_id, parent_run_id, metadata)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember that a chat model starts."""
        asked = messages[-1] if messages else None
        name = _name(serialized, kwargs, "model")
        self._start("models", name, asked, run_id, parent_run_id, metadata)

    def on_llm_start(
        self,
        serialized: dict[str, Any] | None,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Remember that a model of text starts."""
        asked = prompts[-1] if prompts else None
        name = _name(serialized, kwargs, "model")
        self._start("models", name, asked, run_id, parent_run_id, metadata)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a runnable or a node failed, if the error arose there."""
        # What is streamed into a runnable is only known once it has arrived.
        self._failed(run_id, error, kwargs.get("inputs"))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a retriever failed."""
        self._failed(run_id, error)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a model failed."""
        self._failed(run_id, error)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a run that ended."""
        self._runs.end(run_id)

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a run that ended."""
        self._runs.end(run_id)

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a run that ended."""
        self._runs.end(run_id)

    def _begun(
        self,
        kind: RunKind,
        name: str,
        run_id: UUID,
        parent_id: UUID | None,
        metadata: Mapping[str, Any] | None,
    ) -> Run:
        covered = self._runs.is_covered(parent_id)
        run = Run(run_id, parent_id, kind, name, covers=covered, metadata=metadata or {})
        run.recorded = kind in self._kinds and not covered
        if run.recorded or kind == "tools":
            run.place = place_of(metadata)
        return run

    def _start(
        self,
        kind: RunKind,
        name: str,
        inputs: object,
        run_id: UUID,
        parent_id: UUID | None,
        metadata: Mapping[str, Any] | None,
    ) -> None:
        run = self._begun(kind, name, run_id, parent_id, metadata)
        run.inputs = inputs if run.recorded else None
        self._runs.start(run)

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

    def _failed(self, run_id: UUID, error: BaseException, inputs: object = None) -> None:
        run = self._runs.end(run_id)
        if run is None or is_control_flow(error):
            return
        if run.has_seen(error):
            self._runs.pass_up(run, error)
            return
        if not run.recorded and self._runs.is_covered(run.parent_id):
            # The tool call that it is part of answers for it.
            return
        self._runs.pass_up(run, error)
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


def _name(serialized: Mapping[str, Any] | None, given: Mapping[str, Any], default: str) -> str:
    known = serialized or {}
    path = known.get("id")
    last = path[-1] if isinstance(path, list) and path else None
    return str(given.get("name") or known.get("name") or last or default)


def _check_mode(mode: object, policy: object, min_confidence: object) -> None:
    if mode not in get_args(Mode):
        raise ConfigurationError(f"mode={mode!r} must be 'observe' or 'block'.")
    if mode == "observe" and (policy is not None or min_confidence is not None):
        raise ConfigurationError(
            "policy and min_confidence say what is stopped; mode='observe' stops nothing. "
            "Leave them out, or set mode='block'."
        )
    if policy not in (None, "block", "acknowledge"):
        raise ConfigurationError(
            f"policy={policy!r} must be 'block' or 'acknowledge': a callback handler can raise "
            "and cannot tell the model anything. DriftGuardMiddleware knows the other policies."
        )


def _checked_kinds(record: object) -> frozenset[RunKind]:
    listed = isinstance(record, Iterable) and not isinstance(record, str)
    given = list(record) if listed else []  # type: ignore[call-overload]
    if not given or any(kind not in KINDS for kind in given):
        raise ConfigurationError(
            f"record={record!r} must list what is recorded, of {', '.join(KINDS)}."
        )
    return frozenset(given)
