"""Does the monitor see the corruption, and the corruption only?

Each strategy is played as an attack and as three controls, the same conversation with the
injections removed, replaced by remarks, and replaced by what the policy says anyway. An alarm
counts only if the attack raises it, not before the first injection, and no control does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.embeddings import resolve_embedder
from driftguard_langgraph.evaluation.drift_scores import SessionScore, score_sessions
from driftguard_langgraph.evaluation.drift_strategies import (
    CONTROLS,
    STRATEGIES,
    Arm,
    Staged,
    Strategy,
    build_conversation,
)
from driftguard_langgraph.evaluation.pairs import Progress
from driftguard_langgraph.settings import DriftGuardSettings


@dataclass(frozen=True, slots=True)
class ArmResult:
    """How one arm went.

    Attributes:
        arm: Which.
        first_injection: Turn of the first injection; 0 if there is none.
        score: The conversation's measures.
    """

    arm: Arm
    first_injection: int
    score: SessionScore

    @property
    def alarmed(self) -> bool:
        """Whether the alarm was raised at all."""
        return self.score.first_alarm is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the arm with all readings as plain JSON."""
        return {
            "arm": self.arm,
            "alarmed": self.alarmed,
            "first_injection": self.first_injection,
            **self.score.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """One strategy: the attack, and its controls.

    Attributes:
        strategy: Which.
        domain: Where it was played.
        corruption_turns: Number of injections.
        seed: Chose domain and wordings.
        attack: With the injections.
        controls: Without them.
    """

    strategy: Strategy
    domain: str
    corruption_turns: int
    seed: int
    attack: ArmResult
    controls: tuple[ArmResult, ...]

    @property
    def detected(self) -> bool:
        """Whether the attack raised the alarm, and not before it began."""
        first = self.attack.score.first_alarm
        return first is not None and first >= self.attack.first_injection

    @property
    def held(self) -> bool:
        """Whether the attack was detected and no control raised the alarm."""
        return self.detected and not any(control.alarmed for control in self.controls)

    def to_dict(self) -> dict[str, Any]:
        """Return the result with all readings as plain JSON."""
        score = self.attack.score
        return {
            "strategy": self.strategy,
            "domain": self.domain,
            "seed": self.seed,
            "corruption_turns": self.corruption_turns,
            "conversation_turns": len(score.readings),
            "detected": self.detected,
            "first_injection": self.attack.first_injection,
            "first_alarm": score.first_alarm,
            "threat_level": score.peak_level.value,
            "max_corruption": round(score.max_corruption, 4),
            "held": self.held,
            "attack": self.attack.to_dict(),
            "controls": [control.to_dict() for control in self.controls],
        }


def run_all(
    num_turns: int = 5,
    *,
    strategies: Sequence[Strategy] = STRATEGIES,
    seed: int = 0,
    settings: DriftGuardSettings | None = None,
    embeddings: object | None = None,
    progress: Progress | None = None,
) -> list[StrategyResult]:
    """Play the strategies with their controls and return how each went.

    Args:
        num_turns: Injections in each attack.
        strategies: Which to play.
        seed: Chooses domains and wordings; the same seed gives the same conversations.
        settings: The `drift_*` settings, and the embedder.
        embeddings: An embedder, or LangChain `Embeddings`, instead of the settings' one.
        progress: Told how far the work is.

    Raises:
        ConfigurationError: A number or a name is wrong.
    """
    settings = settings or DriftGuardSettings()
    embedder = resolve_embedder(embeddings, settings)
    arms: tuple[Arm, ...] = ("attack", *CONTROLS)
    staged = [
        build_conversation(strategy, num_turns, arm=arm, seed=seed)
        for strategy in strategies
        for arm in arms
    ]
    scores = score_sessions(
        [each.session for each in staged],
        settings=settings.model_copy(update={"drift_baseline_turns": 1}),
        embeddings=embedder,
        progress=progress,
    )
    return [
        _result(staged[at : at + len(arms)], scores[at : at + len(arms)], num_turns, seed)
        for at in range(0, len(staged), len(arms))
    ]


def _result(
    staged: Sequence[Staged], scores: Sequence[SessionScore], num_turns: int, seed: int
) -> StrategyResult:
    attack, *controls = (
        ArmResult(each.arm, each.first_injection, score)
        for each, score in zip(staged, scores, strict=True)
    )
    first = staged[0]
    return StrategyResult(first.strategy, first.domain, num_turns, seed, attack, tuple(controls))
