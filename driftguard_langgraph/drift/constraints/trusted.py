"""What trusted people said in a session, and what else was heard: the ground of claims.

Only the newest sentences are kept, as sets of words, so a session of any length costs the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from driftguard_langgraph.drift.reading.norms import about

TRUSTED_KEPT = 200
HEARD_KEPT = 100
"""Sentences kept of users, and of assistants and tools: they bound the state (17 KB of JSON
after 1,000 turns of 40 words), and are some 60 turns of a conversation."""
WORDS_KEPT = 30
"""Words kept of a sentence."""
STATED = 0.8
"""The same for the baseline: that it names a matter in a rule does not settle it."""
SUPPORTED = 0.5
"""Share of a claim's words that one sentence (or two in a row) must hold to be its source."""
RESTATED = 0.7
"""Share of a sentence's words by which another one states it again."""
_LEAST_RESTATED = 2


class Memory:
    """Sentences as sets of words.

    Args:
        limit: How many are kept.
    """

    def __init__(self, limit: int) -> None:
        self._kept: deque[frozenset[str]] = deque(maxlen=limit)

    def __len__(self) -> int:
        """How many sentences are kept."""
        return len(self._kept)

    def add(self, words: Iterable[str]) -> None:
        """Remember one sentence by its folded words."""
        kept = frozenset(sorted(about(words))[:WORDS_KEPT])
        if kept:
            self._kept.append(kept)

    def supports(self, words: frozenset[str], share: float = SUPPORTED) -> bool:
        """Whether what is claimed in these folded words was said, numbers included.

        Args:
            words: What is claimed.
            share: How many of the words must have been said together, 0..1.
        """
        claimed = about(words)
        if not claimed:
            return True
        numbers = {word for word in claimed if any(map(str.isdigit, word))}
        before: frozenset[str] = frozenset()
        for known in self._kept:
            both = before | known
            if numbers <= both and len(claimed & both) >= share * len(claimed):
                return True
            before = known
        return False

    def restated(self, words: frozenset[str], share: float = RESTATED) -> bool:
        """Whether these folded words hold nearly all that a kept sentence says.

        Args:
            words: What a sentence is about.
            share: How many words of the kept sentence, 0..1.
        """
        return any(
            len(known) >= _LEAST_RESTATED and len(known & words) >= share * len(known)
            for known in self._kept
        )

    def shares(self, words: frozenset[str], least: int, *, drop: bool = False) -> bool:
        """Whether a kept sentence has some of these words.

        Args:
            words: Folded words, as `norms.about` returns them.
            least: How many words it must have.
            drop: Whether to forget the sentence then.
        """
        for known in reversed(self._kept):
            if len(known & words) >= least:
                if drop:
                    self._kept.remove(known)
                return True
        return False

    def snapshot(self) -> list[list[str]]:
        """Return the sentences as plain JSON types."""
        return [sorted(words) for words in self._kept]

    def restore(self, data: Iterable[Iterable[str]]) -> None:
        """Take over what `snapshot` returned."""
        self._kept.clear()
        self._kept.extend(frozenset(map(str, words)) for words in data)
