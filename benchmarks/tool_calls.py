"""What the guard costs a tool call: `python benchmarks/tool_calls.py`.

Prints CPU milliseconds that the middleware adds to one tool call over a SQLite memory, without
the embedding (a stub's vectors of 384 numbers, drawn beforehand) and without the tool: the review
before it, the record after it, and the count of what repeats in a long thread.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.records import Vector
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.middleware.guard import DriftGuardMiddleware
from driftguard_langgraph.middleware.repeats import counted
from driftguard_langgraph.middleware.tool_node import guard_tool_call
from driftguard_langgraph.testing.samples import vector
from driftguard_langgraph.text.actions import render_tool_call

EPISODES = 1_000
ROUNDS = 400
TURNS = 120
LIMIT_MS = 3.0


class Stub:
    """Vectors that depend on the text alone, each drawn once."""

    model_id, dimension = "stub", 384

    def __init__(self) -> None:
        self._known: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return one row for each text."""
        for text in texts:
            if text not in self._known:
                self._known[text] = vector(text, self.dimension)
        return np.stack([self._known[text] for text in texts])


def _call(path: str, name: str) -> Any:
    return {"name": "save", "args": {"path": path}, "id": name, "type": "tool_call"}


def _thread() -> list[Any]:
    messages: list[Any] = [HumanMessage("save it all", id="h")]
    for turn in range(TURNS):
        call = _call(f"/srv/{turn}", f"c{turn}")
        messages.append(AIMessage("", tool_calls=[call], id=f"a{turn}"))
        text = f"2026-11-30T05:48:12Z saved part {turn} in 0.2s. " * 20
        messages.append(ToolMessage(text, tool_call_id=f"c{turn}", id=f"t{turn}"))
    return messages


def _cpu(step: Callable[[int], object]) -> tuple[float, float]:
    gc.collect()
    costs = []
    for number in range(ROUNDS):
        began = time.process_time()
        step(number)
        costs.append((time.process_time() - began) * 1e3)
    costs.sort()
    return statistics.median(costs), costs[ROUNDS * 95 // 100]


def _guarded(wrap: Callable[..., Any], state: Any, path: str) -> Callable[[int], object]:
    def step(number: int) -> object:
        call = _call(path.format(number), f"n{number}")
        request = ToolCallRequest(tool_call=call, tool=None, state=state, runtime=None)  # type: ignore[arg-type]
        answer = ToolMessage("saved", tool_call_id=call["id"])
        return wrap(request, lambda _request: answer)

    return step


def main() -> None:
    """Measure and print."""
    messages = _thread()
    kept = counted(None, messages[:-2])
    with (
        tempfile.TemporaryDirectory() as folder,
        SqliteMemoryStore.open(Path(folder) / "memory.sqlite3") as store,
    ):
        stub = Stub()
        guard = DriftGuard(store=store, embeddings=stub)
        for number in range(EPISODES):
            keep = guard.record if number % 2 else guard.record_success
            keep(_call(f"/srv/{number % 300}", "x"), f"feedback {number % 50}", "it ended")
        agent = DriftGuardMiddleware(guard, policy="warn").wrap_tool_call
        node = guard_tool_call(guard, policy="warn").wrap_tool_call
        state = {"messages": messages, "driftguard_progress": kept}
        steps: dict[str, Callable[[int], object]] = {
            "middleware, unknown call": _guarded(agent, state, "/new/{}"),
            "middleware, known call": _guarded(agent, state, "/srv/7"),
            "tool node, unknown call": _guarded(node, state, "/other/{}"),
            "tool node, repeated call": _guarded(node, state, "/srv/100"),
            "count one turn": lambda _number: counted(kept, messages),
        }
        for path in ("/new/{}", "/other/{}"):
            for number in range(ROUNDS):
                stub.embed([render_tool_call("save", {"path": path.format(number)})])
        for name, step in steps.items():
            median, p95 = _cpu(step)
            verdict = "ok" if p95 < LIMIT_MS else f"over {LIMIT_MS} ms"
            print(f"{name:26} median {median:6.2f} ms   p95 {p95:6.2f} ms   {verdict}")


if __name__ == "__main__":
    main()
