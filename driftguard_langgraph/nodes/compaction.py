"""The node that guards a running summary: what the summary loses of rules and facts is put back.

It is put in the place of the node that writes the summary, and runs it:

    guard = create_compaction_guard_node(summarize, anchor_or_baseline=PROMPT)
    builder.add_node("summarize", guard)

The receipt and the anchor need keys in the graph's state to be kept; without them the summary is
guarded all the same, and what the thread began with is looked for in its messages each time.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage, RemoveMessage, convert_to_messages
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import get_runtime
from langgraph.types import Command

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.nodes.base import NodeRun
from driftguard_langgraph.nodes.options import check_names
from driftguard_langgraph.recovery.anchor import Anchor
from driftguard_langgraph.recovery.compaction.guard import as_anchor, guarded, kept_anchor
from driftguard_langgraph.recovery.transcript import opening_anchor, transcript
from driftguard_langgraph.text.validation import checked_flag


class _Keys(NamedTuple):
    messages_key: str
    summary_key: str
    receipt_key: str
    anchor_key: str


def create_compaction_guard_node(
    summarizer: object,
    *,
    anchor_or_baseline: object | None = None,
    messages_key: str = "messages",
    summary_key: str = "summary",
    receipt_key: str = "compaction_receipt",
    anchor_key: str = "compaction_anchor",
    restore: bool = True,
    name: str = "compaction_guard",
) -> Runnable[Any, Any]:
    """Return a node that runs a summariser and puts back what its summary lost.

    Args:
        summarizer: What writes the summary: a node (a function of the state, and of `config` or
            `runtime` if it takes them, sync or async) or a Runnable. It returns the text, or an
            update or `Command` with the text under `summary_key`; messages that the update
            removes are those that were summarised, without any it is all. An update without a
            summary passes through.
        anchor_or_baseline: What must survive: an `Anchor`, a system prompt, or the messages that
            a session starts with. None: the state has an anchor under `anchor_key`, or else the
            system messages and the first user message at the start of the messages.
        messages_key: Where the messages are.
        summary_key: Where the running summary is.
        receipt_key: Gets what the summary lost, `SurvivalReceipt.to_dict()`.
        anchor_key: Keeps the anchor that was found in the messages.
        restore: Whether to put back what was lost; else there is only the receipt.
        name: Name of the node.

    Raises:
        ConfigurationError: An argument is not usable.
    """
    keys = _Keys(messages_key, summary_key, receipt_key, anchor_key)
    check_names({"name": name, **keys._asdict()})
    return _CompactionGuardNode(
        name,
        _runnable(summarizer),
        as_anchor(anchor_or_baseline),
        keys,
        restore=checked_flag(restore, "restore"),
    )


class _CompactionGuardNode(Runnable[Any, Any]):
    def __init__(
        self,
        name: str,
        summarizer: Runnable[Any, Any],
        anchor: Anchor | None,
        keys: _Keys,
        *,
        restore: bool,
    ) -> None:
        self.name = name
        self._summarizer = summarizer
        self._anchor = anchor
        self._keys = keys
        self._restore = restore

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        run = NodeRun.of(input, config)
        return self._guarded(run, self._summarizer.invoke(input, config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        run = NodeRun.of(input, config)
        written = await self._summarizer.ainvoke(input, config)
        return await asyncio.to_thread(self._guarded, run, written)

    def _guarded(self, run: NodeRun, written: Any) -> Any:
        if isinstance(written, Command):
            if not isinstance(written.update, Mapping):
                return written
            return replace(written, update=self._updated(run, written.update))
        if isinstance(written, str):
            return self._updated(run, {self._keys.summary_key: written})
        if written is None or isinstance(written, Mapping):
            return self._updated(run, written or {})
        raise ConfigurationError(
            f"the summarizer must return the summary, or an update of the state with it under "
            f"'{self._keys.summary_key}', not {type(written).__name__}."
        )

    def _updated(self, run: NodeRun, update: Mapping[str, Any]) -> dict[str, Any]:
        keys = self._keys
        summary = update.get(keys.summary_key)
        if not isinstance(summary, str) or not summary.strip():
            return dict(update)
        messages = _messages(run.state.get(keys.messages_key))
        replaced, kept = _divided(messages, update.get(keys.messages_key))
        anchor = self._anchor or kept_anchor(run.state.get(keys.anchor_key))
        anchor = anchor or opening_anchor(messages)
        earlier = run.state.get(keys.summary_key)
        before = [transcript(replaced), earlier if isinstance(earlier, str) else ""]
        text, receipt = guarded(
            "\n\n".join(filter(None, before)),
            summary,
            anchor,
            kept=transcript(kept),
            restore=self._restore,
        )
        plain = receipt.to_dict()
        run.emit("compaction", node=self.name, **plain)
        found = {keys.summary_key: text, keys.receipt_key: plain}
        if self._anchor is None and anchor is not None:
            found[keys.anchor_key] = anchor.to_dict()
        return {**update, **found}


def _messages(given: Any) -> list[BaseMessage]:
    if given is None:
        return []
    return convert_to_messages(given if isinstance(given, list | tuple) else [given])


def _divided(
    messages: list[BaseMessage], changes: object
) -> tuple[list[BaseMessage], list[BaseMessage]]:
    """Return the messages that an update removes, all if it removes none, and those that stay."""
    changed = _messages(changes)
    gone = {each.id for each in changed if isinstance(each, RemoveMessage)}
    if REMOVE_ALL_MESSAGES in gone:
        stay = {each.id for each in changed} - gone
        gone = {each.id for each in messages} - stay
    if not gone:
        return messages, []
    return (
        [each for each in messages if each.id in gone],
        [each for each in messages if each.id not in gone],
    )


def _runnable(summarizer: object) -> Runnable[Any, Any]:
    if isinstance(summarizer, Runnable):
        return summarizer
    if not callable(summarizer):
        raise ConfigurationError(
            f"summarizer must be a function of the state or a Runnable, not "
            f"{type(summarizer).__name__}."
        )
    return RunnableLambda(_with_runtime(summarizer))


def _with_runtime(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function to which LangGraph's runtime is given as a node would get it."""
    if "runtime" not in inspect.signature(function).parameters:
        return function
    if inspect.iscoroutinefunction(function):

        async def later(state: Any, config: RunnableConfig) -> Any:
            return await _called(function, state, config)

        return later
    return partial(_called, function)


def _called(function: Callable[..., Any], state: Any, config: RunnableConfig) -> Any:
    given: dict[str, Any] = {"runtime": get_runtime()}
    if "config" in inspect.signature(function).parameters:
        given["config"] = config
    return function(state, **given)
