"""The three endpoints that are watched: how their requests, replies and streams are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.clients.messages import (
    Asked,
    Reply,
    asked,
    member,
    said_by_model,
    said_in_output,
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One way to ask a model.

    Attributes:
        read_request: Reads the body of a request.
        read_reply: Reads a reply, as an object or a mapping.
        make_listener: Makes what listens to a stream.
    """

    read_request: Callable[[Mapping[str, Any]], Asked]
    read_reply: Callable[[object], Reply | None]
    make_listener: Callable[[], Listener]


class Listener:
    """Gathers what a stream says."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._names: dict[object, dict[str, Any]] = {}
        self._reply_id: str | None = None

    def hear(self, event: object) -> None:
        """Take one event."""

    def reply(self) -> Reply | None:
        """Return what was said so far."""
        return Reply("".join(self._parts), list(self._names.values()), self._reply_id)


class ChatListener(Listener):
    """Of a chat completion's first choice."""

    def hear(self, event: object) -> None:
        """Take one chunk."""
        self._reply_id = member(event, "id") or self._reply_id
        for choice in member(event, "choices") or ():
            if member(choice, "index"):
                continue
            delta = member(choice, "delta")
            self._parts.append(member(delta, "content") or member(delta, "refusal") or "")
            for call in member(delta, "tool_calls") or ():
                function = member(call, "function")
                held = self._names.setdefault(member(call, "index"), {"name": "", "args": ""})
                held["name"] += member(function, "name") or ""
                held["args"] += member(function, "arguments") or ""


class MessageListener(Listener):
    """Of an Anthropic message."""

    def hear(self, event: object) -> None:
        """Take one event."""
        kind = member(event, "type")
        if kind == "message_start":
            self._reply_id = member(member(event, "message"), "id")
        elif kind == "content_block_start":
            block = member(event, "content_block")
            if member(block, "type") == "tool_use":
                name = str(member(block, "name"))
                self._names[member(event, "index")] = {"name": name, "args": ""}
            elif member(block, "type") == "text":
                self._parts.append(member(block, "text") or "")
        elif kind == "content_block_delta":
            delta = member(event, "delta")
            self._parts.append(member(delta, "text") or "")
            if member(event, "index") in self._names:
                self._names[member(event, "index")]["args"] += member(delta, "partial_json") or ""


class ResponseListener(Listener):
    """Of the Responses API."""

    _whole: Reply | None = None

    def hear(self, event: object) -> None:
        """Take one event."""
        kind = member(event, "type")
        if kind == "response.created":
            self._reply_id = member(member(event, "response"), "id")
        elif kind in {"response.output_text.delta", "response.refusal.delta"}:
            self._parts.append(member(event, "delta") or "")
        elif kind in {"response.completed", "response.incomplete"}:
            self._whole = _read_response(member(event, "response"))

    def reply(self) -> Reply | None:
        """Return what was said so far; the whole response, if it has ended."""
        return self._whole or super().reply()


def endpoint_of(vendor: str, method: str, url: str) -> Endpoint | None:
    """Return the endpoint of a request; None if it does not talk to a model, or is not watched.

    Args:
        vendor: `openai` or `anthropic`.
        method: The HTTP method.
        url: The path, as the SDK's resources give it.
    """
    path = "/" + url.split("?", 1)[0].strip("/").removeprefix("v1/")
    return _ENDPOINTS.get((vendor, path)) if method.upper() == "POST" else None


def _chat_request(body: Mapping[str, Any]) -> Asked:
    return asked(body.get("messages"))


def _read_chat(reply: object) -> Reply | None:
    choices = member(reply, "choices")
    if not choices:
        return None
    read = said_by_model(member(choices[0], "message"))
    read.reply_id = member(reply, "id")
    return read


def _message_request(body: Mapping[str, Any]) -> Asked:
    return asked(body.get("messages"), system=body.get("system"))


def _read_message(reply: object) -> Reply | None:
    read = said_by_model(reply)
    read.reply_id = member(reply, "id")
    return read


def _response_request(body: Mapping[str, Any]) -> Asked:
    return asked(
        body.get("input"),
        system=body.get("instructions"),
        previous=body.get("previous_response_id"),
        conversation=body.get("conversation"),
    )


def _read_response(reply: object) -> Reply | None:
    read = said_in_output(member(reply, "output"))
    read.reply_id = member(reply, "id")
    return read


_ENDPOINTS = {
    ("openai", "/chat/completions"): Endpoint(_chat_request, _read_chat, ChatListener),
    ("openai", "/responses"): Endpoint(_response_request, _read_response, ResponseListener),
    ("anthropic", "/messages"): Endpoint(_message_request, _read_message, MessageListener),
}
