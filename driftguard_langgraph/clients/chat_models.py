"""LangChain chat models, watched above cache, callbacks and provider: any subclass will do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableBinding
from langchain_core.runnables.config import ensure_config

from driftguard_langgraph.clients.handles import handles
from driftguard_langgraph.clients.messages import Reply, asked, said_by_model
from driftguard_langgraph.clients.outcome import Outcome
from driftguard_langgraph.clients.watch import Hub, Watch

_SCOPE: ContextVar[str] = ContextVar("driftguard_thread", default="")


def watched_chat_model(model: Any, hub: Hub) -> Any:
    """Return a watched copy of a chat model, or of a binding of one; None if it is neither.

    Args:
        model: The model.
        hub: Its conversations.
    """
    if isinstance(model, RunnableBinding):
        bound = watched_chat_model(model.bound, hub)
        return None if bound is None else model.model_copy(update={"bound": bound})
    if not isinstance(model, BaseChatModel):
        return None
    base: Any = type(model)
    if isinstance(getattr(base, "_driftguard_hub", None), Hub):
        base = base.__mro__[1]

    def in_conversation(_: object, conversation: str) -> object:
        return watched_chat_model(model, replace(hub, conversation=conversation))

    members = {
        "__module__": base.__module__,
        "__doc__": base.__doc__,
        "in_conversation": in_conversation,
        **handles(hub),
        **_calls(base, hub),
        "stream": _stream(base, hub),
        "astream": _astream(base, hub),
    }
    kind = type(base.__name__, (base,), members)
    # Not a field: pydantic would take it for one of the model's.
    kind._driftguard_hub = hub  # type: ignore[attr-defined]  # noqa: SLF001
    made = model.model_copy()
    object.__setattr__(made, "__class__", kind)
    return made


def _calls(base: Any, hub: Hub) -> dict[str, Any]:
    def invoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        token = _SCOPE.set(_thread(config))
        try:
            return base.invoke(self, input, config, **kwargs)
        finally:
            _SCOPE.reset(token)

    async def ainvoke(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Any:
        token = _SCOPE.set(_thread(config))
        try:
            return await base.ainvoke(self, input, config, **kwargs)
        finally:
            _SCOPE.reset(token)

    def generate(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        result = base.generate(self, messages, *args, **kwargs)
        watches = _watches(hub, messages)
        for watch, found in zip(watches, result.generations, strict=False):
            watch.settle(partial(_read, found), result)
        return _with_reports(result, watches)

    async def agenerate(self: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        result = await base.agenerate(self, messages, *args, **kwargs)
        watches = _watches(hub, messages)
        for watch, found in zip(watches, result.generations, strict=False):
            await watch.asettle(partial(_read, found), result)
        return _with_reports(result, watches)

    return {"invoke": invoke, "ainvoke": ainvoke, "generate": generate, "agenerate": agenerate}


def _stream(base: Any, hub: Hub) -> Any:
    def stream(self: Any, input: Any, config: Any = None, **kwargs: Any) -> Iterator[Any]:
        heard = _Heard(self, hub, input, config)
        try:
            for chunk in base.stream(self, input, config, **kwargs):
                heard.hear(chunk)
                yield chunk
        except GeneratorExit:
            if heard.is_open:
                heard.watch.settle(heard.reply)
            raise
        if heard.is_open:
            heard.watch.settle(heard.reply)
            yield from heard.last_chunk()

    return stream


def _astream(base: Any, hub: Hub) -> Any:
    async def astream(
        self: Any,
        input: Any,
        config: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        heard = _Heard(self, hub, input, config)
        try:
            async for chunk in base.astream(self, input, config, **kwargs):
                heard.hear(chunk)
                yield chunk
        except GeneratorExit:
            if heard.is_open:
                await heard.watch.asettle(heard.reply)
            raise
        if heard.is_open:
            await heard.watch.asettle(heard.reply)
            for chunk in heard.last_chunk():
                yield chunk

    return astream


class _Heard:
    """What a stream has said so far."""

    def __init__(self, model: Any, hub: Hub, given: Any, config: Any) -> None:
        scope = _thread(config)
        self.watch = Watch(
            hub,
            lambda: asked(model._convert_input(given).to_messages(), scope=scope),  # noqa: SLF001
        )
        self._chunks: list[Any] = []

    def hear(self, chunk: Any) -> None:
        self._chunks.append(chunk)

    @property
    def is_open(self) -> bool:
        """Whether the reply is still to be scored: a model that cannot stream was invoked."""
        chunks = self._chunks
        return bool(chunks) and all(isinstance(chunk, AIMessageChunk) for chunk in chunks)

    def reply(self) -> Reply:
        first, *more = self._chunks
        return said_by_model(first.__add__(more) if more else first)

    def last_chunk(self) -> Iterator[AIMessageChunk]:
        outcome = self.watch.outcome
        if outcome is None or outcome.drift is None:
            return
        content: Any = "" if isinstance(self._chunks[-1].content, str) else []
        metadata = {"drift": outcome.drift.to_dict()}
        yield AIMessageChunk(
            content=content,
            id=self._chunks[-1].id,
            response_metadata=metadata,
            chunk_position="last",
        )


def _watches(hub: Hub, prompts: Sequence[Any]) -> list[Watch]:
    scope = _SCOPE.get()
    return [Watch(hub, lambda given=given: asked(given, scope=scope)) for given in prompts]  # type: ignore[misc]


def _read(found: Sequence[Any]) -> Reply:
    return said_by_model(found[0].message)


def _with_reports(result: Any, watches: Sequence[Watch]) -> Any:
    """Return the result with the reports in it. A cache may hold its messages: they are copied."""
    pairs = zip(result.generations, watches, strict=False)
    result.generations = [_with_report(found, watch.outcome) for found, watch in pairs]
    return result


def _with_report(found: Sequence[Any], outcome: Outcome | None) -> list[Any]:
    made = []
    for generation in found:
        message = generation.message
        metadata = {k: v for k, v in message.response_metadata.items() if k != "drift"}
        if outcome is not None and outcome.drift is not None:
            metadata["drift"] = outcome.drift.to_dict()
        message = message.model_copy(update={"response_metadata": metadata})
        made.append(generation.model_copy(update={"message": message}))
    return made


def _thread(config: Any) -> str:
    found = (ensure_config(config).get("configurable") or {}).get("thread_id")
    return "" if found is None else str(found)
