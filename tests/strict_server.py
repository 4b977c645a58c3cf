"""A chat completions endpoint on the loopback interface that takes no disorderly conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from langchain_openai import ChatOpenAI


def problems(messages: Sequence[dict[str, Any]], *, leading_system: bool) -> list[str]:
    """Return what a provider would refuse in a conversation.

    Args:
        messages: The conversation as it is sent.
        leading_system: Whether system messages may stand at the start only, the conversation
            has to begin with a user, and somebody else than the model has the last word.
    """
    found = [f"message {at} is empty" for at, each in enumerate(messages) if _is_empty(each)]
    found += list(_unpaired(messages))
    spoken = [each["role"] for each in messages if each["role"] != "system"]
    if "user" not in spoken:
        found.append("no user asks")
    if leading_system and spoken:
        first = next(at for at, each in enumerate(messages) if each["role"] != "system")
        if any(each["role"] == "system" for each in messages[first:]):
            found.append("a system message behind the start")
        if spoken[0] != "user":
            found.append(f"it begins with {spoken[0]}")
        if spoken[-1] == "assistant":
            found.append("nobody is to be answered")
    return found


def _is_empty(message: dict[str, Any]) -> bool:
    return not message.get("content") and not message.get("tool_calls")


def _unpaired(messages: Sequence[dict[str, Any]]) -> Iterator[str]:
    open_calls: set[str] = set()
    for at, each in enumerate(messages):
        if each["role"] == "tool":
            if each["tool_call_id"] not in open_calls:
                yield f"message {at} answers no call"
            open_calls.discard(each["tool_call_id"])
            continue
        if open_calls:
            yield f"message {at} stands between a call and its answer"
        open_calls = {call["id"] for call in each.get("tool_calls") or ()}
    if open_calls:
        yield "a call has no answer"


class StrictServer(ThreadingHTTPServer):
    """Answers with one reply after another, and the last one for ever.

    Attributes:
        replies: What to say: words, or names of tools to call at once.
        heard: The conversations that it was sent.
        refused: What was wrong with them.
    """

    daemon_threads = True

    def __init__(self, replies: Sequence[str | tuple[str, ...]], *, leading_system: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = list(replies)
        self.leading_system = leading_system
        self.heard: list[list[dict[str, Any]]] = []
        self.refused: list[str] = []

    def model(self) -> ChatOpenAI:
        """Return the real client for it."""
        return ChatOpenAI(
            model="scripted",
            base_url=f"http://127.0.0.1:{self.server_address[1]}/v1",
            api_key="none",  # type: ignore[arg-type]
            max_retries=0,
        )

    def answer(self, messages: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        """Return status and body for a conversation."""
        number = len(self.heard)
        self.heard.append(messages)
        wrong = problems(messages, leading_system=self.leading_system)
        self.refused += wrong
        if wrong:
            return 400, {"error": {"message": "; ".join(wrong), "type": "invalid_request_error"}}
        reply = self.replies[min(number, len(self.replies) - 1)]
        message: dict[str, Any] = {"role": "assistant", "content": reply}
        if isinstance(reply, tuple):
            message["content"] = None
            message["tool_calls"] = [
                {
                    "id": f"call-{number}-{at}",
                    "type": "function",
                    "function": {"name": name, "arguments": "{}"},
                }
                for at, name in enumerate(reply)
            ]
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": f"c{number}", "object": "chat.completion", "created": 0, "model": "scripted"}
        return 200, {**head, "choices": [choice], "usage": usage}


class _Handler(BaseHTTPRequestHandler):
    server: StrictServer

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        status, body = self.server.answer(json.loads(self.rfile.read(length))["messages"])
        sent = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


@contextmanager
def strict_server(
    *replies: str | tuple[str, ...], leading_system: bool = False
) -> Iterator[StrictServer]:
    """Serve until the block is left."""
    server = StrictServer(replies, leading_system=leading_system)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
