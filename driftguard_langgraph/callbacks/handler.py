"""One line for any chain, retriever, agent or graph: what fails is remembered.

    chain.invoke(question, {"callbacks": [DriftGuardCallbackHandler()]})

A handler sees and cannot change what it sees. It is therefore first of all an observer; where a
model should be told what failed before, `DriftGuardMiddleware` and `guard_tool_call` do more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import BaseTool

from driftguard_langgraph.callbacks.options import KINDS, Mode, check_mode, checked_kinds
from driftguard_langgraph.callbacks.runs import RunKind
from driftguard_langgraph.callbacks.watch import Watch
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.host.tool_calls import OnStoreError, Redact, ToolCallGuard
from driftguard_langgraph.host.tool_names import tool_names
from driftguard_langgraph.host.tool_outcomes import FailurePredicate


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
        check_mode(mode, policy, min_confidence)
        calls = ToolCallGuard(
            guard,
            namespace=namespace,
            policy=policy or ("block" if mode == "block" else None),
            min_confidence=min_confidence,
            is_failure=is_failure,
            redact=redact,
            on_store_error=on_store_error,
            source="callback",
        )
        names = None if tools is None else tool_names(tools)
        self._watch = Watch(calls, names, checked_kinds(record), blocks=mode == "block")

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
        name = str((serialized or {}).get("name") or kwargs.get("name") or "tool")
        given = {"input": input_str} if inputs is None else dict(inputs)
        call_id = kwargs.get("tool_call_id")
        self._watch.start_tool(name, given, call_id, run_id, parent_run_id, metadata)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Record how a tool that answered did.

        Raises:
            StoreError: It could not be recorded, and memory is `closed`.
        """
        self._watch.answered(run_id, output)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a tool raised, unless the error came from a step within.

        Raises:
            StoreError: It could not be recorded, and memory is `closed`.
        """
        self._watch.failed(run_id, error)

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
        self._watch.start("chains", name, inputs, run_id, parent_run_id, metadata)

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
        self._watch.start("retrievers", name, {"query": query}, run_id, parent_run_id, metadata)

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
        self._watch.start("models", name, asked, run_id, parent_run_id, metadata)

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
        self._watch.start("models", name, asked, run_id, parent_run_id, metadata)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a runnable or a node failed, if the error arose there."""
        # What is streamed into a runnable is only known once it has arrived.
        self._watch.failed(run_id, error, kwargs.get("inputs"))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a retriever failed."""
        self._watch.failed(run_id, error)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Record that a model failed."""
        self._watch.failed(run_id, error)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a run that ended."""
        self._watch.end(run_id)

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a run that ended."""
        self._watch.end(run_id)

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget a run that ended."""
        self._watch.end(run_id)


def _name(serialized: Mapping[str, Any] | None, given: Mapping[str, Any], default: str) -> str:
    known = serialized or {}
    path = known.get("id")
    last = path[-1] if isinstance(path, list) and path else None
    return str(given.get("name") or known.get("name") or last or default)
