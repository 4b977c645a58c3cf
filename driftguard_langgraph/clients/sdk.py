"""Clients of the OpenAI and Anthropic SDKs, watched where all their calls pass: `request`.

`create`, `parse`, `.stream()`, `stream=True`, `with_raw_response`, `with_streaming_response` and
`with_options` all end there. The wrapped client is of a subclass of the given client's class.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from driftguard_langgraph.clients.endpoints import Endpoint, endpoint_of
from driftguard_langgraph.clients.handles import handles
from driftguard_langgraph.clients.messages import Reply
from driftguard_langgraph.clients.outcome import attach
from driftguard_langgraph.clients.replies import is_raw, is_stream, watched_raw, watched_stream
from driftguard_langgraph.clients.watch import Hub, Watch


def vendor_of(client: object) -> str | None:
    """Return whose SDK a client is of, by the modules of its classes; None if of neither."""
    roots = {base.__module__.partition(".")[0] for base in type(client).__mro__}
    vendor = next((name for name in ("openai", "anthropic") if name in roots), None)
    talks = callable(getattr(client, "request", None)) and callable(getattr(client, "post", None))
    return vendor if talks else None


def watched_sdk(client: Any, hub: Hub, vendor: str) -> Any:
    """Return a watched copy of a client; both share connections and configuration.

    Args:
        client: The client.
        hub: Its conversations.
        vendor: `openai` or `anthropic`.
    """
    base = type(client)
    if isinstance(getattr(base, "_driftguard_hub", None), Hub):
        base = base.__mro__[1]

    def in_conversation(_: object, conversation: str) -> object:
        return watched_sdk(client, replace(hub, conversation=conversation), vendor)

    send = _arequest if inspect.iscoroutinefunction(base.request) else _request
    members = {
        "_driftguard_hub": hub,
        "_driftguard_vendor": vendor,
        "_driftguard_base": base,
        "request": send,
        "in_conversation": in_conversation,
        **handles(hub),
    }
    kind = type(base.__name__, (base,), {**members, "__module__": base.__module__})
    made: Any = object.__new__(kind)
    # Resources that were used already refer to the client they were made for.
    resources = {name for name in vars(client) if _is_resource(base, name)}
    made.__dict__.update({k: v for k, v in vars(client).items() if k not in resources})
    return made


def _is_resource(kind: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(kind, name, None), cached_property)


def _request(self: Any, *args: Any, **kwargs: Any) -> Any:
    endpoint, watch = _started(self, args, kwargs)
    reply = self._driftguard_base.request(self, *args, **kwargs)
    if endpoint is None or watch is None:
        return reply
    if is_raw(reply) and _is_read(reply):
        watch.settle(lambda: _read_raw(endpoint, reply), reply)
        attach(reply, watch.outcome)
    _settled(reply, watch, endpoint)
    return reply


async def _arequest(self: Any, *args: Any, **kwargs: Any) -> Any:
    endpoint, watch = _started(self, args, kwargs)
    reply = await self._driftguard_base.request(self, *args, **kwargs)
    if endpoint is None or watch is None:
        return reply
    if is_raw(reply):
        if _is_read(reply):
            await watch.asettle(lambda: _read_raw(endpoint, reply), reply)
            attach(reply, watch.outcome)
        _settled(reply, watch, endpoint)
    else:
        await _asettled(reply, watch, endpoint)
    return reply


def _started(self: Any, args: Any, kwargs: Any) -> tuple[Endpoint | None, Watch | None]:
    options = kwargs.get("options", args[1] if len(args) > 1 else None)
    url, method = getattr(options, "url", None), getattr(options, "method", None)
    if not isinstance(url, str) or not isinstance(method, str):
        return None, None
    endpoint = endpoint_of(self._driftguard_vendor, method, url)
    if endpoint is None:
        return None, None
    body = getattr(options, "json_data", None)
    body = body if isinstance(body, Mapping) else {}
    return endpoint, Watch(self._driftguard_hub, lambda: endpoint.read_request(body))


def _settled(reply: Any, watch: Watch, endpoint: Endpoint) -> None:
    if is_stream(reply):
        watched_stream(reply, watch, endpoint)
    elif is_raw(reply):
        is_async = inspect.iscoroutinefunction(reply.parse)

        async def asettle(parsed: object) -> None:
            await _asettled(parsed, watch, endpoint)

        def settle(parsed: object) -> None:
            _settled(parsed, watch, endpoint)

        watched_raw(reply, asettle if is_async else settle)
    elif hasattr(reply, "model_dump"):
        watch.settle(lambda: endpoint.read_reply(reply), reply)
        attach(reply, watch.outcome)


async def _asettled(reply: Any, watch: Watch, endpoint: Endpoint) -> None:
    if is_stream(reply) or is_raw(reply):
        _settled(reply, watch, endpoint)
    else:
        await asyncio.to_thread(_settled, reply, watch, endpoint)


def _is_read(raw: Any) -> bool:
    """Whether the body is there; of a stream it is not, and reading it is up to the caller."""
    return bool(getattr(raw.http_response, "is_stream_consumed", False))


def _read_raw(endpoint: Endpoint, raw: Any) -> Reply | None:
    return endpoint.read_reply(raw.http_response.json())
