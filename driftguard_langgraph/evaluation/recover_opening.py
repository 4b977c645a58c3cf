"""How a recorded conversation begins: what it was told, and what was asked of it first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from driftguard_langgraph.drift.report import DriftReport
from driftguard_langgraph.drift.turns import Channel, as_turn
from driftguard_langgraph.evaluation.session_formats.base import Message
from driftguard_langgraph.recovery.session import SUSPICIOUS


@dataclass(frozen=True, slots=True)
class Opening:
    """How a conversation begins.

    Attributes:
        told: What the operator said: the baseline that was given, or the system messages at
            the start.
        user: The first message of a user.
        count: How many of the first messages are what the rest is measured against.
    """

    told: tuple[dict[str, Any], ...]
    user: Message | None
    count: int

    @classmethod
    def of(cls, messages: Sequence[Message], baseline: str | None) -> Opening:
        """Return how a conversation begins.

        Args:
            messages: The conversation.
            baseline: What the operator said, if it is not to be taken from the messages.
        """
        user = next((each for each in messages if channel_of(each) is Channel.USER), None)
        if baseline is not None:
            return cls(({"role": "system", "content": baseline},), user, 0)
        leading = list(takewhile(lambda each: channel_of(each) is Channel.SCAFFOLD, messages))
        count = len(leading)
        if not leading and user is not None:
            count = messages.index(user) + 1
        return cls(tuple(each.to_dict() for each in leading), user, count)

    def is_suspect(self, reports: Sequence[tuple[str, DriftReport]]) -> bool:
        """Whether the first message of the user works against what the operator said.

        Args:
            reports: Where the messages stand that were measured, and the reports on them.
        """
        where = self.user.where if self.user is not None else None
        return any(
            found.weight >= SUSPICIOUS
            for place, report in reports
            if place == where
            for found in report.anomalies
        )

    def restored(self, *, suspect: bool) -> list[dict[str, Any]]:
        """Return the messages that the anchor is made of.

        Args:
            suspect: Whether the user's first message must not be one of them.
        """
        asked = [] if self.user is None or suspect else [self.user.to_dict()]
        return [*self.told, *asked]


def channel_of(message: Message) -> Channel:
    """Return who speaks."""
    return as_turn({"role": message.role, "content": ""}, 0).channel
