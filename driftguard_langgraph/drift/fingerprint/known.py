"""What has been said in a session: the words and names that are no news any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from driftguard_langgraph.drift.fingerprint.contrast import Tally
from driftguard_langgraph.drift.fingerprint.features import Sentence
from driftguard_langgraph.drift.fingerprint.words import CLASSES

MOST_WORDS = 1_000
"""Distinct words that are remembered of one source: some 12 KB of state."""
MOST_NAMES = 300
"""The same for names."""
LEAST_UNSEEN = 0.15
"""Least share of new words that is expected of more text of the same kind."""
MOST_UNSEEN = 0.85
"""Expected share of new words from which a sample is too small to say what is new."""
DOUBT = 5
"""Words said once that a sample is taken to hold besides its own: a sentence more."""
SUPPORT = 0.7
"""Share of its words that must be known for a statement to say nothing new, as a paraphrase brings
a word or two of its own."""


_COUNTED = frozenset(CLASSES) - {"fact"}


class Seen:
    """Keys with how often they were said; a sample to estimate the share of the unseen from.

    Args:
        limit: Distinct keys that are kept. The oldest go first, so what was not said for long
            counts as new again.
        counts: Where to start, oldest first.
    """

    def __init__(self, limit: int, counts: Mapping[str, int] | None = None) -> None:
        self._limit = limit
        self.counts: dict[str, int] = {}
        self.total = self.once = 0
        for key, count in (counts or {}).items():
            self.add(key, count)

    def add(self, key: str, count: int = 1) -> None:
        """Count a key."""
        before = self.counts.pop(key, 0)
        self.counts[key] = before + count
        self.total += count
        self.once += (before + count == 1) - (before == 1)
        if len(self.counts) > self._limit:
            lost = self.counts.pop(next(iter(self.counts)))
            self.total -= lost
            self.once -= lost == 1


class Known:
    """The words and names of one source.

    Args:
        bounded: Whether to forget the oldest (`MOST_WORDS`, `MOST_NAMES`).
        state: What `snapshot` returned.
    """

    def __init__(self, *, bounded: bool = True, state: Mapping[str, Any] | None = None) -> None:
        given = state or {"words": {}, "names": {}}
        most = (MOST_WORDS, MOST_NAMES) if bounded else (10**9, 10**9)
        self.words = Seen(most[0], given["words"])
        self.names = Seen(most[1], given["names"])

    def add(self, said: Iterable[Sentence]) -> None:
        """Take in what sentences hold."""
        for sentence in said:
            for word in sentence.words:
                self.words.add(word)
            for name in sentence.entities:
                self.names.add(name)

    def snapshot(self) -> dict[str, Any]:
        """Return it as plain JSON types."""
        return {"words": dict(self.words.counts), "names": dict(self.names.counts)}


class Sources:
    """Several sources read as one."""

    def __init__(self, *sources: Known) -> None:
        self._words = [source.words for source in sources]
        self._names = [source.names for source in sources]

    def unseen(self) -> tuple[float, float]:
        """Return the shares of words and of names that are expected to be new in more text.

        A share of 1 says that nobody can tell: too little has been said.
        """
        return _unseen(self._words), _unseen(self._names)

    def tally(self, said: Iterable[Sentence], *, steers: bool) -> Tally:
        """Count what sentences hold, new words, names and facts apart.

        Args:
            said: The sentences.
            steers: Whether they are a scaffold's: there every statement is a fact, in a
                conversation only one on a matter that steers it.
        """
        counts: Tally = Tally()
        for sentence in said:
            words = _unknown(sentence.words, self._words)
            names = _unknown(sentence.entities, self._names)
            counts["sentences"] += 1
            counts["words"] += len(sentence.words)
            counts["names"] += len(sentence.entities)
            counts["new words"] += words
            counts["new names"] += names
            for mark in sentence.marks:
                if mark in _COUNTED:
                    counts[mark] += 1
            stated = "fact" in sentence.marks or (steers and "statement" in sentence.marks)
            counts["fact"] += stated and not _supported(sentence, words, names)
        return counts


def _unknown(keys: Sequence[str], sources: Sequence[Seen]) -> int:
    unknown = keys
    for source in sources:
        if not unknown:
            break
        counts = source.counts
        unknown = [key for key in unknown if key not in counts]
    return len(unknown)


def _supported(sentence: Sentence, new_words: int, new_names: int) -> bool:
    """Whether a statement repeats what is known; one that denies or loosens never does."""
    if new_names or not {"negation", "flexibility"}.isdisjoint(sentence.marks):
        return False
    return new_words <= (1 - SUPPORT) * len(sentence.words)


def _unseen(samples: Sequence[Seen]) -> float:
    """Return Good and Turing's estimate: the share of the sample that was said once."""
    total = once = DOUBT
    for sample in samples:
        total += sample.total
        once += sample.once
    share = once / total
    return max(share, LEAST_UNSEEN) if share < MOST_UNSEEN else 1.0
