"""Taking the messages that did it out of a conversation, without breaking its order.

A tool call and its answers belong together, so they go together; an answer that is suspect by
itself stays in its place with other words. So does what a user said: some providers take no
conversation that begins with an answer, and the newest message has to be answered. Driftguard's
own messages are never taken out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from driftguard_langgraph.drift.turns import Channel, Turn, as_turn, given_id, is_own_scaffold
from driftguard_langgraph.errors import ConfigurationError

Quarantine = Literal["off", "remove", "rollback"]
"""`remove` takes out the suspect messages, `rollback` all since the first of them."""

REPLACEMENT = "[This message was removed: it works against the session's instructions.]"
"""What stands in place of a suspect message that cannot be taken out."""


@dataclass(frozen=True, slots=True)
class Removal:
    """What to do to a conversation.

    Attributes:
        remove: Ids of the messages to remove, in order.
        replace: Ids of the messages whose words are to be replaced, in order.
    """

    remove: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()


def checked_quarantine(value: object) -> Quarantine:
    """Return a known way of quarantine.

    Raises:
        ConfigurationError: There is no such way.
    """
    for known in get_args(Quarantine):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise ConfigurationError(f"quarantine={value!r} must be 'off', 'remove' or 'rollback'.")


def removal_of(messages: Sequence[object], suspects: Collection[str], way: Quarantine) -> Removal:
    """Return what to do to a conversation because of its suspects.

    Args:
        messages: The conversation, in order. Messages without an id are left alone.
        suspects: Ids of the messages that did it.
        way: How to do it.
    """
    ids = [given_id(message) for message in messages]
    turns = [as_turn(message, number) for number, message in enumerate(messages, 1)]
    own = {place for place, message in enumerate(messages) if is_own_scaffold(message)}
    hit = [place for place, known in enumerate(ids) if known in suspects and place not in own]
    if way == "off" or not hit:
        return Removal()
    asked = max((at for at, turn in enumerate(turns) if turn.channel is Channel.USER), default=-1)
    if way == "rollback":
        gone = set(range(_start_of_group(turns, hit[0]), len(turns)))
    else:
        kept = {Channel.TOOL, Channel.USER}
        out = [place for place in hit if turns[place].channel not in kept]
        gone = {at for place in out for at in range(place, _end_of_group(turns, place))}
    gone -= {asked, *own}
    return Removal(
        tuple(known for place in sorted(gone) if (known := ids[place]) is not None),
        tuple(known for place in hit if place not in gone and (known := ids[place])),
    )


def _start_of_group(turns: Sequence[Turn], place: int) -> int:
    while place > 0 and turns[place].channel is Channel.TOOL:
        place -= 1
    return place


def _end_of_group(turns: Sequence[Turn], place: int) -> int:
    """Return the index behind a message and the answers to its calls."""
    end = place + 1
    while turns[place].calls and end < len(turns) and turns[end].channel is Channel.TOOL:
        end += 1
    return end
