"""What a topic strategy is: a measure of what is said against the context of its session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from driftguard_langgraph.errors import ConfigurationError

ScoreMap = Literal["calibrated", "zones"]
"""How a likeness becomes a score: calibrated, or by the fixed rules of context-drift-analyzer."""


@dataclass(frozen=True)
class FewShotExample:
    """An exchange that shows what the session is for.

    Attributes:
        user: What the user asks.
        assistant: What a good answer is.
    """

    user: str
    assistant: str


def checked_few_shots(given: object) -> tuple[FewShotExample, ...]:
    """Return few-shot examples; a pair of texts is one, too, and None is no examples.

    Raises:
        ConfigurationError: They are something else.
    """
    if given is None:
        return ()
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        found = [FewShotExample(*one) if _is_pair(one) else one for one in given]
        if all(isinstance(one, FewShotExample) for one in found):
            return tuple(found)
    raise ConfigurationError(
        "few_shot_examples must be FewShotExample objects or pairs (user, assistant), "
        f"not {given!r}."
    )


def _is_pair(one: object) -> bool:
    return isinstance(one, tuple | list) and len(one) == 2 and all(isinstance(x, str) for x in one)


@dataclass(frozen=True, slots=True)
class TopicContext:
    """What a turn is measured against.

    Attributes:
        text: The whole baseline with its few-shot examples.
        pieces: The same in pieces of at most 800 characters, and in sentences.
        opening: The first turns of the session that were on purpose.
        opening_weight: How much those count, 0..1.
    """

    text: str
    pieces: tuple[str, ...]
    opening: tuple[str, ...] = ()
    opening_weight: float = 1.0


@runtime_checkable
class TopicStrategy(Protocol):
    """Measures what is said. Implementations are thread-safe and know no session."""

    @property
    def name(self) -> str:
        """Its name in `strategy_scores`."""

    @property
    def backend(self) -> str:
        """What measures meaning: the embedding model's id, or `lexical`."""

    def score(self, said: str, context: TopicContext) -> float | None:
        """Return how far something that is said serves the context.

        Args:
            said: The words of the newest turn: what the user said, or what the user said and
                the answer to it.
            context: The purpose of the session.

        Returns:
            0 (foreign) to 100 (on purpose), of this turn alone; None if it cannot be
            measured.

        Raises:
            EmbeddingError: The model behind it failed.
        """
