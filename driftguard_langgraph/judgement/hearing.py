"""When the judge is asked, how often, and what becomes of a match then.

Only what is undecided is put to it: a score near the threshold, with no hard difference. A
judge speaks in reviews and in `compare`. It has no say in merging: the graph must come out
the same in every process that writes to it, with or without a judge.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from numbers import Real

import numpy as np

from driftguard_langgraph._locks import ForkSafeLock
from driftguard_langgraph.judgement.judge import Judge
from driftguard_langgraph.judgement.match import HARD_FACTOR
from driftguard_langgraph.types import Action, Match

logger = logging.getLogger(__name__)

MAX_JUDGED_CHARS = 4000
"""A longer text is not put to a judge: cut to fit a prompt or a cross-encoder, it might lose
just the difference. It is far longer than a step usually is, and costs about 1,000 tokens."""

REMEMBERED_PAIRS = 1024
"""Verdicts kept in memory; at the longest texts this is 8 MB."""

PROBABLE = 0.5
"""Probability from which on two steps are taken for the same."""

_Pair = tuple[str, str]


class Arbiter:
    """A judge with its rules and its memory; safe to share among threads.

    Args:
        judge: Who is asked.
        band: How far from the threshold a score is still undecided, 0..1.
        limit: Questions per hearing at most.
    """

    def __init__(self, judge: Judge, band: float, limit: int) -> None:
        self.band = band
        self.limit = limit
        self._judge = judge
        self._lock = ForkSafeLock()
        self._verdicts: OrderedDict[_Pair, bool] = OrderedDict()

    def known(self, pair: _Pair) -> bool | None:
        """Return the verdict about a pair that was judged lately."""
        with self._lock:
            if pair in self._verdicts:
                self._verdicts.move_to_end(pair)
            return self._verdicts.get(pair)

    def ask(self, pair: _Pair) -> bool | None:
        """Put a pair to the judge; None if what it answers is no verdict."""
        same = _truth(self._judge(*pair))
        if same is not None:
            with self._lock:
                self._verdicts[pair] = same
                if len(self._verdicts) > REMEMBERED_PAIRS:
                    self._verdicts.popitem(last=False)
        return same


class Hearing:
    """The questions of one review, or of one comparison.

    A judge that fails is not asked again in the same hearing: the step waits for it.

    Args:
        arbiter: The judge and its rules.
        threshold: Lowest score at which two steps count as the same.
        on_failure: Is told, without any recorded text, when the judge gave no opinion.
    """

    def __init__(
        self, arbiter: Arbiter, threshold: float, on_failure: Callable[[str], None]
    ) -> None:
        self._arbiter = arbiter
        self._threshold = threshold
        self._on_failure = on_failure
        self._left = arbiter.limit

    def settle(self, a: Action, b: Action, match: Match) -> Match:
        """Return the match as the judge decides it; as it is, if there is no verdict."""
        same = self.verdict(a, b, match)
        return match if same is None else self.ruled(match, same=same)

    def verdict(self, a: Action, b: Action, match: Match) -> bool | None:
        """Say whether two steps are the same, None if that is not for the judge to say.

        Args:
            a: One step.
            b: The other.
            match: What was decided without the judge.
        """
        if not self._open(match) or max(len(a.text), len(b.text)) > MAX_JUDGED_CHARS:
            return None
        # Sorted, so that the verdict does not depend on which one was proposed.
        pair = (a.text, b.text) if a.text < b.text else (b.text, a.text)
        known = self._arbiter.known(pair)
        if known is not None or self._left <= 0:
            return known
        self._left -= 1
        return self._asked(pair)

    def ruled(self, match: Match, *, same: bool) -> Match:
        """Return a match with the judge's decision in place of the words'.

        A step that is not the same keeps as much of its score as a hard difference leaves.
        """
        score = max(match.score, self._threshold) if same else match.score * HARD_FACTOR
        return replace(match, score=score, same=same, kind="judged")

    def _open(self, match: Match) -> bool:
        if match.kind in ("exact", "normalized"):
            return False
        hard = match.score <= max(match.similarity, 0.0) * HARD_FACTOR
        return not hard and abs(match.score - self._threshold) <= self._arbiter.band

    def _asked(self, pair: _Pair) -> bool | None:
        try:
            same = self._arbiter.ask(pair)
            problem = "" if same is not None else "its answer was no verdict"
        except Exception as error:  # noqa: BLE001 - a judge is whatever the user gave
            # Somebody else's code, and no reason to stop a step. Its message may quote the
            # texts, so only its type is told.
            same, problem = None, f"it raised {type(error).__name__}"
        if problem:
            self._left = 0
            logger.warning("driftguard decided without the judge: %s", problem)
            self._on_failure(f"the judge gave no opinion: {problem}")
        return same


def _truth(answer: object) -> bool | None:
    if isinstance(answer, bool | np.bool_):
        return bool(answer)
    if not isinstance(answer, Real):
        return None
    probability = float(answer)
    return probability >= PROBABLE if 0.0 <= probability <= 1.0 else None
