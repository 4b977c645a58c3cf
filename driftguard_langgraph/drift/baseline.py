"""The baseline: what a session was told at the start, and is measured against."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.drift.turns import MAX_CHARS, Channel, Turn, as_turn
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.text.validation import excerpt

MAX_BASELINE_CHARS = 400_000
"""Longest text of a message of the baseline that is read whole: about 100,000 tokens, so that no
rule of a system prompt is lost."""

BASELINE_ID = "baseline"
"""Message id of evidence that stands in the baseline."""
BASELINES_KEPT = 16
"""Baselines of which is kept what was read out of them: a graph makes a monitor at each visit, and
an application has a few prompts."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The texts of the baseline.

    Attributes:
        turns: Its messages, in order; a baseline that is a string is one scaffold turn.
    """

    turns: tuple[Turn, ...]

    @classmethod
    def of(cls, given: object) -> Baseline | None:
        """Return the baseline that a caller gave; None if there is none (None or blank).

        Args:
            given: A string, a message, or a sequence of messages.

        Raises:
            ConfigurationError: It is something else.
        """
        if given is None:
            return None
        if isinstance(given, str):
            return cls._of_messages([("system", given)])
        if isinstance(given, Mapping) or hasattr(given, "content"):
            given = (given,)
        if isinstance(given, Sequence) and all(map(_is_message, given)):
            return cls._of_messages(given)
        raise ConfigurationError(
            f"baseline must be a string or messages, not {_shown(given)}: give the "
            "system prompt, or the messages that the session starts with."
        )

    @classmethod
    def _of_messages(cls, messages: Sequence[object]) -> Baseline | None:
        turns = [as_turn(message, 0, MAX_BASELINE_CHARS) for message in messages]
        said = tuple(turn for turn in turns if turn.text)
        return cls(said) if said else None

    @property
    def text(self) -> str:
        """All that it says."""
        return "\n\n".join(turn.text for turn in self.turns)

    @property
    def digest(self) -> str:
        """Hash of what it says, to tell whether a stored state belongs to it."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def restates(self, turn: Turn) -> bool:
        """Whether a scaffold message is only the baseline, or a message of it, once more."""
        if turn.channel is not Channel.SCAFFOLD:
            return False
        told = (self.text, *(part.text for part in self.turns))
        return any(turn.text == excerpt(text, MAX_CHARS) for text in told)

    def snapshot(self) -> list[dict[str, Any]]:
        """Return its messages as plain JSON types."""
        return [{"role": turn.channel.value, "content": turn.text} for turn in self.turns]


def _is_message(value: object) -> bool:
    if isinstance(value, Mapping):
        return "content" in value
    if isinstance(value, tuple | list):
        return len(value) == 2 and isinstance(value[0], str)
    return isinstance(value, str) or hasattr(value, "content")


def _shown(given: object) -> str:
    if not isinstance(given, Sequence) or isinstance(given, bytes | bytearray):
        return type(given).__name__
    wrong = next(each for each in given if not _is_message(each))
    return f"a {type(given).__name__} with {type(wrong).__name__}"
