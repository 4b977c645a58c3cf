from __future__ import annotations

import pytest

from driftguard_langgraph.drift.constraints.breaches import Breach
from driftguard_langgraph.drift.constraints.waivers import WAIVED
from driftguard_langgraph.drift.constraints.weights import damped, weight_of
from driftguard_langgraph.drift.report import Anomaly, Span
from driftguard_langgraph.drift.turns import Channel


def weight(
    channel: Channel, *, own: bool = False, asks: bool = False, taken: bool = False
) -> float:
    breach = Breach(WAIVED, 0.5, "It waives.", own=own)
    return weight_of(breach, channel, asks=asks, addressed=taken, quoted=False)


def test_the_operators_voice_weighs_most() -> None:
    assert weight(Channel.SCAFFOLD) == 0.5
    assert weight(Channel.TOOL, taken=True) > weight(Channel.USER) > weight(Channel.TOOL)


def test_an_assistant_counts_for_what_it_does_itself() -> None:
    assert weight(Channel.ASSISTANT) == 0.0
    assert weight(Channel.ASSISTANT, own=True) > 0.0


def test_a_question_only_asks() -> None:
    assert 0 < weight(Channel.USER, asks=True) < weight(Channel.USER)


def test_what_a_text_says_often_is_damped() -> None:
    said = Span("m", "text")
    found = [Anomaly("r", 0.1 * n, 1, Channel.SCAFFOLD, said) for n in range(1, 6)]
    weights = [anomaly.weight for anomaly in damped(found)]
    assert weights == pytest.approx([0.5, 0.24, 0.12])
