"""LangChain's summarisation, with a guard: what a summary loses of rules and facts is put back.

    middleware=[GuardedSummarizationMiddleware(model, trigger=("tokens", 4000))]

It is LangChain's own middleware in all else. The summary stays what it is, a model's text: it is
marked as a summary, never as one of our scaffolds, so a drift monitor measures what it says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentState, SummarizationMiddleware
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.runtime import Runtime

from driftguard_langgraph.recovery.compaction.guard import as_anchor, guarded, kept_anchor
from driftguard_langgraph.recovery.transcript import opening_anchor, transcript
from driftguard_langgraph.text.validation import checked_flag

Update = dict[str, Any]


class CompactionAgentState(AgentState[Any]):
    """State of an agent whose summaries are guarded; plain JSON, none taken from a run's input.

    Attributes:
        compaction_receipt: What the newest summary lost, `SurvivalReceipt.to_dict()`.
        compaction_anchor: What the thread began with, `Anchor.to_dict()`; for the guard alone.
    """

    compaction_receipt: NotRequired[Annotated[dict[str, Any], OmitFromInput]]
    compaction_anchor: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class GuardedSummarizationMiddleware(SummarizationMiddleware[Any, Any]):
    """`SummarizationMiddleware` of LangChain that loses no rule, number or name of the anchor.

    Each summary gets, behind the model's words, the rules that it dropped or changed, word for
    word, and the facts that it dropped, quoted; a stream event says what was lost.

    Args:
        model: As in `SummarizationMiddleware`.
        anchor_or_baseline: What must survive: an `Anchor`, a system prompt, or the messages that
            a session starts with. None: the system messages and the first user message that
            stand in the thread's own messages; what `create_agent` was given as `system_prompt`
            is sent with every call and cannot be lost.
        restore: Whether to put back what was lost; else there is only the receipt.
        **summarization: All other arguments of `SummarizationMiddleware`.

    Raises:
        ConfigurationError: The baseline is none.
    """

    state_schema = CompactionAgentState

    def __init__(
        self,
        model: str | BaseChatModel,
        *,
        anchor_or_baseline: object | None = None,
        restore: bool = True,
        **summarization: Any,
    ) -> None:
        super().__init__(model, **summarization)
        self._anchor = as_anchor(anchor_or_baseline)
        self._restore = checked_flag(restore, "restore")

    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> Update | None:
        """Summarise if it is time to, and put back what the summary lost.

        Args:
            state: The agent's state.
            runtime: LangGraph's runtime.
        """
        return self._guarded(state, super().before_model(state, runtime), runtime)

    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> Update | None:
        """Summarise if it is time to; see `before_model`.

        Args:
            state: The agent's state.
            runtime: LangGraph's runtime.
        """
        update = await super().abefore_model(state, runtime)
        return await asyncio.to_thread(self._guarded, state, update, runtime)

    def _guarded(
        self, state: Mapping[str, Any], update: Update | None, runtime: Runtime[Any] | None
    ) -> Update | None:
        if update is None:
            return None
        before = {message.id: message for message in state["messages"]}
        after = [each for each in update["messages"] if not isinstance(each, RemoveMessage)]
        kept = [message for message in after if message.id in before]
        new = next((message for message in after if message.id not in before), None)
        if new is None:
            return update
        staying = {message.id for message in kept}
        replaced = [message for name, message in before.items() if name not in staying]
        anchor = self._anchor or kept_anchor(state.get("compaction_anchor"))
        anchor = anchor or opening_anchor(state["messages"])
        text, receipt = guarded(
            transcript(replaced),
            str(new.text),
            anchor,
            kept=transcript(kept),
            restore=self._restore,
        )
        plain = receipt.to_dict()
        if runtime is not None:
            head = {"type": "driftguard", "event": "compaction", "node": self.name}
            runtime.stream_writer({**head, **plain})
        found = {"compaction_receipt": plain}
        if self._anchor is None and anchor is not None:
            found["compaction_anchor"] = anchor.to_dict()
        messages = [_saying(each, text) if each is new else each for each in update["messages"]]
        return {**update, "messages": messages, **found}


def _saying(message: BaseMessage, text: str) -> BaseMessage:
    return message.model_copy(update={"content": text})
