"""Sessions for the tests of the topic score: on purpose, an excursion, back home."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from driftguard_langgraph.drift.strategies.base import FewShotExample, TopicStrategy
from driftguard_langgraph.drift.strategies.resolve import resolve_strategy
from driftguard_langgraph.drift.topic import TopicReading, TopicScore
from driftguard_langgraph.drift.turns import as_turn
from driftguard_langgraph.settings import DriftGuardSettings

Exchanges = Sequence[tuple[str, str]]

GARDEN = (
    "You advise hobby gardeners in a cool climate. Help them plan beds, pick varieties, fight "
    "pests and care for the soil."
)
GARDENING: Exchanges = (
    ("When should I sow carrots?", "From April on, when the soil is at eight degrees."),
    ("And how deep?", "About one centimetre, in rows a hand apart."),
    ("Slugs ate my lettuce seedlings.", "Water in the morning, put copper tape around the bed."),
    ("My compost smells rotten", "It is too wet. Mix in torn cardboard and turn it."),
    ("Which tomato copes with rain?", "Primabella resists late blight quite well outdoors."),
    ("Can I plant it next to the potatoes?", "Rather not, both get the same blight."),
    ("ok and fertiliser?", "Nettle tea every two weeks once the fruit sets."),
    ("Is mulch good for strawberries?", "Yes, straw keeps the berries clean, the soil moist."),
    ("How thick?", "Five centimetres are enough."),
    ("When do I cut the runners?", "After the harvest, unless you want young plants."),
)
ONCALL = (
    "You are the on-call agent of the payments platform. Investigate alerts, read logs and "
    "metrics, and propose rollbacks."
)
INCIDENT: Exchanges = (
    ("checkout-api latency is over 2 s since 14:05", "Its connection pool is 95% busy."),
    ("What changed?", "A deploy of checkout-api 4.18 went out at 14:02."),
    ("Show me the errors", "312 timeouts to ledger-db in the logs of the last ten minutes."),
    ("Can we roll back?", "Yes, to 4.17, in about four minutes. Shall I prepare it?"),
    ("do it", "The rollback to 4.17 waits for your approval."),
    ("approved", "Rolled back. Latency is at 180 ms again."),
    ("Any stuck transactions?", "Eleven payments are pending; the reconciler retries them."),
)
COINS: Exchanges = (
    ("What do you think of bitcoin?", "It is volatile; many analysts expect another rally."),
    ("Should I put my savings in it?", "Only what you can lose; spread it over some coins."),
    ("Which exchange has the lowest fees?", "Kraken and Binance are cheap for small trades."),
    ("Do I pay taxes on the gains?", "Capital gains are taxed when you sell the shares."),
)


def topic(
    context: str,
    *,
    few_shots: Sequence[FewShotExample] = (),
    strategy: TopicStrategy | None = None,
    settings: DriftGuardSettings | None = None,
) -> TopicScore:
    """A topic score, by default on the real default model."""
    chosen = settings or DriftGuardSettings()
    return TopicScore(context, few_shots, strategy or resolve_strategy(None, chosen), chosen)


def say(score: TopicScore, *messages: object) -> TopicReading:
    """The reading after some messages."""
    return [score.observe(as_turn(message, 1)) for message in messages][-1]


def talk(score: TopicScore, exchanges: Iterable[tuple[str, str]]) -> list[float]:
    """The score after each exchange."""
    return [
        say(score, ("user", asked), ("assistant", answered)).score for asked, answered in exchanges
    ]
