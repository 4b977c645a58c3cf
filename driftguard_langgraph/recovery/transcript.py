"""The messages that a summary replaces, as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from driftguard_langgraph.drift.turns import Channel, as_turn, is_own_scaffold
from driftguard_langgraph.recovery.anchor import Anchor
from driftguard_langgraph.text.validation import visible_text

_ORDER = (Channel.USER, Channel.ASSISTANT, Channel.SCAFFOLD, Channel.TOOL)
"""Whose facts matter most: what is restored has a limit, and a tool's output may be long."""


def transcript(messages: Iterable[object]) -> str:
    """Return what messages say and call, users first; our own scaffolds are left out.

    Args:
        messages: Messages of any kind that `drift.turns` reads.
    """
    said: dict[Channel, list[str]] = {channel: [] for channel in _ORDER}
    for message in messages:
        if not is_own_scaffold(message):
            turn = as_turn(message, 0)
            said[turn.channel] += [_whole(message, turn.text), *turn.calls]
    return "\n\n".join(text for channel in _ORDER for text in said[channel] if text)


def opening_anchor(messages: Sequence[object]) -> Anchor | None:
    """Return the anchor of what a session starts with, None if it says nothing.

    That is the system messages at its start and its first user message. A summary at the start
    is a model's words, which no rule is taken from.

    Args:
        messages: The messages of the session.
    """
    opening: list[object] = []
    for message in messages:
        if is_own_scaffold(message) or _is_summary(message):
            continue
        channel = as_turn(message, 0).channel
        if channel is Channel.SCAFFOLD:
            opening.append(message)
            continue
        if channel is Channel.USER:
            opening.append(message)
        break
    said = [message for message in opening if as_turn(message, 0).text]
    return Anchor.of(said) if said else None


def _whole(message: object, excerpt: str) -> str:
    content = _member(message, "content")
    return visible_text(content) if isinstance(content, str) else excerpt


def _is_summary(message: object) -> bool:
    extra = _member(message, "additional_kwargs")
    return isinstance(extra, Mapping) and extra.get("lc_source") == "summarization"


def _member(message: object, name: str) -> object:
    if isinstance(message, Mapping):
        return message.get(name)
    return getattr(message, name, None)
