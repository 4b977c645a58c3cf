"""Replies of the SDKs, watched without being replaced: only their class becomes a subclass.

So a stream stays the SDK's own stream, with all it can do, for whoever holds it.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from functools import lru_cache
from typing import Any, cast

from driftguard_langgraph.clients.endpoints import Endpoint, Listener
from driftguard_langgraph.clients.outcome import EXTENSION, attach
from driftguard_langgraph.clients.watch import Watch


class StreamWatch:
    """What watches one stream.

    Args:
        watch: The call.
        listener: Gathers what is said.
        stream: The stream.
    """

    def __init__(self, watch: Watch, listener: Listener, stream: object) -> None:
        self._watch = watch
        self._listener = listener
        self._stream = stream
        self._failed = False

    def hear(self, event: object) -> None:
        """Take one event; one that cannot be read is passed on all the same."""
        with contextlib.suppress(Exception):
            self._listener.hear(event)

    def fail(self) -> None:
        """Forget the reply: the stream broke off, and the caller will ask again."""
        self._failed = True

    def end(self) -> None:
        """Record what was said."""
        if not self._failed:
            self._watch.settle(self._listener.reply)
            self._publish()

    async def aend(self) -> None:
        """Async twin of `end`."""
        if not self._failed:
            await self._watch.asettle(self._listener.reply)
            self._publish()

    def _publish(self) -> None:
        outcome = self._watch.outcome
        attach(self._stream, outcome)
        # The SDKs' `.stream()` objects share nothing else with the stream they read from.
        extensions = getattr(getattr(self._stream, "response", None), "extensions", None)
        if isinstance(extensions, dict) and outcome is not None:
            extensions[EXTENSION] = outcome


def is_stream(reply: object) -> bool:
    """Whether a reply is a stream of events, sync or async."""
    return hasattr(reply, "response") and (
        hasattr(reply, "__next__") or hasattr(reply, "__anext__")
    )


def is_raw(reply: object) -> bool:
    """Whether a reply is an HTTP response that is still to be parsed."""
    return hasattr(reply, "http_response") and callable(getattr(reply, "parse", None))


def watched_stream(stream: Any, watch: Watch, endpoint: Endpoint) -> None:
    """Watch a stream.

    Args:
        stream: The SDK's stream.
        watch: The call.
        endpoint: How its events are read.
    """
    if isinstance(getattr(stream, "_driftguard", None), StreamWatch):
        return
    attach(stream, None)
    kind: Any = type(stream)
    stream.__class__ = (
        _async_stream_class(kind) if hasattr(stream, "__anext__") else _stream_class(kind)
    )
    stream._driftguard = StreamWatch(watch, endpoint.make_listener(), stream)  # noqa: SLF001


def watched_raw(raw: Any, settle: Callable[[object], Any]) -> None:
    """Watch what a raw response is parsed to.

    Args:
        raw: The SDK's raw response.
        settle: Called with what `parse` returns; awaited, if `parse` is async.
    """
    raw.__class__ = _raw_class(cast("Any", type(raw)))
    raw._driftguard = settle  # noqa: SLF001


@lru_cache(maxsize=64)
def _stream_class(kind: type) -> type:
    base: Any = kind

    def next_event(self: Any) -> object:
        try:
            event = base.__next__(self)
        except StopIteration:
            self._driftguard.end()
            raise
        except BaseException:
            self._driftguard.fail()
            raise
        self._driftguard.hear(event)
        return event

    def events(self: Any) -> Iterator[object]:
        with contextlib.suppress(StopIteration):
            while True:
                yield next_event(self)

    def close(self: Any) -> None:
        base.close(self)
        self._driftguard.end()

    return _subclass(kind, __next__=next_event, __iter__=events, close=close)


@lru_cache(maxsize=64)
def _async_stream_class(kind: type) -> type:
    base: Any = kind

    async def next_event(self: Any) -> object:
        try:
            event = await base.__anext__(self)
        except StopAsyncIteration:
            await self._driftguard.aend()
            raise
        except BaseException:
            self._driftguard.fail()
            raise
        self._driftguard.hear(event)
        return event

    async def events(self: Any) -> AsyncIterator[object]:
        while True:
            try:
                event = await next_event(self)
            except StopAsyncIteration:
                return
            yield event

    async def close(self: Any) -> None:
        await base.close(self)
        await self._driftguard.aend()

    return _subclass(kind, __anext__=next_event, __aiter__=events, close=close)


@lru_cache(maxsize=64)
def _raw_class(kind: type) -> type:
    base: Any = kind

    def parse(self: Any, *args: Any, **kwargs: Any) -> object:
        parsed = base.parse(self, *args, **kwargs)
        self._driftguard(parsed)
        return parsed

    async def aparse(self: Any, *args: Any, **kwargs: Any) -> object:
        parsed = await base.parse(self, *args, **kwargs)
        await self._driftguard(parsed)
        return parsed

    return _subclass(kind, parse=aparse if inspect.iscoroutinefunction(base.parse) else parse)


def _subclass(kind: type, **members: Any) -> type:
    return type(kind.__name__, (kind,), {**members, "__module__": kind.__module__})
