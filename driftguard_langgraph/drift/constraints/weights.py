"""What a breach is worth, depending on who says it and how.

The rules are the operator's. A scaffold, a summary or state speaks with his voice, so what it
changes is worth most; a tool result has no voice unless it takes one; a user may ask for
anything, and is answered by the rules; an assistant counts for what it says it does itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from driftguard_langgraph.drift.constraints.authority import ERODED, RAISED
from driftguard_langgraph.drift.constraints.breaches import Breach
from driftguard_langgraph.drift.constraints.claims import BORROWED, UNSUPPORTED
from driftguard_langgraph.drift.constraints.conduct import FOLLOWED, REVERSED
from driftguard_langgraph.drift.constraints.laxness import RELAXED
from driftguard_langgraph.drift.constraints.orders import ORDERED
from driftguard_langgraph.drift.constraints.redefinitions import REDEFINED
from driftguard_langgraph.drift.constraints.waivers import FLIPPED
from driftguard_langgraph.drift.report import Anomaly
from driftguard_langgraph.drift.turns import Channel

NOTABLE = 0.03
"""Weights below this are not reported: background has up to .05."""

_EXPLICIT = {Channel.USER: 0.45, Channel.ASSISTANT: 0.75}
_IMPLICIT = {Channel.USER: 0.5, Channel.ASSISTANT: 0.45}
"""Share of a breach that counts, against a rule of the baseline and against a mere control.
An assistant may advise on controls; against a rule it was given it may not act."""
_TAKEN_VOICE = 0.95
_NO_VOICE = 0.1
"""The same for a tool result that speaks to the agent, and for any other."""
_ASKED = 0.4
"""A question only asks for it."""
_QUOTED = 0.4
"""Retrieved text is quoted, not said."""
_AUTHORITY = {Channel.USER: 0.3, Channel.ASSISTANT: 0.8}
_ONLY_FROM = {ORDERED: Channel.TOOL, ERODED: Channel.ASSISTANT}
"""Breaches that only one channel can commit."""
_JUST_ASKED = (FLIPPED, Channel.USER)
"""A user may ask for what is forbidden; he is answered by the rule."""
_DAMPING = (1.0, 0.6, 0.4)
"""Share of the heaviest anomalies of one turn: what one text says twice is not twice as bad."""


def weight_of(
    breach: Breach, channel: Channel, *, asks: bool, addressed: bool, quoted: bool
) -> float:
    """Return the weight of a breach, 0..1.

    Args:
        breach: What was found.
        channel: Who says it.
        asks: Whether in a question.
        addressed: Whether it is a tool result that speaks to the agent.
        quoted: Whether the message says that it is retrieved text.
    """
    share = _share(breach, channel, addressed=addressed)
    if asks:
        share *= _ASKED
    if quoted:
        share *= _QUOTED
    return round(share * breach.strength, 3)


def _share(breach: Breach, channel: Channel, *, addressed: bool) -> float:
    if breach.rule in _ONLY_FROM:
        speaks = channel is _ONLY_FROM[breach.rule]
        return (1.0 if channel is Channel.TOOL else _EXPLICIT[channel]) if speaks else 0.0
    if channel is Channel.SCAFFOLD or breach.rule in {FOLLOWED, REVERSED, BORROWED}:
        return 1.0
    if channel is Channel.TOOL:
        return _TAKEN_VOICE if addressed else _NO_VOICE
    others = channel is Channel.ASSISTANT and not breach.own
    if others or breach.rule in {UNSUPPORTED, REDEFINED} or (breach.rule, channel) == _JUST_ASKED:
        return 0.0
    if breach.rule in {RAISED, RELAXED}:
        return _AUTHORITY[channel]
    return (_EXPLICIT if breach.against is not None else _IMPLICIT)[channel]


def damped(found: Sequence[Anomaly]) -> tuple[Anomaly, ...]:
    """Return the heaviest anomalies of a turn, each further one weighing less.

    Args:
        found: All anomalies of the turn.
    """
    heaviest = sorted(found, key=lambda one: -one.weight)[: len(_DAMPING)]
    return tuple(
        replace(one, weight=round(one.weight * share, 3))
        for one, share in zip(heaviest, _DAMPING, strict=False)
    )
