"""One call of a model: its reply is recorded once, and no failure of ours reaches the caller."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from driftguard_langgraph.clients.conversations import Conversation, Conversations
from driftguard_langgraph.clients.messages import Asked, Reply
from driftguard_langgraph.clients.outcome import Outcome
from driftguard_langgraph.errors import ReplyNotScored

logger = logging.getLogger(__name__)

OnError = Literal["open", "closed"]


@dataclass(frozen=True, slots=True)
class Hub:
    """What a wrapped client knows of its conversations.

    Attributes:
        conversations: All of them.
        conversation: The one that every call belongs to; None: it is found for each call.
        on_error: What a failure of ours does.
    """

    conversations: Conversations
    conversation: str | None
    on_error: OnError

    def current(self) -> Conversation:
        """Return the client's own conversation, or the one that was used last."""
        found = None if self.conversation else self.conversations.newest()
        return found or self.conversations.named(self.conversation or "default")


class Watch:
    """One call.

    Args:
        hub: The client's conversations.
        read: Reads the request; called when the reply is there.

    Attributes:
        outcome: What is known after the reply; None before, and when it could not be scored.
    """

    def __init__(self, hub: Hub, read: Callable[[], Asked]) -> None:
        self._hub = hub
        self._read = read
        self._is_settled = False
        self.outcome: Outcome | None = None

    def settle(self, read_reply: Callable[[], Reply | None], reply: object = None) -> None:
        """Record the reply, unless that was done.

        Args:
            read_reply: Reads it; None if there is nothing to record.
            reply: What the caller gets, for the error.

        Raises:
            ReplyNotScored: It failed, and `on_error` is `closed`.
        """
        if self._is_settled:
            return
        self._is_settled = True
        try:
            said = read_reply()
            if said is not None and (said.text or said.calls):
                asked = self._read()
                if self._hub.conversation is not None:
                    asked = replace(asked, conversation=self._hub.conversation)
                self.outcome = self._hub.conversations.record(asked, said)
        except Exception as error:
            name = type(error).__name__
            if self._hub.on_error == "closed":
                raise ReplyNotScored(
                    f"the model has answered, but driftguard could not score it ({name}). The "
                    "answer is in this error's `reply`; on_error='open' only logs such failures.",
                    reply,
                ) from error
            # The message may quote the conversation.
            logger.warning("driftguard could not score a reply: %s", name)
            logger.debug("driftguard could not score a reply", exc_info=error)

    async def asettle(self, read_reply: Callable[[], Reply | None], reply: object = None) -> None:
        """Async twin of `settle`; it runs in a worker thread."""
        if not self._is_settled:
            await asyncio.to_thread(self.settle, read_reply, reply)
