"""Labelled pairs of actions: does the guard say "the same" where people do?

A file holds one JSON object a line (or one list of them): `text_a`, `text_b` (words, or a
tool call `{"name", "args"}`), `same` (true or false); optional `kind`, `tier` and `group`.
Each tier is scored apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.baselines import SAME_TEXT, folded
from driftguard_langgraph.evaluation.pair_scores import OURS, Decision, PairsResult, TierScores
from driftguard_langgraph.evaluation.readers import check_readable, json_entries
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.actions import as_action
from driftguard_langgraph.text.validation import TextLimits

COSINE = 0.72
"""Threshold of the plain-cosine baseline: the merge threshold of actions that DriftGuard
described first (its configuration reference)."""

ALWAYS = "always same"
NEAR = f"cosine {COSINE:.2f}"

DEFAULT_TIER = "core"
"""Tier of a pair that names none."""

Progress = Callable[[str, int, int], None]

Words = str | dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two actions and whether they are the same.

    Attributes:
        where: File and line.
        left: One action.
        right: The other.
        same: The label.
        kind: What kind of pair it is.
        tier: Which part of the file it belongs to.
        group: Pairs of one group have something in common and stay together in a split.
    """

    where: str
    left: Words
    right: Words
    same: bool
    kind: str
    tier: str
    group: str


def is_pair(entry: Any) -> bool:
    """Return whether an entry is a labelled pair."""
    return isinstance(entry, Mapping) and "text_a" in entry and "text_b" in entry


def read_pairs(path: Path, progress: Progress | None = None) -> list[Pair]:
    """Return the pairs of a file.

    Args:
        path: The file.
        progress: Told how many bytes of it are read.

    Raises:
        ConfigurationError: It cannot be opened, or holds no pair.
        InvalidEpisode: An entry is no labelled pair.
    """
    check_readable(path)
    size, tell = path.stat().st_size, progress or _silent
    pairs = [
        as_pair(entry, where)
        for where, entry in json_entries(path, lambda done: tell("reading", done, size))
    ]
    if not pairs:
        raise ConfigurationError(f"{path}: holds no pair. Give one with text_a, text_b and same.")
    return pairs


def as_pair(entry: Any, where: str) -> Pair:
    """Return one parsed entry as a pair.

    Raises:
        InvalidEpisode: It is no labelled pair.
    """
    if isinstance(entry, InvalidEpisode):
        raise entry
    if not isinstance(entry, Mapping) or not isinstance(entry.get("same"), bool):
        raise InvalidEpisode(f"{where}: a pair needs text_a, text_b, and 'same' as true or false.")
    left, right = (_words(entry, name, where) for name in ("text_a", "text_b"))
    return Pair(
        where=where,
        left=left,
        right=right,
        same=entry["same"],
        kind=str(entry.get("kind") or "unnamed"),
        tier=str(entry.get("tier") or DEFAULT_TIER),
        group=str(entry.get("group") or left),
    )


def score_pairs(
    path: Path,
    *,
    settings: DriftGuardSettings | None = None,
    embeddings: object | None = None,
    progress: Progress | None = None,
) -> PairsResult:
    """Compare every pair of a file and count how often the decision agrees with the label.

    Args:
        path: The file.
        settings: Thresholds and embedder of the guard; the user's own by default.
        embeddings: An embedder, or LangChain `Embeddings`, instead of the settings' one.
        progress: Told how far the work is.

    Raises:
        ConfigurationError: The file cannot be opened, or holds no pair.
        InvalidEpisode: An entry is no labelled pair, or its text cannot be compared.
    """
    pairs = read_pairs(path, progress)
    settings = settings or DriftGuardSettings()
    limits = TextLimits.of(settings)
    tell = progress or _silent
    tiers: dict[str, TierScores] = {}
    with pair_guard(settings, embeddings) as guard:
        started = time.perf_counter()
        for number, pair in enumerate(pairs, 1):
            scores = tiers.setdefault(pair.tier, TierScores())
            scores.add(pair.same, pair.kind, _decisions(guard, pair, limits))
            tell("comparing", number, len(pairs))
        return PairsResult(
            file=str(path),
            tiers=dict(sorted(tiers.items())),
            seconds=time.perf_counter() - started,
            model_id=resolve_embedder(embeddings, settings).model_id,
        )


@contextmanager
def pair_guard(
    settings: DriftGuardSettings, embeddings: object | None = None
) -> Iterator[DriftGuard]:
    """Open a guard that compares, with a memory apart from the user's."""
    with (
        EphemeralMemoryStore() as store,
        DriftGuard(store=store, embeddings=embeddings, settings=settings) as guard,
    ):
        yield guard


def _decisions(guard: DriftGuard, pair: Pair, limits: TextLimits) -> dict[str, Decision]:
    """Return what the guard and the baselines say about a pair, the guard first."""
    try:
        match = guard.compare(pair.left, pair.right)
    except InvalidEpisode as error:
        raise InvalidEpisode(f"{pair.where}: {error}") from None
    left, right = (folded(as_action(side, limits).text) for side in (pair.left, pair.right))
    return {
        OURS: Decision(match.score, match.same),
        ALWAYS: Decision(1.0, same=True),
        SAME_TEXT: Decision(float(left == right), left == right),
        NEAR: Decision(match.similarity, match.similarity >= COSINE),
    }


def _words(entry: Mapping[str, Any], name: str, where: str) -> Words:
    value = entry.get(name)
    if isinstance(value, str | dict):
        return value
    raise InvalidEpisode(f"{where}: '{name}' must be words, or a tool call with 'name' and 'args'.")


def _silent(phase: str, done: int, total: int) -> None:
    """Report nothing."""
