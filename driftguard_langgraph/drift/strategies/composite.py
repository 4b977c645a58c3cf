"""Several strategies as one: the weighted mean of their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

from driftguard_langgraph.drift.strategies.base import TopicContext, TopicStrategy
from driftguard_langgraph.errors import ConfigurationError


class CompositeStrategy:
    """Weighs several strategies; one that cannot measure a text has no say in it.

    Args:
        strategies: The strategies; of two with one name the second counts as `name-2`.
        weights: A weight each, 0 or more; None is equal weights. Only their ratio counts.

    Raises:
        ConfigurationError: There is no strategy, or the weights do not fit.
    """

    name = "composite"

    def __init__(
        self, strategies: Sequence[TopicStrategy], weights: Sequence[float] | None = None
    ) -> None:
        if not strategies:
            raise ConfigurationError("a composite needs at least one strategy.")
        given = [1.0] * len(strategies) if weights is None else list(weights)
        if len(given) != len(strategies):
            raise ConfigurationError(
                f"{len(strategies)} strategies need {len(strategies)} weights, not {len(given)}."
            )
        if not all(math.isfinite(weight) and weight >= 0.0 for weight in given) or not sum(given):
            raise ConfigurationError(f"weights={given} must be 0 or more, not all 0.")
        self._parts = tuple(zip(_names(strategies), strategies, given, strict=True))

    @property
    def backend(self) -> str:
        """The backends of its strategies, each once."""
        return " + ".join(dict.fromkeys(part.backend for _, part, _ in self._parts))

    def score(self, said: str, context: TopicContext) -> float | None:
        """Return the weighted mean of the scores; see `TopicStrategy`."""
        return self.breakdown(said, context).get(self.name)

    def breakdown(self, said: str, context: TopicContext) -> dict[str, float]:
        """Return the score of each strategy that can measure a text, and `composite`.

        Returns:
            Scores of 0 to 100 by name; empty if no strategy with a weight can measure it.
        """
        scores: dict[str, float] = {}
        total = weighed = 0.0
        for name, strategy, weight in self._parts:
            score = strategy.score(said, context)
            if score is not None:
                scores[name] = score
                total += weight * score
                weighed += weight
        return scores | {self.name: total / weighed} if weighed else {}


def scores_of(strategy: TopicStrategy, said: str, context: TopicContext) -> dict[str, float]:
    """Return the scores of a strategy by name, of a composite its parts' too.

    Args:
        strategy: Any strategy.
        said: The words of the newest turn.
        context: The purpose of the session.

    Returns:
        Scores of 0 to 100; the strategy's own is under its name. Empty if there is none.
    """
    if isinstance(strategy, CompositeStrategy):
        return strategy.breakdown(said, context)
    score = strategy.score(said, context)
    return {} if score is None else {strategy.name: score}


def _names(strategies: Sequence[TopicStrategy]) -> list[str]:
    names: list[str] = []
    for strategy in strategies:
        name, number = strategy.name, 1
        while name in names or name == CompositeStrategy.name:
            number += 1
            name = f"{strategy.name}-{number}"
        names.append(name)
    return names
