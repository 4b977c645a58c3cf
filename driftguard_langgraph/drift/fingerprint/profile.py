"""What a channel says over a session: where it began, and what it says now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from driftguard_langgraph.drift.fingerprint.contrast import Tally
from driftguard_langgraph.drift.fingerprint.features import Sentence

MOST_SENTENCES = 400
"""Distinct sentences of a channel that are told from new ones, in both modes: repeating
another 400 in turn would be needed to count a sentence twice."""


class Profile:
    """The counts of one channel: of its reference, and of the turns that are compared with it.

    Args:
        window: Turns of the session that count as now; None for all since the reference.

    Attributes:
        reference: The counts of what is compared with.
        now: The counts of what is said now.
        before: Both together.
    """

    def __init__(self, window: int | None) -> None:
        self._window = window
        self.reference: Tally = Tally()
        self.now: Tally = Tally()
        self.before: Tally = Tally()
        self._said: dict[str, int] = {}
        self._turns: list[tuple[int, Tally]] = []

    def fresh(self, said: Sequence[Sentence], turn: int) -> list[Sentence]:
        """Return the sentences that this channel has not said yet, each once.

        Args:
            said: The sentences of a turn.
            turn: Its number.
        """
        found = []
        for sentence in said:
            before = self._said.pop(sentence.digest, None)
            self._said[sentence.digest] = turn
            if before is None or (self._window is not None and before <= turn - self._window):
                found.append(sentence)
        while len(self._said) > MOST_SENTENCES:
            del self._said[next(iter(self._said))]
        return found

    def refer(self, counts: Tally) -> None:
        """Add to what is compared with."""
        self.reference.update(counts)
        self.before.update(counts)

    def take(self, counts: Tally, turn: int) -> None:
        """Add to what is said now."""
        self.now.update(counts)
        self.before.update(counts)
        if self._window is not None:
            self._turns.append((turn, counts))

    def leave(self, turn: int) -> bool:
        """Let go of the turns that are no longer in the window at a turn.

        Returns:
            Whether there were any.
        """
        before = len(self._turns)
        while self._turns and self._window is not None and self._turns[0][0] <= turn - self._window:
            left = self._turns.pop(0)[1]
            self.now.subtract(left)
            self.before.subtract(left)
        return len(self._turns) < before

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON types."""
        return {
            "reference": dict(self.reference),
            "now": dict(self.now),
            "said": dict(self._said),
            "turns": [[turn, dict(counts)] for turn, counts in self._turns],
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Take over what `snapshot` returned."""
        self.reference, self.now = Tally(data["reference"]), Tally(data["now"])
        self.before = self.reference + self.now
        self._said = {str(digest): int(turn) for digest, turn in data["said"].items()}
        self._turns = [(int(turn), Tally(counts)) for turn, counts in data["turns"]]
