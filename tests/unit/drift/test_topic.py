from __future__ import annotations

import json
from itertools import cycle, islice
from typing import Any

import pytest

from driftguard_langgraph.drift.report import DriftVerdict, verdict_of
from driftguard_langgraph.drift.strategies.base import FewShotExample, TopicContext
from driftguard_langgraph.errors import ConfigurationError, EmbeddingError
from driftguard_langgraph.settings import DriftGuardSettings
from tests.unit.drift.topic_samples import (
    COINS,
    GARDEN,
    GARDENING,
    INCIDENT,
    ONCALL,
    Exchanges,
    say,
    talk,
    topic,
)


class Scripted:
    """A strategy that gives each text the score of its first known word."""

    name = "scripted"
    backend = "script"

    def __init__(self, **scores: float) -> None:
        self.scores = scores
        self.said: list[str] = []
        self.contexts: list[TopicContext] = []

    def score(self, said: str, context: TopicContext) -> float | None:
        self.said.append(said)
        self.contexts.append(context)
        return next((v for word, v in self.scores.items() if word in said), None)


@pytest.mark.parametrize(("context", "turns"), [(GARDEN, GARDENING), (ONCALL, INCIDENT)])
def test_thirty_and_sixty_turns_on_purpose_end_fresh(context: str, turns: Exchanges) -> None:
    scores = talk(topic(context), islice(cycle(turns), 60))
    assert verdict_of(scores[29]) is verdict_of(scores[59]) is DriftVerdict.FRESH
    assert min(scores) >= 75


@pytest.mark.parametrize(("context", "turns"), [(GARDEN, GARDENING), (ONCALL, INCIDENT)])
def test_an_excursion_lowers_the_score_and_three_turns_at_home_bring_it_back(
    context: str, turns: Exchanges
) -> None:
    score = topic(context)
    before = talk(score, turns[:6])
    away = talk(score, COINS)
    back = talk(score, turns[:3])
    assert min(before) > 90
    assert min(away) < 55
    assert back[-1] >= 75
    assert back[-1] > back[0] > away[-1]


def test_one_foreign_turn_is_no_severe_drift() -> None:
    score = topic(GARDEN)
    talk(score, GARDENING[:5])
    assert talk(score, COINS[:1])[0] >= 55


def test_a_context_without_a_purpose_takes_it_from_the_opening_and_is_never_left_for_good() -> None:
    score = topic("You are a helpful assistant.")
    assert min(talk(score, GARDENING[:6])) >= 75
    away = talk(score, COINS)
    assert 55 <= min(away) < 90
    assert talk(score, GARDENING[:4])[-1] >= 90


def test_the_answer_replaces_the_provisional_reading_of_the_question() -> None:
    strategy = Scripted(tulips=0.0, spade=100.0)
    score = topic("beds", strategy=strategy)
    asked = say(score, ("user", "sell me tulips"))
    answered = say(score, ("assistant", "a spade"))
    # The exchange is one text, and its first known word decides.
    assert strategy.said == ["sell me tulips", "sell me tulips a spade"]
    assert answered.score == asked.score < 60


def test_an_answer_without_content_leaves_the_question_to_count() -> None:
    score = topic("beds", strategy=Scripted(tulips=0.0))
    asked = say(score, ("user", "sell me tulips"))
    answered = say(score, ("assistant", "Sure, which ones would you like?"))
    assert answered.abstained
    assert answered.score == asked.score
    assert say(score, ("user", "red tulips")).score < asked.score


def test_a_refusal_does_not_follow_the_user_out_of_the_purpose() -> None:
    score = topic(GARDEN)
    talk(score, GARDENING[:4])
    asked = say(score, ("user", "Which bitcoin exchange has the lowest trading fees?"))
    refused = say(score, ("assistant", "I'm sorry, I can't help with that."))
    assert refused.abstained
    assert refused.score > asked.score
    assert refused.score >= 90


@pytest.mark.parametrize(
    "message",
    [
        ("assistant", "Hello! How can I help you today?"),
        ("user", "ok thanks, bye"),
        ("user", "Yes, the second one"),
        ("user", "no"),
        ("user", ""),
        ("user", None),
        ("user", "🎉🎉"),
        ("assistant", '{"status": "ok", "items": [{"id": 3, "sku": "A-77"}]}'),
        {"role": "assistant", "content": "", "tool_calls": [{"name": "lookup", "args": {}}]},
        ("tool", "Bitcoin closed at a record high after the halving of the rewards."),
        ("system", "Talk about bitcoin, football and films."),
        ("user", "Quiero reservar un vuelo barato para el jueves por la mañana"),
        ("user", "我想订一张去上海的机票，最好是明天早上出发。"),
        ("user", "Ich möchte morgen früh ein Konto bei einer Bank eröffnen"),
    ],
)
def test_what_says_nothing_measurable_abstains_and_keeps_the_score(message: object) -> None:
    score = topic(GARDEN)
    first = say(score, message)
    assert first.abstained
    assert first.score == 100.0
    assert first.strategy_scores == {}
    talk(score, [*GARDENING[:2], *COINS[:2]])
    before = say(score, ("user", "Which coins should I buy for my retirement savings?"))
    assert say(score, message).score == before.score < 75


@pytest.mark.parametrize(
    "text", ["", "\ud800", "a" * 1_000_000, "[" * 50_000, " _a" * 20_000, "\0\0", "x " * 30_000]
)
@pytest.mark.parametrize("context", ["", "   ", "🏦", "Vous aidez les jardiniers.", GARDEN])
def test_no_text_and_no_context_makes_it_fail(text: str, context: str) -> None:
    score = topic(context)
    assert 0.0 <= say(score, ("user", text), ("assistant", text)).score <= 100.0


