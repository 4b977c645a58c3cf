"""Fitting a threshold to labelled pairs: the best balanced accuracy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.evaluation.fits import Fit
from driftguard_langgraph.evaluation.pairs import Pair, Progress, pair_guard
from driftguard_langgraph.evaluation.splitting import split
from driftguard_langgraph.evaluation.thresholds import (
    CANDIDATES,
    Judged,
    agreement,
    best_threshold,
    tried,
)
from driftguard_langgraph.settings import DriftGuardSettings

NEEDED = 20
"""Pairs of each label that each part must hold: fewer, and a rate is uncertain by more than
ten points (standard error of a share of .5)."""

NEVER = -1.0


class PairFitter:
    """Judges the pairs once and fits thresholds to them.

    Args:
        pairs: All labelled pairs.
        settings: The present thresholds, and the embedder.
        embeddings: An embedder instead of the settings' one.
        seed: Of the split.
        progress: Told how far the judging is.

    Raises:
        ConfigurationError: There are too few pairs.
        InvalidEpisode: A pair cannot be compared.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        settings: DriftGuardSettings,
        embeddings: object | None,
        seed: int,
        progress: Progress,
    ) -> None:
        to_fit, held_out = split(pairs, lambda pair: pair.group, seed)
        for part, those in (("fitted", to_fit), ("held out", held_out)):
            _check_enough(part, those)
        judged = judge([*to_fit, *held_out], settings, embeddings, progress)
        self._to_fit, self._held_out = judged[: len(to_fit)], judged[len(to_fit) :]

    def fit(self, setting: str, present: float, lowest: float = 0.0) -> Fit:
        """Return the threshold to use, with its figures on the part held out.

        Args:
            setting: Name of the setting.
            present: Its value.
            lowest: No threshold below this one is taken.
        """
        fitted = best_threshold(self._to_fit, present, lowest)
        before, after = (agreement(self._held_out, each) for each in (present, fitted))
        return Fit(
            setting=setting,
            old=present,
            fitted=fitted,
            basis="pairs",
            before=before.to_dict(),
            after=after.to_dict(),
            better=after.balanced_accuracy >= before.balanced_accuracy,
            fitted_on=len(self._to_fit),
            measured_on=len(self._held_out),
            curve=tuple(
                {"threshold": each, **agreement(self._to_fit, each).to_dict()}
                for each in tried(present, lowest)
            ),
        )


def judge(
    pairs: Sequence[Pair],
    settings: DriftGuardSettings,
    embeddings: object | None,
    progress: Progress,
) -> list[Judged]:
    """Return for every pair up to which threshold it is matched.

    A match is decided by a score against the threshold, unless nothing can make it one (a
    hard difference) or prevent it (the same text): the lowest and the highest threshold
    tell these apart.
    """
    lowest = min(CANDIDATES[0], settings.retrieval_min_similarity)
    lenient = settings.model_copy(update={"retrieval_min_similarity": lowest})
    strict = settings.model_copy(update={"retrieval_min_similarity": 1.0})
    found: list[Judged] = []
    with pair_guard(lenient, embeddings) as low, pair_guard(strict, embeddings) as high:
        for number, pair in enumerate(pairs, 1):
            try:
                match = low.compare(pair.left, pair.right)
                always = match.same and high.compare(pair.left, pair.right).same
            except InvalidEpisode as error:
                raise InvalidEpisode(f"{pair.where}: {error}") from None
            reach = math.inf if always else match.score if match.same else NEVER
            found.append(Judged(pair.same, reach))
            progress("comparing", number, len(pairs))
    return found


def _check_enough(part: str, pairs: Sequence[Pair]) -> None:
    same = sum(pair.same for pair in pairs)
    if min(same, len(pairs) - same) < NEEDED:
        raise ConfigurationError(
            f"too few pairs: the part to be {part} holds {same} the same and "
            f"{len(pairs) - same} different, and needs {NEEDED} of each. Label more pairs, "
            "or keep the present thresholds."
        )
