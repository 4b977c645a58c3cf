"""Loops: the assistant says, or a tool answers, the very same again and again.

A loop is an observation and no sign of an attack, so its weight is 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.drift.report import Anomaly, Span
from driftguard_langgraph.drift.turns import Channel, Turn
from driftguard_langgraph.errors import ConfigurationError

WINDOW = 24
"""Turns that are looked back: eight rounds of user, call and result."""
REPEATS = 3
"""The same this often within the window is a loop: once more may be a retry."""
_SHORTEST = 12
_QUOTED = 300


class Loops:
    """Remembers the last things that were said and done."""

    def __init__(self) -> None:
        self._recent: list[str] = []
        self._pending = ""

    def observe(self, turn: Turn) -> tuple[Anomaly, ...]:
        """Return the loop that a turn closes, if it does."""
        key = self._key(turn)
        self._recent = [*self._recent, key][-WINDOW:]
        if not key or self._recent.count(key) < REPEATS:
            return ()
        times = self._recent.count(key)
        what = (
            "the same tool call had the same result"
            if turn.channel is Channel.TOOL
            else ("the assistant said the same")
        )
        said = Span(turn.message_id, (turn.text or " ".join(turn.calls))[:_QUOTED])
        return (
            Anomaly(
                "loop", 0.0, turn.index, turn.channel, said,
                detail=f"{what} {times} times within {WINDOW} turns",
            ),
        )  # fmt: skip

    def _key(self, turn: Turn) -> str:
        """Return what stands for a turn that may repeat; empty for one that may not.

        A call counts with its result: polling that makes progress is no loop.
        """
        if turn.channel is Channel.ASSISTANT and turn.calls:
            self._pending = "\n".join(turn.calls)
            return ""
        if turn.channel is Channel.TOOL:
            call, self._pending = self._pending, ""
            return _digest(f"{call}\n{turn.text}") if call else ""
        if turn.channel is Channel.ASSISTANT and len(turn.text) >= _SHORTEST:
            return _digest(" ".join(turn.text.lower().split()))
        return ""

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON types."""
        return {"recent": list(self._recent), "pending": self._pending}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over what `snapshot` returned.

        Raises:
            ConfigurationError: It is something else.
        """
        try:
            self._recent = [str(key) for key in data["recent"]][-WINDOW:]
            self._pending = str(data["pending"])
        except (KeyError, TypeError) as error:
            raise ConfigurationError(f"no state of the loop watch: {error!r}.") from None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