def test_without_a_measurable_context_the_opening_is_what_is_measured_against() -> None:
    score = topic("")
    assert say(score, ("user", GARDENING[2][0])).abstained
    assert talk(score, GARDENING[2:6])[-1] > 75


def test_few_shots_belong_to_the_context() -> None:
    shots = [FewShotExample(asked, answered) for asked, answered in COINS]
    plain, with_shots = topic(GARDEN), topic(GARDEN, few_shots=shots)
    assert talk(with_shots, COINS)[-1] > 75 > talk(plain, COINS)[-1]


def test_a_session_that_starts_elsewhere_does_not_make_that_its_home() -> None:
    score = topic(GARDEN)
    assert talk(score, COINS)[-1] < 55
    assert talk(score, GARDENING[:4])[-1] > 75


def test_only_first_turns_that_are_on_purpose_become_the_opening() -> None:
    strategy = Scripted(tulips=90.0, coins=5.0)
    score = topic("beds", strategy=strategy, settings=DriftGuardSettings(drift_opening_turns=2))
    for text in ("coins", "red tulips", "coins again", "blue tulips", "white tulips"):
        say(score, ("user", text), ("assistant", "all done"))
    say(score, ("user", "yellow tulips"))
    assert strategy.contexts[-1].opening == ("red tulips", "blue tulips")


def test_smoothing_of_one_is_the_score_of_the_turn_itself() -> None:
    settings = DriftGuardSettings(drift_smoothing=1.0)
    score = topic("beds", strategy=Scripted(tulips=37.5, spade=100.0), settings=settings)
    assert say(score, ("user", "tulips")).score == pytest.approx(37.5)
    assert say(score, ("assistant", "bulbs")).strategy_scores == {"scripted": 37.5}
    assert say(score, ("user", "spade")).score == pytest.approx(100.0)


def test_a_constant_score_is_where_the_smoothed_one_settles() -> None:
    score = topic("beds", strategy=Scripted(tulips=80.0))
    settled = talk(score, [("tulips", "fine tulips")] * 20)[-1]
    assert settled == pytest.approx(80.0, abs=0.1)


def test_decay_floor_and_window_are_context_drift_analyzers_with_its_preset() -> None:
    settings = DriftGuardSettings.context_drift_preset()
    strategy = Scripted(weeds=40.0, tulips=100.0)
    score = topic("beds", strategy=strategy, settings=settings)
    assert say(score, ("user", "weeds everywhere")).abstained
    assert say(score, ("assistant", "tulips one")).score == pytest.approx(100 * 0.95**0.5)
    scores = talk(score, [("more", f"tulips {name}") for name in ("beds", "bulbs", "pots")])
    assert scores[-1] == pytest.approx(100 * 0.95**2)
    low = talk(score, [("more", "weeds and tulips")])[-1]
    assert low == pytest.approx(40 * 0.95**2.5)
    assert talk(score, [("more", "tulips")] * 9)[-1] <= low
    assert strategy.said[3] == "tulips one tulips beds tulips bulbs tulips pots"
    assert strategy.said[-1].count("tulips") == 5


def test_the_preset_takes_overrides() -> None:
    settings = DriftGuardSettings.context_drift_preset(drift_score_floor=False)
    assert not settings.drift_score_floor
    assert settings.drift_score_map == "zones"
    with pytest.raises(ConfigurationError, match="drift_decay_rate"):
        DriftGuardSettings.context_drift_preset(drift_decay_rate=0.0)


def test_a_window_of_zero_is_all_answers() -> None:
    settings = DriftGuardSettings(drift_topic_window=0)
    strategy = Scripted(tulips=50.0)
    score = topic("beds", strategy=strategy, settings=settings)
    talk(score, [("more", f"tulips {number} pots") for number in range(9)])
    assert strategy.said[-1].count("tulips") == 9


def test_a_restored_session_goes_on_as_the_one_that_was_not_interrupted() -> None:
    whole, first = topic(GARDEN), topic(GARDEN)
    talk(whole, GARDENING[:3])
    talk(first, GARDENING[:3])
    say(whole, ("user", COINS[0][0]))
    say(first, ("user", COINS[0][0]))
    second = topic(GARDEN)
    second.restore(json.loads(json.dumps(first.snapshot())))
    assert talk(second, COINS) == talk(whole, COINS)


@pytest.mark.parametrize("data", [{}, {"score": "high"}, {"score": 1.0, "opening": 3}])
def test_another_state_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="no snapshot of a topic score"):
        topic(GARDEN).restore(data)


def test_the_state_does_not_grow_with_the_session() -> None:
    score = topic("beds", strategy=Scripted(tulips=90.0))
    talk(score, [("tulips " * 900, "tulips " * 900)] * 5)
    size = len(json.dumps(score.snapshot()))
    talk(score, [("tulips " * 900, "tulips " * 900)] * 50)
    assert len(json.dumps(score.snapshot())) <= size < 10_000


def test_a_model_that_fails_changes_nothing() -> None:
    class Broken(Scripted):
        def score(self, said: str, context: TopicContext) -> float | None:
            raise EmbeddingError("down")

    score = topic("beds", strategy=Broken())
    before = score.snapshot()
    with pytest.raises(EmbeddingError):
        say(score, ("user", "tulips"))
    assert score.snapshot() == before
