"""What a wrapped client can do besides what the client can."""

from __future__ import annotations

from typing import Any

from driftguard_langgraph.clients.watch import Hub


def handles(hub: Hub) -> dict[str, Any]:
    """Return members for the class of a wrapped client.

    Args:
        hub: Its conversations.
    """

    def drift_tracker(_: object, conversation: str | None = None) -> object:
        """Return the tracker of a conversation, by default of the one that was used last."""
        named = hub.conversations.named
        return (hub.current() if conversation is None else named(conversation)).tracker

    def drift_check(_: object, conversation: str | None = None) -> object:
        """Return how a conversation stands."""
        return drift_tracker(_, conversation).check()  # type: ignore[attr-defined]

    def end_session(_: object, conversation: str | None = None) -> object:
        """End the session of a conversation."""
        return drift_tracker(_, conversation).end_session()  # type: ignore[attr-defined]

    members = (drift_tracker, drift_check, end_session)
    return {member.__name__: member for member in members}
