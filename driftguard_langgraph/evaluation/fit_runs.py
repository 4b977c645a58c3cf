"""Fitting a threshold to recorded runs: the most repeats within a budget of false alarms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.fits import WARN, Fit
from driftguard_langgraph.evaluation.pairs import Progress
from driftguard_langgraph.evaluation.replay import Replay
from driftguard_langgraph.evaluation.scores import Tally
from driftguard_langgraph.evaluation.splitting import split
from driftguard_langgraph.evaluation.steps import Batch, Step
from driftguard_langgraph.evaluation.stream_memory import StreamMemory
from driftguard_langgraph.evaluation.thresholds import standard_error
from driftguard_langgraph.settings import DriftGuardSettings

CANDIDATES = (0.45, 0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80, 0.85)
"""Thresholds that are tried beside the present one; each costs one replay."""

NEEDED_REPEATS, NEEDED_SUCCESSES = 10, 50
"""What each part must hold: with fewer successes the usual budget of one in fifty cannot be
told from none."""


def fit_runs(
    batches: Sequence[Batch],
    settings: DriftGuardSettings,
    embedder: Embedder,
    max_false_alarms: float,
    seed: int,
    progress: Progress,
) -> Fit:
    """Return the threshold to use, with its figures on the streams held out.

    Thresholds within the budget whose recall is within one standard error of the best are
    as good as the best; of these the one nearest to the present threshold is taken.

    Args:
        batches: All steps.
        settings: The present thresholds.
        embedder: Embeds the steps.
        max_false_alarms: Share of the successes that may be warned, 0..1.
        seed: Of the split.
        progress: Told how far the replays are.

    Raises:
        ConfigurationError: There are too few repeats or successes.
        InvalidEpisode: The guard refuses a step.
    """
    present = settings.retrieval_min_similarity
    to_fit, held_out = split(batches, lambda batch: batch[0].stream, seed)
    tried = sorted({*CANDIDATES, present})
    work = _Work(settings, embedder, progress)
    work.total = len(tried) * _steps(to_fit) + 2 * _steps(held_out)
    before = work.tally(held_out, present)
    _check_enough("held out", before)
    at_present = work.tally(to_fit, present)
    _check_enough("fitted", at_present)
    found = {each: at_present if each == present else work.tally(to_fit, each) for each in tried}
    fitted = _best(found, present, max_false_alarms)
    after = before if fitted in (None, present) else work.tally(held_out, fitted or present)
    work.finish()
    return Fit(
        setting=WARN,
        old=present,
        fitted=fitted,
        basis="runs",
        before=_figures(before),
        after=_figures(after),
        better=_holds(before, after, max_false_alarms),
        fitted_on=_steps(to_fit),
        measured_on=_steps(held_out),
        curve=tuple({"threshold": each, **_figures(tally)} for each, tally in found.items()),
    )


class _Work:
    """Replays at several thresholds, and the progress of them all."""

    def __init__(
        self, settings: DriftGuardSettings, embedder: Embedder, progress: Progress
    ) -> None:
        self.total = 0
        self._done = 0
        self._settings = settings
        self._embedder = embedder
        self._progress = progress

    def tally(self, batches: Sequence[Batch], threshold: float) -> Tally:
        settings = self._settings.model_copy(update={"retrieval_min_similarity": threshold})
        streams = Counter(step.stream for batch in batches for step in batch)
        new_memory: Callable[[], StreamMemory] = partial(StreamMemory, self._embedder, settings)
        replay = Replay(new_memory, _stream_of, streams, None)
        for batch in batches:
            replay.run(batch)
            self._done += len(batch)
            self._progress("replaying", self._done, self.total)
        return replay.total

    def finish(self) -> None:
        self._progress("replaying", self.total, self.total)


def _stream_of(step: Step) -> str:
    return step.stream


def _steps(batches: Sequence[Batch]) -> int:
    return sum(map(len, batches))


def _check_enough(part: str, tally: Tally) -> None:
    if tally.repeats < NEEDED_REPEATS or tally.successes < NEEDED_SUCCESSES:
        raise ConfigurationError(
            f"too few runs: the part to be {part} holds {tally.repeats} repeated failures and "
            f"{tally.successes} successes, and needs {NEEDED_REPEATS} and {NEEDED_SUCCESSES}. "
            "Give more files, or keep the present thresholds."
        )


def _best(found: dict[float, Tally], present: float, budget: float) -> float | None:
    allowed = {each: t for each, t in found.items() if (t.false_alarm_rate or 0.0) <= budget}
    if not allowed:
        return None
    best = max(allowed.values(), key=lambda tally: tally.warned_repeats)
    slack = best.repeats * standard_error(best.warned_repeats, best.repeats)
    floor = best.warned_repeats - slack
    good = [each for each, tally in allowed.items() if tally.warned_repeats >= floor]
    return min(good, key=lambda each: (abs(each - present), each))


def _holds(before: Tally, after: Tally, budget: float) -> bool:
    """Return whether the change keeps what it promises on what was held out."""
    alarms = before.false_alarm_rate or 0.0, after.false_alarm_rate or 0.0
    caught = (after.recall or 0.0) >= (before.recall or 0.0)
    return alarms[1] <= max(budget, alarms[0]) and (caught or alarms[0] > budget)


def _figures(tally: Tally) -> dict[str, float | None]:
    values = tally.to_dict()
    return {name: values[name] for name in ("recall", "false_alarm_rate", "warning_precision")}
