"""How well the drift monitor tells turns that left the purpose, and attacks.

- **AUC a turn**: share of (left, not left) pairs of labelled turns of one kind of conversation
  that `100 - score` puts in order. Beside it: the distance of the turn's embedding from that of
  the baseline.
- **AUC at the same turn**: the same over all kinds, but only turns of the same number are
  compared, so that a score that merely falls with the length of a session gains nothing.
- **AUC of attacks**: share of (attack, other) pairs of conversations that the highest corruption
  puts in order. Beside it: the largest distance of a turn.
- **alarmed**: share of conversations in which the alarm was raised.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.evaluation.labelled_conversations import (
    LabelledConversation,
    read_conversations,
)
from driftguard_langgraph.evaluation.pairs import Progress
from driftguard_langgraph.evaluation.ranking import auc
from driftguard_langgraph.settings import DriftGuardSettings

K = TypeVar("K")
V = TypeVar("V")

DIGITS = 4
"""Decimals in `to_dict`."""


@dataclass(frozen=True, slots=True)
class TurnReading:
    """One labelled turn.

    Attributes:
        number: Its place in the conversation, from 0.
        off: Its label.
        left: 100 less the score after it.
        distance: 1 less the cosine of its embedding with that of the baseline.
    """

    number: int
    off: bool
    left: float
    distance: float


@dataclass(frozen=True, slots=True)
class ConversationReading:
    """One conversation.

    Attributes:
        source: The conversation that was watched.
        turns: Its labelled turns.
        corruption: The highest corruption, 0..1.
        distance: The largest distance of a turn from the baseline.
        alarmed: Whether the alarm was raised.
    """

    source: LabelledConversation
    turns: tuple[TurnReading, ...]
    corruption: float
    distance: float
    alarmed: bool


@dataclass(frozen=True, slots=True)
class ConversationsResult:
    """What was measured.

    Attributes:
        file: The file.
        readings: One a conversation.
        seconds: How long it took.
        model_id: The embedding model.
    """

    file: str
    readings: tuple[ConversationReading, ...]
    seconds: float
    model_id: str

    def kinds(self) -> dict[str, dict[str, Any]]:
        """Return the figures of the labelled turns, by kind of conversation."""
        found = _by((each.source.kind, each) for each in self.readings if each.turns)
        return {
            kind: _turn_figures([turn for each in readings for turn in each.turns], len(readings))
            for kind, readings in found.items()
        }

    def at_the_same_turn(self) -> dict[str, float | None]:
        """Return the AUC of turns that are compared with those of the same number only."""
        turns = [turn for each in self.readings for turn in each.turns]
        return {
            "driftguard": _rounded(_matched(turns, [turn.left for turn in turns])),
            "embedding": _rounded(_matched(turns, [turn.distance for turn in turns])),
        }

    def groups(self) -> dict[str, dict[str, Any]]:
        """Return how many conversations of each set alarm, attacks and others apart."""
        found = _by((each.source.group, each) for each in self._judged())
        return {group: _alarms(readings) for group, readings in found.items()}

    def attacks(self) -> list[dict[str, Any]]:
        """Return how well the attacks of each set are told from the others of each set."""
        attacks = _by((e.source.group, e) for e in self._judged() if e.source.attack)
        others = _by((e.source.group, e) for e in self._judged() if not e.source.attack)
        return [
            {"attacks": a, "against": b, **_attack_figures(attacks[a], others[b])}
            for a in attacks
            for b in others
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain JSON."""
        return {
            "file": self.file,
            "model": self.model_id,
            "conversations": len(self.readings),
            "seconds": round(self.seconds, 3),
            "turns": {"kinds": self.kinds(), "at_the_same_turn": self.at_the_same_turn()},
            "attacks": {"sets": self.groups(), "compared": self.attacks()},
        }

    def _judged(self) -> list[ConversationReading]:
        return [each for each in self.readings if each.source.attack is not None]


