"""The managed context: what a session was told, to the byte, and what came of the ones before."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from driftguard_langgraph.drift.strategies.base import FewShotExample
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.text.tokens import estimated_tokens

logger = logging.getLogger(__name__)

HEADING = "--- Previous Session Context ---"
"""Stands between the original context and the summaries (context-drift-analyzer's)."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What is told of a session that has ended.

    Attributes:
        session_number: Its number, from 1.
        exchanges: How many exchanges it had.
        score: Its last topic score, 0..100; None if nothing was scored.
        text: The summary, on one line.
    """

    session_number: int
    exchanges: int
    score: float | None
    text: str

    def __str__(self) -> str:
        drift = "not scored" if self.score is None else f"{self.score:.1f}/100"
        return (
            f"[Session {self.session_number} | {self.exchanges} exchanges | drift: {drift}]: "
            f"{self.text}"
        )


def original_context(prompt: str, few_shots: Iterable[FewShotExample]) -> str:
    """Return a system prompt with its examples, as context-drift-analyzer writes it."""
    shown = (f"User: {shot.user}\nAssistant: {shot.assistant}" for shot in few_shots)
    return "\n".join((prompt, *shown))


class ManagedContext:
    """Puts the original context and the summaries together, within a budget.

    The original context is never cut. Summaries go by age, the oldest first.

    Args:
        original: The system prompt with its examples.
        max_summaries: How many summaries are shown at most; 0 shows none.
        token_budget: Most tokens of the whole; None is no limit.
        count_tokens: Counts the tokens of a text; None is `estimated_tokens`. When it fails,
            the estimate stands in.

    Raises:
        ConfigurationError: A number is out of range, or the original context alone is over
            the budget.
    """

    def __init__(
        self,
        original: str,
        *,
        max_summaries: int = 3,
        token_budget: int | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        _check_count(max_summaries, "max_summary_sessions", least=0)
        if count_tokens is not None and not callable(count_tokens):
            raise ConfigurationError("count_tokens must be a callable from a text to a number.")
        self.original = original
        self._most = max_summaries
        self._budget = token_budget
        self._count = count_tokens
        self._built: dict[tuple[SessionSummary, ...], tuple[str, int]] = {}
        if token_budget is not None:
            _check_count(token_budget, "token_budget", least=1)
            self._check_budget(token_budget)

    def _check_budget(self, budget: int) -> None:
        needed = self.count(self.original)
        if needed > budget:
            raise ConfigurationError(
                f"token_budget={budget} is less than the {needed} tokens of the system prompt "
                "and its examples, which are never cut: raise the budget or shorten the prompt."
            )

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        if self._count is None:
            return estimated_tokens(text)
        try:
            return int(self._count(text))
        except Exception as error:  # noqa: BLE001
            logger.warning(
                "driftguard: count_tokens raised %s; tokens are estimated", type(error).__name__
            )
            return estimated_tokens(text)

    def build(self, summaries: Sequence[SessionSummary]) -> tuple[str, int]:
        """Return the managed context and how many tokens it has.

        Args:
            summaries: Those of the sessions that have ended, the oldest first.
        """
        told = tuple(summaries)[max(0, len(summaries) - self._most) :]
        if told not in self._built:
            self._built = {told: self._within_budget(told)}
        return self._built[told]

    def _within_budget(self, told: tuple[SessionSummary, ...]) -> tuple[str, int]:
        for oldest in range(len(told) + 1):
            text = self._joined(told[oldest:])
            tokens = self.count(text)
            if self._budget is None or tokens <= self._budget:
                break
        return text, tokens

    def _joined(self, told: Sequence[SessionSummary]) -> str:
        if not told:
            return self.original
        return "\n".join((self.original, "", HEADING, *map(str, told)))


def _check_count(value: object, name: str, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigurationError(f"{name}={value!r} must be a whole number, {least} or more.")
