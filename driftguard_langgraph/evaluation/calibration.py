"""Fitting thresholds to the user's own data.

Labelled pairs and recorded runs answer different questions, so each fits what it knows:
runs fit `retrieval_min_similarity` for the most repeats warned within a budget of false
alarms; pairs fit the merge threshold `similarity_threshold_action`, and without runs
`retrieval_min_similarity` too, for the best balanced accuracy. Merging never gets more
lenient than warning: what was merged stays merged.

A part of the pairs and of the streams is held out, and a change is proposed only if it is
no worse there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.failures import FailurePredicate, looks_failed
from driftguard_langgraph.evaluation.fit_pairs import PairFitter
from driftguard_langgraph.evaluation.fit_runs import fit_runs
from driftguard_langgraph.evaluation.fits import MERGE, WARN, Calibration, Fit
from driftguard_langgraph.evaluation.formats.checkpoints import is_database
from driftguard_langgraph.evaluation.formats.registry import checked_format
from driftguard_langgraph.evaluation.pairs import Pair, Progress, is_pair, read_pairs
from driftguard_langgraph.evaluation.readers import check_readable, json_entries, read_batches
from driftguard_langgraph.evaluation.steps import Batch
from driftguard_langgraph.settings import DriftGuardSettings

MAX_FALSE_ALARMS = 0.02
"""Share of the successful steps that may be warned, unless the user says otherwise: one in
fifty, which somebody who reads the warnings still takes seriously."""

TEXTS_PER_STEP = 4
"""Texts that are embedded for one step: action, feedback, outcome, and its plain words."""


def calibrate(
    paths: Sequence[Path],
    *,
    max_false_alarms: float = MAX_FALSE_ALARMS,
    seed: int = 0,
    format: str | None = None,
    settings: DriftGuardSettings | None = None,
    embeddings: object | None = None,
    is_failure: FailurePredicate = looks_failed,
    progress: Progress | None = None,
) -> Calibration:
    """Fit thresholds to labelled pairs, to recorded runs, or to both.

    Args:
        paths: The files; whether one holds pairs or runs is told by its first entry.
        max_false_alarms: Share of the successful steps that may be warned, 0..1.
        seed: Of the split into a part to fit and a part to measure on.
        format: Of the recorded runs; told by the content if None.
        settings: The present thresholds, and the embedder.
        embeddings: An embedder, or LangChain `Embeddings`, instead of the settings' one.
        is_failure: Decides about results of which a log does not say how they went.
        progress: Told how far the work is.

    Raises:
        ConfigurationError: A file cannot be opened, or there is too little to fit.
        InvalidEpisode: An entry is not valid.
    """
    if not 0 <= max_false_alarms <= 1:
        raise ConfigurationError(f"--max-false-alarms {max_false_alarms}: must be from 0 to 1.")
    tell = progress or (lambda phase, done, total: None)
    pairs, batches = _read(paths, checked_format(format), is_failure)
    settings = _with_cache(settings or DriftGuardSettings(), len(pairs), sum(map(len, batches)))
    embedder = resolve_embedder(embeddings, settings)
    fits: list[Fit] = []
    if batches:
        fits.append(fit_runs(batches, settings, embedder, max_false_alarms, seed, tell))
    if pairs:
        fitter = PairFitter(pairs, settings, embedder, seed, tell)
        if not fits:
            fits.append(fitter.fit(WARN, settings.retrieval_min_similarity))
        fits.append(fitter.fit(MERGE, settings.similarity_threshold_action, fits[0].new))
    return Calibration(tuple(fits), embedder.model_id, seed, max_false_alarms)


def _read(
    paths: Sequence[Path], format: str | None, is_failure: FailurePredicate
) -> tuple[list[Pair], list[Batch]]:
    pairs: list[Pair] = []
    batches: list[Batch] = []
    for path in paths:
        check_readable(path)
        if _holds_pairs(path):
            pairs += read_pairs(path)
        else:
            batches += read_batches(path, format=format, is_failure=is_failure)
    if not pairs and not batches:
        names = ", ".join(map(str, paths))
        raise ConfigurationError(f"nothing to fit in {names}: neither pairs nor steps.")
    return pairs, batches


def _holds_pairs(path: Path) -> bool:
    if is_database(path):
        return False
    first = next(json_entries(path, lambda read: None), None)
    return first is not None and is_pair(first[1])


def _with_cache(settings: DriftGuardSettings, pairs: int, steps: int) -> DriftGuardSettings:
    """Return the settings with room for every vector: each is needed at every threshold."""
    room = max(settings.embedding_cache_size, 2 * pairs + TEXTS_PER_STEP * steps)
    return settings.model_copy(update={"embedding_cache_size": room, "on_store_error": "closed"})
