"""Where a scaffold may stand among messages without breaking what providers accept.

A tool call and its answers belong together: nothing may come between them. Providers differ
on system messages after the first; so `beginning` puts the scaffold behind the leading system
messages, `end` behind everything, and both step back over an open tool call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from driftguard_langgraph.drift.turns import Channel, Turn, as_turn, given_id
from driftguard_langgraph.errors import ConfigurationError

SCAFFOLD_ID = "driftguard-recovery"
"""Message id of every scaffold, so that a second one replaces the first."""

Placement = Literal["beginning", "before_last_user", "end"]
"""Where among the messages the scaffold goes."""

PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


def checked_placement(value: object) -> Placement:
    """Return a known placement.

    Raises:
        ConfigurationError: There is no such placement.
    """
    for placement in PLACEMENTS:
        if value == placement:
            return placement
    raise ConfigurationError(f"unknown placement {value!r}; choose one of {', '.join(PLACEMENTS)}.")


def checked_role(value: object) -> str:
    """Return `system` or `user`.

    Raises:
        ConfigurationError: It is neither.
    """
    if isinstance(value, str) and value in {"system", "user"}:
        return value
    raise ConfigurationError(f"role={value!r} must be 'system' or 'user'.")


def with_scaffold(
    messages: Sequence[Any], scaffold: Any | None, placement: Placement = "end"
) -> list[Any]:
    """Return a conversation with a scaffold in its place, and no earlier one.

    Args:
        messages: The conversation.
        scaffold: The message to insert, of the kind that the conversation holds; None inserts
            nothing.
        placement: Where it goes.
    """
    others = [message for message in messages if given_id(message) != SCAFFOLD_ID]
    if scaffold is None:
        return others
    at = place_for(others, checked_placement(placement))
    return [*others[:at], scaffold, *others[at:]]


def place_for(messages: Sequence[object], placement: Placement) -> int:
    """Return the index at which a scaffold is inserted.

    Args:
        messages: The conversation, in order.
        placement: Where it should go.
    """
    turns = [as_turn(message, number) for number, message in enumerate(messages, 1)]
    leading = next(
        (at for at, turn in enumerate(turns) if turn.channel is not Channel.SCAFFOLD), len(turns)
    )
    if placement == "beginning":
        return leading
    at = len(turns)
    if placement == "before_last_user":
        users = [at for at, turn in enumerate(turns) if turn.channel is Channel.USER]
        at = users[-1] if users else leading
    return _outside_calls(turns, at)


def _outside_calls(turns: Sequence[Turn], at: int) -> int:
    """Step back to before a call of which an answer stands behind, or is still to come."""
    call = at
    while call > 0 and turns[call - 1].channel is Channel.TOOL:
        call -= 1
    calls = turns[call - 1].calls if call > 0 else ()
    if not calls:
        return at
    more = at < len(turns) and turns[at].channel is Channel.TOOL
    return call - 1 if more or at - call < len(calls) else at
