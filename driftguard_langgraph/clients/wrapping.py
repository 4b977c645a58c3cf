"""`wrap`: one line that gives a client a drift report on each reply."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_args

from driftguard_langgraph.clients.conversations import Conversations, TrackerFactory
from driftguard_langgraph.clients.sdk import vendor_of, watched_sdk
from driftguard_langgraph.clients.watch import Hub, OnError
from driftguard_langgraph.drift.tracking.tracker import DriftTracker
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.text.validation import checked_flag

_C = TypeVar("_C")

SHARED = "default"
"""Id of the conversation when the caller gave its tracker."""


def wrap(
    client: _C,
    *,
    tracker: DriftTracker | Callable[[str], DriftTracker] | None = None,
    conversation: str | None = None,
    on_error: OnError = "open",
    max_conversations: int = 1000,
    **options: Any,
) -> _C:
    """Return a copy of a client that scores each reply; the client itself stays as it is.

    The copy is of a subclass of the client's class, so `isinstance` holds, and whatever it can
    do, it can do as before. A reply of an SDK has the report as `reply.drift`, beside its fields;
    a stream has it when it has ended or was closed. A message of a LangChain chat model has it,
    as a dict, in `response_metadata["drift"]`; a stream ends with one more chunk, empty, that has
    it. `drift_of` finds it in all of them, also behind `.stream()` and `with_raw_response`.

    Each conversation has a tracker. A call belongs to the `conversation` given here or by
    `wrapped.in_conversation(id)`; or to the one that an OpenAI response names (`conversation`,
    `previous_response_id`); or to the one whose messages it begins with, in the same LangGraph
    thread, if there is one. Else it begins a conversation: calls without history need an id to
    be one. Only messages that the tracker has not had are scored, and of a request that failed
    nothing is. Of several choices the first one is.

    The copy has three methods more, each for the `conversation` it is given, or by default for
    the one used last: `drift_tracker`, `drift_check` and `end_session`.

    Args:
        client: A client of the `openai` or `anthropic` SDK, sync or async, or a LangChain chat
            model (also with tools bound).
        tracker: The tracker of all calls, or what makes one for the id of a conversation. None:
            trackers are made of the `options`.
        conversation: The conversation that all calls belong to.
        on_error: What happens when scoring fails: `open` logs it and returns the reply without a
            report, `closed` raises `ReplyNotScored`, which holds the reply.
        max_conversations: Conversations that are kept in memory.
        **options: Of `DriftTracker`. Without `system_prompt`, the one that a conversation's first
            request has.

    Raises:
        ConfigurationError: The client cannot be wrapped, or an argument is not usable.
    """
    _check(on_error, max_conversations, conversation)
    if hasattr(type(client), "_driftguard_hub"):
        raise ConfigurationError("the client is wrapped already; wrap the original one.")
    if isinstance(tracker, DriftTracker) and conversation is None:
        conversation = SHARED
    factory = _factory(tracker, options, conversation)
    hub = Hub(Conversations(factory, max_conversations), conversation, on_error)
    made = _watched(client, hub)
    if made is None:
        raise ConfigurationError(
            f"cannot wrap {type(client).__module__}.{type(client).__qualname__}: give a client "
            "object of the openai or anthropic SDK, or a LangChain chat model. For others, call "
            "DriftTracker.record_turn after each reply."
        )
    return made  # type: ignore[no-any-return]


def _check(on_error: object, max_conversations: object, conversation: object) -> None:
    if on_error not in get_args(OnError):
        raise ConfigurationError(f"on_error={on_error!r} must be 'open' or 'closed'.")
    if type(max_conversations) is not int or max_conversations < 1:
        raise ConfigurationError(f"max_conversations={max_conversations!r} must be 1 or more.")
    if conversation is not None and not (isinstance(conversation, str) and conversation.strip()):
        raise ConfigurationError(
            f"conversation={conversation!r} must be an id in words, or None: each call is then "
            "told apart by its history."
        )


def _watched(client: Any, hub: Hub) -> Any:
    vendor = None if isinstance(client, type) else vendor_of(client)
    if vendor is not None:
        return watched_sdk(client, hub, vendor)
    if not any(base.__module__.startswith("langchain_core.") for base in type(client).__mro__):
        return None
    from driftguard_langgraph.clients.chat_models import watched_chat_model

    return watched_chat_model(client, hub)


def _factory(given: object, options: dict[str, Any], conversation: str | None) -> TrackerFactory:
    if given is not None:
        if options:
            names = ", ".join(sorted(options))
            raise ConfigurationError(f"{names}: give these to the tracker that you pass.")
        if isinstance(given, DriftTracker):
            return lambda _id, _system: given
        if callable(given):
            return lambda conversation_id, _system: given(conversation_id)
        raise ConfigurationError(
            f"tracker must be a DriftTracker or make one, not {type(given).__name__}."
        )
    known = set(inspect.signature(DriftTracker).parameters)
    unknown = ", ".join(sorted(set(options) - known))
    if unknown:
        raise ConfigurationError(
            f"wrap has no option {unknown}; DriftTracker's are: {', '.join(sorted(known))}."
        )
    if options.get("persist") and conversation is None:
        raise ConfigurationError(
            "persist=True keeps one conversation: give conversation=, or a tracker= function that "
            "makes a tracker with a file of its own for each."
        )
    checked_flag(options.get("persist", False), "persist")
    # A typo shall be found here, and not when the first reply has been paid for.
    DriftTracker(options.get("system_prompt"), **_rest(options, persist=False))

    def make(conversation_id: str, system: str) -> DriftTracker:
        persist = bool(options.get("persist")) and conversation_id == conversation
        prompt = options.get("system_prompt")
        return DriftTracker(system if prompt is None else prompt, **_rest(options, persist=persist))

    return make


def _rest(options: dict[str, Any], *, persist: bool) -> dict[str, Any]:
    return {k: v for k, v in options.items() if k != "system_prompt"} | {"persist": persist}
