"""One walk over the episodes: how the memory grew, what became of warnings, what to search."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from driftguard_langgraph.judgement.settlement import Settlement, kept_in
from driftguard_langgraph.judgement.worth import Worth, measure
from driftguard_langgraph.memory.stores.records import ChainPath
from driftguard_langgraph.pages.chains import ChainTable
from driftguard_langgraph.pages.growth import Growth
from driftguard_langgraph.pages.texts import bounded, stamp
from driftguard_langgraph.reviews import trigger_digest
from driftguard_langgraph.types import Episode

LISTED = 10_000
"""Newest episodes that the page holds for its search."""

WARNINGS = 50
"""Newest warnings that the page shows with what became of them."""


class EpisodeWalk:
    """Takes from every episode what the page says.

    Attributes:
        growth: How the memory grew.
        seen: How many episodes there were.
        worth: What the warnings were worth.
        warnings: How many warnings are settled.
    """

    def __init__(self) -> None:
        self.growth = Growth()
        self.seen = 0
        self.warnings = 0
        self._newest: deque[Episode] = deque(maxlen=LISTED)
        self._settled: deque[tuple[Settlement, Episode]] = deque(maxlen=WARNINGS)
        self.worth: Worth = measure(())

    def over(self, episodes: Iterable[Episode]) -> EpisodeWalk:
        """Walk over the episodes, in the order in which they were recorded."""
        self.worth = measure(self._noted(episodes))
        return self

    def rows(self) -> list[dict[str, Any]]:
        """Return the newest episodes as plain JSON, the newest first."""
        newest = sorted(self._newest, key=lambda episode: episode.created_at, reverse=True)
        return [_row(episode) for episode in newest]

    def became(self, mistakes: ChainTable) -> list[dict[str, Any]]:
        """Return the newest settled warnings as plain JSON, the newest first.

        Args:
            mistakes: The remembered failures that they warned of.
        """
        known: dict[str, list[ChainPath]] = {}
        for path in sorted(mistakes.paths, key=lambda path: -path.frequency):
            known.setdefault(trigger_digest(path.action), []).append(path)
        return [
            _warning(settled, episode, known, mistakes)
            for settled, episode in sorted(
                self._settled, key=lambda each: each[1].created_at, reverse=True
            )
        ]

    def _noted(self, episodes: Iterable[Episode]) -> Iterator[Episode]:
        for episode in episodes:
            self.seen += 1
            self.growth.add(episode.created_at, episode.kind)
            self._newest.append(episode)
            for settled in kept_in(episode.metadata):
                self.warnings += 1
                self._settled.append((settled, episode))
            yield episode


def _row(episode: Episode) -> dict[str, Any]:
    texts = {
        "action": episode.action.text,
        "feedback": episode.feedback,
        "outcome": episode.outcome,
    }
    return {
        "at": stamp(episode.created_at),
        "kind": episode.kind,
        **{name: bounded(text) for name, text in texts.items()},
        "characters": {name: len(text) for name, text in texts.items()},
        "severity": episode.severity,
        "thread": bounded(episode.provenance.get("thread_id", "")),
        "episode_id": episode.episode_id,
    }


def _warning(
    settled: Settlement,
    episode: Episode,
    known: Mapping[str, list[ChainPath]],
    mistakes: ChainTable,
) -> dict[str, Any]:
    paths = [path for digest in settled.triggers for path in known.get(digest, ())]
    # What this very episode added to the memory was not what it was warned of.
    earlier = [path for path in paths if path.first_seen < episode.created_at]
    remembered = next(iter((*earlier, *paths)), None)
    said = None if remembered is None else mistakes.wordings(remembered.action)[0]
    return {
        "at": stamp(episode.created_at),
        "arm": settled.arm,
        "role": settled.role,
        "decision": settled.decision,
        "result": episode.kind,
        # None when what was warned of has been forgotten since.
        "warned_of": None if said is None else bounded(said),
        "failed_with": None if remembered is None else bounded(remembered.feedback_text),
        "ran": bounded(episode.action.text),
        "came_back": bounded(episode.feedback),
        "thread": bounded(episode.provenance.get("thread_id", "")),
        "review_id": settled.review_id,
    }
