"""A loopback server that speaks as OpenAI and Anthropic do, with whatever replies it is given."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Failure:
    """An HTTP error instead of a reply; a stream that ends early if the status is 200."""

    status: int = 200
    delay: float = 0.0


@dataclass
class Vendor:
    """The server: `script` holds the replies to come, texts or `{"name", "args"}` calls."""

    url: str = ""
    script: list[Any] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    def next(self) -> Any:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def vendor(*script: Any) -> Iterator[Vendor]:
    made = Vendor(script=list(script))

    class Handler(_Handler):
        given = made

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    given: Vendor

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.given.bodies.append(body)
        said, number = self.given.next(), len(self.given.bodies)
        if isinstance(said, Failure) and (said.status != 200 or said.delay):
            time.sleep(said.delay)
            self._send(said.status, json.dumps({"error": {"message": "no", "type": "t"}}))
            return
        kind = next(name for name in _REPLIES if name in self.path)
        if body.get("stream"):
            cut = isinstance(said, Failure)
            events = _EVENTS[kind]("A ferry that is cut" if cut else said, number)
            self._send_stream(kind, events[: len(events) // 2] if cut else events, cut=cut)
        else:
            self._send(200, json.dumps(_REPLIES[kind](said, number)))

    def _send(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send_stream(self, kind: str, events: list[dict[str, Any]], *, cut: bool) -> None:
        lines = [f"event: {e['type']}\n" if "type" in e else "" for e in events]
        texts = [f"{line}data: {json.dumps(e)}\n\n" for line, e in zip(lines, events, strict=True)]
        if kind == "chat" and not cut:
            texts.append("data: [DONE]\n\n")
        data = "".join(texts).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(data) + 1000 * cut))
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True


def _call(said: Any, number: int) -> dict[str, Any]:
    return {
        "id": f"call-{number}",
        "type": "function",
        "function": {"name": said["name"], "arguments": json.dumps(said["args"])},
    }


def _chat(said: Any, number: int) -> dict[str, Any]:
    is_text = isinstance(said, str)
    message: dict[str, Any] = {"role": "assistant", "content": said if is_text else None}
    if not is_text:
        message["tool_calls"] = [_call(said, number)]
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "finish_reason": "stop" if is_text else "tool_calls",
    }
    base: dict[str, Any] = {
        "id": f"chat-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {**base, "choices": [choice], "usage": usage}


def _chat_events(said: Any, number: int) -> list[dict[str, Any]]:
    base: dict[str, Any] = {
        "id": f"chat-{number}",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
    }
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if isinstance(said, str):
        deltas += [{"content": word} for word in _words(said)]
    else:
        deltas.append({"tool_calls": [{"index": 0, **_call(said, number)}]})
    events: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "finish_reason": None} for delta in deltas
    ]
    events.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    return [{**base, "choices": [event]} for event in events]


def _message(said: Any, number: int) -> dict[str, Any]:
    block = (
        {"type": "text", "text": said}
        if isinstance(said, str)
        else {"type": "tool_use", "id": f"toolu-{number}", "name": said["name"],
              "input": said["args"]}
    )  # fmt: skip
    return {
        "id": f"msg-{number}", "type": "message", "role": "assistant", "model": "m",
        "content": [block], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def _message_events(said: str, number: int) -> list[dict[str, Any]]:
    start = {**_message(said, number), "content": [], "stop_reason": None}
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
        for word in _words(said)
    ]
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *deltas,
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def _response(said: Any, number: int) -> dict[str, Any]:
    text = {"type": "output_text", "text": said, "annotations": []}
    item = (
        {"type": "message", "id": f"item-{number}", "role": "assistant", "status": "completed",
         "content": [text]}
        if isinstance(said, str)
        else {"type": "function_call", "id": f"item-{number}", "call_id": f"call-{number}",
              "name": said["name"], "arguments": json.dumps(said["args"]), "status": "completed"}
    )  # fmt: skip
    return {
        "id": f"resp-{number}", "object": "response", "created_at": 1, "model": "m",
        "status": "completed", "output": [item], "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def _response_events(said: str, number: int) -> list[dict[str, Any]]:
    whole = _response(said, number)
    item = whole["output"][0]
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "output": [], "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **place, "part": part},
        *(
            {"type": "response.output_text.delta", **place, "delta": word, "logprobs": []}
            for word in _words(said)
        ),
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return [{**event, "sequence_number": at} for at, event in enumerate(events)]


def _words(text: str) -> list[str]:
    first, *more = text.split(" ")
    return [first, *(f" {word}" for word in more)]


_REPLIES: dict[str, Any] = {"chat": _chat, "responses": _response, "messages": _message}
_EVENTS: dict[str, Any] = {
    "chat": _chat_events,
    "responses": _response_events,
    "messages": _message_events,
}
