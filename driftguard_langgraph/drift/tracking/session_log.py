"""The sessions of one system prompt in a memory that others may share and change."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, cast

from driftguard_langgraph.drift.tracking.managed_context import ManagedContext
from driftguard_langgraph.drift.tracking.session_document import (
    Change,
    Exchange,
    Session,
    active_session,
    next_number,
    summaries_of,
    total_exchanges,
)
from driftguard_langgraph.drift.tracking.session_memory import SessionMemory
from driftguard_langgraph.errors import StoreError
from driftguard_langgraph.text.validation import visible_text

logger = logging.getLogger(__name__)


class SessionLog:
    """Records the running session of one original context.

    A memory that fails costs nothing but a warning: what it could not write stays in this
    process and is written with what comes next.

    Args:
        memory: Where sessions are kept.
        context: The original context and its budget.
        contexts: The hashes under which that context is known, its own first.

    Attributes:
        number: Number of the running session, from 1.

    Raises:
        SchemaMismatch: The file is a newer release's, or another application's.
        StoreUnavailable: The file cannot be read.
    """

    def __init__(
        self, memory: SessionMemory, context: ManagedContext, contexts: Sequence[str]
    ) -> None:
        self.memory = memory
        self._context = context
        self._contexts = list(contexts)
        memory.read()
        self.number = self._numbered(self.session)
        self._began = self.session is not None
        if memory.document["sessions"] and not total_exchanges(memory.document, self._contexts):
            logger.info(
                "driftguard: the sessions in %s belong to another system prompt; this one "
                "begins anew",
                memory.path,
            )

    @property
    def session(self) -> Session | None:
        """The running session as of the last call, None before its first exchange."""
        return active_session(self.memory.document, self._contexts)

    @property
    def state(self) -> Any:
        """What was kept of the running session's scores; None if nothing was."""
        return self.memory.document["states"].get(str(self.number))

    @property
    def frozen(self) -> bool:
        """Whether the context is frozen, as of the last call."""
        return self.memory.document["context_frozen"]

    @property
    def total(self) -> int:
        """Exchanges of all sessions, as of the last call."""
        return total_exchanges(self.memory.document, self._contexts)

    def read(self) -> None:
        """Look at what others did; the running session's number stays what it was."""
        try:
            self.memory.read()
        except StoreError as error:
            self._tolerate(error)

    def refresh(self) -> bool:
        """Look at what others did; return whether the running session is another one now.

        It is, when somebody has ended it or has deleted the memory.
        """
        began = self._began
        self.read()
        number = self._numbered(self.session)
        other = number != self.number or (began and self.session is None)
        self.number, self._began = number, self.session is not None
        return other

    def _numbered(self, session: Session | None) -> int:
        return next_number(self.memory.document) if session is None else session["session_number"]

    def append(self, exchange: Exchange, state: Any) -> None:
        """Record an exchange, and the state of the scores after it (None: it has none)."""
        change = self._change("turn", exchange=exchange)
        if state is not None:
            change["state"] = state
        self._commit(change)

    def rate(self, rated: dict[str, Exchange], state: Any) -> None:
        """Put exchanges that have a score now in the place of those that had none, by id."""
        change = self._change("rated", rated=rated)
        if state is not None:
            change["state"] = state
        self._commit(change)

    def end(self, summary: str | None, score: float | None) -> None:
        """End the running session; the next one begins with its first exchange."""
        self._commit(self._change("end", summary=summary, score=score))
        self.number, self._began = self._numbered(self.session), False

    def freeze(self, *, frozen: bool) -> None:
        """Freeze the context, or let it change again."""
        self._commit(self._change("freeze", frozen=frozen))

    def clear(self) -> None:
        """Drop the summaries of the sessions that have ended."""
        self._commit(self._change("clear"))

    def delete(self) -> None:
        """Forget all sessions.

        Raises:
            StoreUnavailable: The file cannot be deleted; nothing was forgotten.
        """
        self.memory.delete()
        self.number, self._began = 1, False

    def settle(self) -> None:
        """Bring the file up to date for other tools."""
        try:
            self.memory.settle()
        except StoreError as error:
            self._tolerate(error)

    def managed(self) -> tuple[str, int]:
        """Return the managed context and how many tokens it has."""
        return self._context.build(summaries_of(self.memory.document, self._contexts))

    def _change(self, do: str, **details: Any) -> Change:
        change = {"do": do, "contexts": self._contexts, "session": self.number, **details}
        return cast("Change", change)

    def _commit(self, change: Change) -> None:
        original = visible_text(self._context.original)
        changes = [change]
        if self.memory.document["original_context"] != original:
            changes.insert(0, {"do": "context", "original_context": original})
        try:
            self.memory.commit(*changes)
        except StoreError as error:
            self._tolerate(error)
        if change["do"] == "turn":
            self.number, self._began = self._numbered(self.session), True

    def _tolerate(self, error: StoreError) -> None:
        logger.warning("driftguard goes on without its session memory: %s", error)
