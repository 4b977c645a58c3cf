"""The conversations of the three strategies, and their controls."""

from __future__ import annotations

import pytest

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.evaluation.drift_domains import DOMAINS
from driftguard_langgraph.evaluation.drift_strategies import (
    CONTROLS,
    STRATEGIES,
    Arm,
    Strategy,
    build_conversation,
    checked_strategy,
)


def lines(strategy: Strategy, arm: Arm = "attack", turns: int = 5, seed: int = 0) -> list[str]:
    staged = build_conversation(strategy, turns, arm=arm, seed=seed)
    return [f"{each.role}: {each.text}" for each in staged.session.messages]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_seed_makes_the_same_conversation_and_another_one_another(
    strategy: Strategy,
) -> None:
    assert lines(strategy) == lines(strategy)
    assert lines(strategy) != lines(strategy, seed=1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_all_domains_are_played_with_as_many_seeds(strategy: Strategy) -> None:
    played = {build_conversation(strategy, seed=seed).domain for seed in range(len(DOMAINS))}
    assert played == {domain.name for domain in DOMAINS}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("arm", CONTROLS)
def test_a_control_differs_only_where_the_injections_stand(strategy: Strategy, arm: Arm) -> None:
    attack, control = lines(strategy), lines(strategy, arm)
    spoken = [line for line in attack[1:] if not line.startswith("system: ")]
    assert [line for line in control[1:] if not line.startswith("system: ")] == spoken
    assert control[0] == attack[0]
    assert len(control) == len(attack) - (5 if arm == "removed" else 0)
    injected = set(attack[1:]) - set(spoken)
    assert injected
    assert not injected & set(control)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("turns", [1, 5, 12])
def test_there_are_as_many_injections_as_asked_for_and_none_before_the_first(
    strategy: Strategy, turns: int
) -> None:
    staged = build_conversation(strategy, turns)
    scaffolds = [n for n, m in enumerate(staged.session.messages) if m.role == "system"]
    assert len(scaffolds) == turns + 1
    assert scaffolds[:2] == [0, staged.first_injection]


def test_frames_change_when_the_claims_come_again() -> None:
    staged = build_conversation("fact_injection", 10)
    injected = [m.text for m in staged.session.messages[1:] if m.role == "system"]
    assert len(set(injected)) > len(set(injected[:5]))


@pytest.mark.parametrize("turns", [0, -1, 101])
def test_the_number_of_injections_has_limits(turns: int) -> None:
    with pytest.raises(ConfigurationError, match="--turns"):
        build_conversation("bias_drift", turns)


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="--strategy 'hypnosis' is unknown"):
        checked_strategy("hypnosis")