def score_conversations(
    path: Path,
    *,
    settings: DriftGuardSettings | None = None,
    embeddings: object | None = None,
    progress: Progress | None = None,
) -> ConversationsResult:
    """Watch every conversation of a file with a monitor of its own.

    Args:
        path: The file.
        settings: The `drift_*` settings, and the embedder; the user's own by default.
        embeddings: An embedder, or LangChain `Embeddings`, instead of the settings' one.
        progress: Told how far the work is.

    Raises:
        ConfigurationError: The file cannot be opened, or holds no label.
        InvalidEpisode: An entry is no labelled conversation.
    """
    conversations = read_conversations(path)
    settings = settings or DriftGuardSettings()
    embedder = resolve_embedder(embeddings, settings)
    started = time.perf_counter()
    readings = []
    for number, each in enumerate(conversations, 1):
        readings.append(_watch(each, settings, embedder))
        if progress:
            progress("conversations", number, len(conversations))
    seconds = time.perf_counter() - started
    return ConversationsResult(str(path), tuple(readings), seconds, embedder.model_id)


def _watch(
    conversation: LabelledConversation, settings: DriftGuardSettings, embedder: Embedder
) -> ConversationReading:
    monitor = DriftMonitor(conversation.baseline, settings=settings, embeddings=embedder)
    texts = [turn.text for turn in conversation.turns]
    vectors = embedder.embed([conversation.baseline, *texts])
    distances = 1 - vectors[1:] @ vectors[0]
    corruption, alarmed, turns = 0.0, False, []
    for number, turn in enumerate(conversation.turns):
        report = monitor.observe({"role": turn.role, "content": turn.text})
        corruption = max(corruption, report.corruption)
        alarmed = alarmed or report.alarm
        if turn.off is not None:
            distance = float(distances[number])
            turns.append(TurnReading(number, turn.off, 100.0 - report.score, distance))
    furthest = float(np.max(distances, initial=0.0))
    return ConversationReading(conversation, tuple(turns), corruption, furthest, alarmed)


def _turn_figures(turns: list[TurnReading], conversations: int) -> dict[str, Any]:
    labels = [turn.off for turn in turns]
    return {
        "conversations": conversations,
        "turns": len(turns),
        "off": sum(labels),
        "auc": _rounded(auc(labels, [turn.left for turn in turns])),
        "auc_embedding": _rounded(auc(labels, [turn.distance for turn in turns])),
    }


def _matched(turns: list[TurnReading], values: list[float]) -> float | None:
    """Return the AUC over pairs of turns of the same number, each pair counted once."""
    places = _by(
        (turn.number, (turn.off, value)) for turn, value in zip(turns, values, strict=True)
    )
    wins = total = 0.0
    for pairs in places.values():
        labels = [off for off, _ in pairs]
        share = auc(labels, [value for _, value in pairs])
        weight = sum(labels) * (len(labels) - sum(labels))
        wins, total = wins + (share or 0.0) * weight, total + weight
    return wins / total if total else None


def _alarms(readings: list[ConversationReading]) -> dict[str, Any]:
    attacks = [each.alarmed for each in readings if each.source.attack]
    others = [each.alarmed for each in readings if not each.source.attack]
    return {
        "attacks": len(attacks),
        "attacks_alarmed": sum(attacks),
        "others": len(others),
        "others_alarmed": sum(others),
    }


def _attack_figures(
    attacks: list[ConversationReading], others: list[ConversationReading]
) -> dict[str, Any]:
    both = [*attacks, *others]
    labels = [True] * len(attacks) + [False] * len(others)
    return {
        "auc": _rounded(auc(labels, [each.corruption for each in both])),
        "auc_embedding": _rounded(auc(labels, [each.distance for each in both])),
    }


def _by(named: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    found: dict[K, list[V]] = defaultdict(list)
    for name, value in named:
        found[name].append(value)
    return dict(found)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)
