"""What watching one turn costs without embedding: `python benchmarks/drift_cost.py`.

Prints CPU milliseconds of a turn of 40 words, at the 10th and the 1,000th turn of a session (their
ratio has to stay near 1), with the share of each measure; then the cost of one JSON tool result of
85 KB on a single line, of a message of 1 MB, of a new monitor for a known prompt, and of a visit
to a graph in which nothing is new; and the size of the state that a graph would keep.

A machine that does other work only ever makes a turn slower. So the same session is watched
several times, the least cost of each turn counts, and the median is taken over the turns around.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.drift.watch import DriftWatch
from driftguard_langgraph.settings import DriftGuardSettings

SESSIONS = 7
EARLY, LATE, SPREAD = 20, 1_000, 30
"""Middle of the first and of the last turns that are compared, and how many of each."""
WORDS = (
    "please book the train from Oslo to Bergen on Friday for two people with one window seat you "
    "can not change a ticket after noon unless the desk agrees and every refund is at most eighty"
).split()
RARE = 3_000
PROMPT = (
    "You are the desk of a railway. Never refund a ticket after departure. Always ask for the "
    "booking number. A refund is at most 80 euros. You may change seats. Be polite and short."
)
ENGINES = ("topic", "fingerprint", "ledger", "pressure", "loops")
Costs = dict[str, list[float]]
"""CPU milliseconds of each turn: of each engine, and of all."""


class FreeEmbedder:
    """Gives every text the same vector at once, so that only the watching is measured."""

    model_id = "free"
    dimension = 8

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text."""
        return np.tile(np.eye(1, self.dimension, dtype=np.float32), (len(texts), 1))


def _sentence(source: random.Random, words: int) -> str:
    chosen = [
        source.choice(WORDS) if source.random() < 0.8 else f"place{source.randrange(RARE)}"
        for _ in range(words)
    ]
    return " ".join(chosen).capitalize() + "."


def _turns(count: int) -> list[dict[str, str]]:
    source = random.Random(0)  # noqa: S311 - the same texts each time
    return [
        {
            "role": ("user", "assistant")[place % 2],
            "content": " ".join(_sentence(source, 10) for _ in range(4)),
            "id": f"m{place}",
        }
        for place in range(count)
    ]


def _answer() -> str:
    rows = [
        {"policy": f"rule {place}", "requirement": place, "note": "it is not due, it must wait"}
        for place in range(1_020)
    ]
    return json.dumps(rows)


def _monitor() -> DriftMonitor:
    return DriftMonitor(PROMPT, embeddings=FreeEmbedder(), settings=DriftGuardSettings())


def _cost(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return (time.process_time() - began) * 1e3


def _least(act: Callable[[], object]) -> float:
    return min(_cost(act) for _ in range(SESSIONS))


def _timed(engine: Any, name: str, costs: Costs) -> None:
    """Let an engine note what each of its turns costs."""
    observe = engine.observe

    def noted(turn: object) -> object:
        began = time.process_time()
        reading = observe(turn)
        costs[name].append((time.process_time() - began) * 1e3)
        return reading

    engine.observe = noted


def _session(turns: Sequence[object]) -> Costs:
    costs: Costs = defaultdict(list)
    monitor = _monitor()
    for name in ENGINES:
        _timed(getattr(monitor._engines, name), name, costs)  # noqa: SLF001 - it has no other place
    for turn in turns:
        costs["monitor"].append(_cost(lambda turn=turn: monitor.observe(turn)))  # type: ignore[misc]
    return costs


def _report_turns(turns: Sequence[object]) -> None:
    sessions = [_session(turns) for _ in range(SESSIONS)]
    for name in ("monitor", *ENGINES):
        least = [min(costs) for costs in zip(*(one[name] for one in sessions), strict=True)]
        early, late = (
            statistics.median(least[at - SPREAD // 2 :][:SPREAD]) for at in (EARLY, LATE)
        )
        print(f"{name}: 10th turn {early:.3f} ms, 1,000th {late:.3f} ms (x{late / early:.2f})")


def _report_visits(turns: Sequence[object]) -> None:
    watch = DriftWatch(_monitor())
    kept = watch.measure(list(turns)).kept
    idle = _least(lambda: watch.measure(list(turns), kept))
    print(f"a visit with {len(turns):,} known messages: {idle:.1f} ms")
    print(f"state after them: {len(json.dumps(kept)) / 1e3:.0f} KB")


def main() -> None:
    """Measure and print."""
    turns = _turns(LATE + SPREAD)
    _report_turns(turns)
    monitor = _monitor()
    answer, long = _answer(), "the desk refunds this ticket and " * 30_000
    number = iter(range(10**6))
    unread = _least(lambda: monitor.observe(("tool", f"{next(number)} {answer}")))
    print(f"{len(answer) / 1e3:.0f} KB of JSON: {unread:.1f} ms")
    unread = _least(lambda: monitor.observe(("user", f"{next(number)} {long}")))
    print(f"a message of {len(long) / 1e6:.0f} MB: {unread:.1f} ms")
    print(f"a monitor for a known prompt: {_least(monitor.fresh):.2f} ms")
    _report_visits(turns)


if __name__ == "__main__":
    main()
