"""The topic score: how far the newest turns serve what the session was opened for.

A user's message and the answer to it are one exchange: the message alone is scored when it
comes, and the exchange replaces that when the answer is there. Exchanges are smoothed in
log-odds, where the evidence of several turns adds up; so one odd turn is no drift, and an
excursion is forgotten soon after it ends. What says nothing about a topic changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from driftguard_langgraph.drift.reading.chunks import chunked
from driftguard_langgraph.drift.reading.smalltalk import is_content_free, is_refusal, said_in
from driftguard_langgraph.drift.strategies.base import FewShotExample, TopicContext, TopicStrategy
from driftguard_langgraph.drift.strategies.composite import scores_of
from driftguard_langgraph.drift.strategies.scale import LIMIT, level_of, score_of
from driftguard_langgraph.drift.turns import MAX_CHARS, Channel, Turn
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.settings import DriftGuardSettings

_MEASURED_CHARS = 1_000
"""How much of a message is measured: what it is about stands at its beginning, and embedding
costs about 0.1 s per 1,000 characters."""

_FOREIGN = 20.0
"""A first turn that scores less is no opening: who starts elsewhere does not move the home. A
context that names no purpose gives no turn so little."""


@dataclass(frozen=True, slots=True)
class TopicReading:
    """What is known about the topic after a turn.

    Attributes:
        score: The smoothed score of the session, 0..100 (100 = on purpose).
        abstained: Whether the turn said nothing that could be scored; the score is then the
            one before.
        strategy_scores: Score of this turn alone by strategy, 0..100; empty if it abstained.
        backend: What measured meaning: the embedding model's id, or `lexical`.
    """

    score: float
    abstained: bool
    strategy_scores: dict[str, float] = field(default_factory=dict)
    backend: str = ""


@dataclass(slots=True)
class _State:
    """What is known of the session; all of it is JSON.

    Attributes:
        score: Score after the last turn.
        settled: Log-odds after the last exchange that is over.
        current: Log-odds after the last turn.
        user: What the user said since; "" when it was answered.
        opening: The first texts that were on purpose.
        window: The last answers, where several are scored as one.
        exchanges: Number of the user's messages, for the decay.
    """

    score: float = 100.0
    settled: float = LIMIT
    current: float = LIMIT
    user: str = ""
    opening: list[str] = field(default_factory=list)
    window: list[str] = field(default_factory=list)
    exchanges: int = 0


class TopicScore:
    """Measures a session turn by turn against its context. A turn costs the same at any time.

    Args:
        context: The baseline: system prompt, first messages.
        few_shots: Examples that belong to it.
        strategy: What measures a turn.
        settings: The `drift_*` settings of the topic: smoothing, opening, decay, window and
            floor.
    """

    def __init__(
        self,
        context: str,
        few_shots: Sequence[FewShotExample],
        strategy: TopicStrategy,
        settings: DriftGuardSettings,
    ) -> None:
        shots = [f"User: {shot.user}\nAssistant: {shot.assistant}" for shot in few_shots]
        self._text = "\n".join([context, *shots]).strip()
        self._pieces = chunked((context, *shots))
        self._strategy = strategy
        self._settings = settings
        self._state = _State()

    def observe(self, turn: Turn) -> TopicReading:
        """Return the reading after a turn.

        Only what the user and the assistant say is measured: what a tool returns is data,
        and scaffolds are the context itself.

        Raises:
            EmbeddingError: The strategy's model failed; nothing has changed then.
        """
        text = said_in(turn.text, _MEASURED_CHARS)
        if not text or turn.channel not in {Channel.USER, Channel.ASSISTANT}:
            return self._abstained()
        refused = turn.channel is Channel.ASSISTANT and is_refusal(text)
        said = self._newest(turn.channel, text, refused)
        scores = scores_of(self._strategy, said, self._context()) if said else {}
        now = scores.get(self._strategy.name)
        self._keep(turn.channel, text)
        if said:
            self._open(text, now)
        if now is not None:
            self._move(self._settings.drift_smoothing, level_of(now))
        elif refused:
            self._move(0.0, 0.0)
        if turn.channel is Channel.ASSISTANT:
            self._state.settled = self._state.current
        if now is None:
            return self._abstained()
        return TopicReading(self._state.score, False, scores, self._strategy.backend)

    def _context(self) -> TopicContext:
        weight = self._settings.drift_opening_weight
        return TopicContext(self._text, self._pieces, tuple(self._state.opening), weight)

    def _newest(self, channel: Channel, text: str, refused: bool) -> str:
        """Return what is to be scored now; "" if it says nothing about a topic."""
        if self._settings.drift_topic_window != 1:
            silent = channel is Channel.USER or is_content_free(text)
            return "" if silent else " ".join(self._windowed(text))
        # A refusal is the assistant's own: it does not follow the user out of its purpose.
        answers = channel is Channel.ASSISTANT and not refused
        if is_content_free(text):
            return ""
        return f"{self._state.user} {text}".strip() if answers else text

    def _windowed(self, text: str) -> list[str]:
        size = self._settings.drift_topic_window
        kept = [*self._state.window, text]
        kept = kept[-size:] if size else kept
        while len(kept) > 1 and sum(map(len, kept)) > MAX_CHARS:
            kept = kept[1:]
        return kept

    def _keep(self, channel: Channel, text: str) -> None:
        """Keep what the next turns are read with."""
        state = self._state
        if channel is Channel.USER:
            state.exchanges += 1
            state.user = f"{state.user} {text}".strip()[-_MEASURED_CHARS:]
            return
        state.user = ""
        if self._settings.drift_topic_window != 1 and not is_content_free(text):
            state.window = self._windowed(text)

    def _open(self, text: str, now: float | None) -> None:
        """Keep a first text, also one that there is nothing yet to compare with."""
        opening = self._state.opening
        home = now is None or now >= _FOREIGN
        if home and len(opening) < self._settings.drift_opening_turns:
            opening.append(text)

    def _move(self, share: float, level: float) -> None:
        """Move the session from where the last exchange left it by a share towards a level."""
        state, settings = self._state, self._settings
        state.current = (1.0 - share) * state.settled + share * level
        score = score_of(state.current)
        score *= settings.drift_decay_rate ** (state.exchanges / 2.0)
        state.score = min(score, state.score) if settings.drift_score_floor else score

    def _abstained(self) -> TopicReading:
        return TopicReading(self._state.score, True, {}, self._strategy.backend)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain JSON types."""
        return asdict(self._state)

    def restore(self, data: Mapping[str, Any]) -> None:
        """Go on where a snapshot ends.

        Raises:
            ConfigurationError: It is none.
        """
        try:
            self._state = _State(
                score=float(data["score"]),
                settled=float(data["settled"]),
                current=float(data["current"]),
                user=str(data["user"]),
                opening=[str(text) for text in data["opening"]],
                window=[str(text) for text in data["window"]],
                exchanges=int(data["exchanges"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(
                f"this is no snapshot of a topic score: {error!r}. Pass what `snapshot` returned."
            ) from error
