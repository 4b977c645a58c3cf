"""How much evidence silences a warning."""

from __future__ import annotations

from driftguard_langgraph.judgement.muting import CREDIBILITY, MIN_SUCCESSES, SAMPLE, is_noise

STEPS = 20_000


def posterior_above_half(successes: int) -> float:
    """Integrate the likelihood of that many successes over the shares above one half."""
    weights = [((i + 0.5) / STEPS) ** successes for i in range(STEPS)]
    return sum(weights[STEPS // 2 :]) / sum(weights)


def test_a_warning_is_noise_once_it_is_credibly_wrong_more_often_than_right() -> None:
    for successes in range(SAMPLE):
        assert is_noise(successes) == (posterior_above_half(successes) >= CREDIBILITY)


def test_fewer_successes_than_the_least_are_never_enough() -> None:
    assert MIN_SUCCESSES == 4
    assert not any(is_noise(successes) for successes in range(MIN_SUCCESSES))
