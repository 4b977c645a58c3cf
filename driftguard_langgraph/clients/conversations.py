"""Conversations behind one client: which one a request goes on with, and what of it is new.

A conversation is known by its id, if the caller or the request names it; by the reply that the
request goes on from; or by its history: a request goes on with the conversation whose messages,
all of them, it begins with. Of a history that was cut at the front, the last exchange decides.
What matches nothing is a new conversation.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import accumulate

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.clients.messages import Asked, Reply, Said
from driftguard_langgraph.clients.outcome import Outcome
from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.drift.tracking.tracker import DriftTracker

MAX_REPLAYED = 50
"""Newest messages of a history that a new conversation is told; older ones stay unscored."""

MIN_PAIR_CHARS = 40
"""Shorter exchanges ("Hi", "Hello!") do not identify a conversation whose history was cut."""

MAX_REPLY_IDS = 10_000

TrackerFactory = Callable[[str, str], DriftTracker]
"""Makes the tracker of a new conversation, given its id and the request's system prompt."""


class Conversation:
    """One conversation and its tracker.

    Args:
        conversation_id: Its id.
        tracker: What scores it.
    """

    def __init__(self, conversation_id: str, tracker: DriftTracker) -> None:
        self.conversation_id = conversation_id
        self.tracker = tracker
        self.lock = ForkSafeLock()
        self.marks: list[str] = []
        self.tip = ""
        self.last_request = ""
        self.is_new = True
        self._interim: list[Said] = []
        self._report: DriftReport | None = None

    def take(self, messages: Sequence[Said]) -> Outcome:
        """Record messages, each of which is new; words before a tool call wait for the answer."""
        managed = None
        for message in messages:
            if message.role == "user":
                self._report = self.tracker.record_user_message(message.content)
            elif message.role == "assistant":
                self._interim.append(message)
                if not message.tool_calls and message.content:
                    result = self.tracker.record_assistant_message(self._whole_answer())
                    self._report, managed = result.drift, result.managed_context
        explanation = None if self._report is None else self._report.explanation
        context = self.tracker.get_managed_context() if managed is None else managed
        return Outcome(self._report, explanation, context, self.conversation_id)

    def _whole_answer(self) -> Said:
        parts, self._interim = self._interim, []
        text = "\n".join(part.content for part in parts if part.content)
        return Said("assistant", text, tuple(call for part in parts for call in part.tool_calls))


class Conversations:
    """All conversations of a client.

    Args:
        make_tracker: Makes the tracker of a new one.
        limit: Conversations that are kept; the one unused for longest is forgotten first.
    """

    def __init__(self, make_tracker: TrackerFactory, limit: int) -> None:
        self._make = make_tracker
        self._limit = limit
        self._lock = ForkSafeLock()
        self._known: OrderedDict[str, Conversation] = OrderedDict()
        self._marks: dict[str, Conversation] = {}
        self._replies: OrderedDict[str, Conversation] = OrderedDict()

    def newest(self) -> Conversation | None:
        """Return the conversation that was used last."""
        with self._lock:
            return next(reversed(self._known.values()), None)

    def named(self, conversation_id: str, system: str = "") -> Conversation:
        """Return the conversation of an id; it is made if there is none."""
        with self._lock:
            return self._named(conversation_id, system)

    def record(self, asked: Asked, reply: Reply) -> Outcome:
        """Record what of a request is new, and the reply to it.

        Args:
            asked: The request.
            reply: What the model answered.
        """
        chain = _chain(asked)
        with self._lock:
            found, known = self._found(asked, chain)
            self._forget_marks(found)
        with found.lock:
            new = _new_messages(found, known, asked, chain)
            outcome = found.take([*new[-MAX_REPLAYED:], reply.said])
            found.is_new, found.last_request = False, chain[-1]
            found.tip = _next(chain[-1], reply.said)
        with self._lock:
            self._mark(found, [found.tip, *_pair(asked, [*asked.messages, reply.said])])
            if reply.reply_id is not None:
                self._replies[reply.reply_id] = found
                while len(self._replies) > MAX_REPLY_IDS:
                    self._replies.popitem(last=False)
        return outcome

    def _found(self, asked: Asked, chain: list[str]) -> tuple[Conversation, int | None]:
        """Return the conversation, and how many messages of the request are known to it."""
        if asked.conversation is not None:
            return self._named(asked.conversation, asked.system), None
        if asked.previous is not None and asked.previous in self._replies:
            found = self._replies[asked.previous]
            known = len(asked.messages) if found.last_request == chain[-1] else 0
            return self._used(found), known
        for count in range(len(asked.messages), 0, -1):
            if chain[count] in self._marks:
                return self._used(self._marks[chain[count]]), count
        for end in range(len(asked.messages), 1, -1):
            for mark in _pair(asked, asked.messages[:end]):
                if mark in self._marks:
                    return self._used(self._marks[mark]), end
        return self._named(f"conversation-{uuid.uuid4().hex}", asked.system), 0

    def _named(self, conversation_id: str, system: str) -> Conversation:
        found = self._known.get(conversation_id)
        if found is None:
            found = Conversation(conversation_id, self._make(conversation_id, system))
            self._known[conversation_id] = found
            while len(self._known) > self._limit:
                self._forget(self._known.popitem(last=False)[1])
        return self._used(found)

    def _used(self, found: Conversation) -> Conversation:
        self._known[found.conversation_id] = found
        self._known.move_to_end(found.conversation_id)
        return found

    def _mark(self, found: Conversation, marks: list[str]) -> None:
        if found.conversation_id in self._known:
            found.marks = marks
            self._marks |= dict.fromkeys(marks, found)

    def _forget_marks(self, found: Conversation) -> None:
        for mark in found.marks:
            if self._marks.get(mark) is found:
                del self._marks[mark]
        found.marks = []

    def _forget(self, found: Conversation) -> None:
        self._forget_marks(found)
        for reply_id in [key for key, value in self._replies.items() if value is found]:
            del self._replies[reply_id]


def _new_messages(
    found: Conversation, known: int | None, asked: Asked, chain: list[str]
) -> Sequence[Said]:
    if known is not None:
        return asked.messages[known:]
    if found.is_new:
        return asked.messages
    if chain[-1] == found.last_request:
        return ()
    if found.tip in chain:
        return asked.messages[chain.index(found.tip) :]
    answers = [at for at, message in enumerate(asked.messages) if message.role == "assistant"]
    return asked.messages[answers[-1] + 1 if answers else 0 :]


def _chain(asked: Asked) -> list[str]:
    """Return fingerprints of a request's history, of 0, 1, 2, ... messages."""
    start = hashlib.sha256(f"{asked.scope}\n{asked.previous}".encode()).hexdigest()
    return list(accumulate(asked.messages, _next, initial=start))


def _next(before: str, message: Said) -> str:
    return hashlib.sha256(f"{before}{message.digest}".encode()).hexdigest()


def _pair(asked: Asked, messages: Sequence[Said]) -> list[str]:
    """Return the fingerprint of the exchange that a history ends with, if it ends with one."""
    if len(messages) < 2 or messages[-1].role != "assistant":
        return []
    if sum(len(message.content) for message in messages[-2:]) < MIN_PAIR_CHARS:
        return []
    return [
        hashlib.sha256(
            f"{asked.scope}\npair{messages[-2].digest}{messages[-1].digest}".encode()
        ).hexdigest()
    ]
