"""What one decision costs without the embedding: `python benchmarks/decision_cost.py`.

Prints CPU milliseconds of comparing one new step with five candidates of 200 characters: as
in a running guard, whose candidates were seen before, and with every text new. Then the cost
of one comparison against its length, which has to stay proportional.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from driftguard_langgraph.judgement.match import compare
from driftguard_langgraph.types import Action

ROUNDS = 400
CANDIDATES = 5
CHARACTERS = 200
WORDS = (
    "delete remove the temp directory from staging server 42 with flag --force and copy "
    "/var/log/app.log to bucket-7 before midnight unless user_9 said no"
).split()


def _text(source: random.Random, characters: int) -> str:
    text = ""
    while len(text) < characters:
        text += source.choice(WORDS) + " "
    return text[:characters].strip()


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1e3


def _decide(step: Action, candidates: list[Action]) -> None:
    for candidate in candidates:
        compare(step, candidate, 0.8, 0.6)


def main() -> None:
    """Measure and print."""
    source = random.Random(0)  # noqa: S311 - a benchmark wants the same texts each time
    known = [Action(_text(source, CHARACTERS)) for _ in range(CANDIDATES)]
    for title, fresh in (("candidates seen before", False), ("every text new", True)):
        costs = []
        for _ in range(ROUNDS):
            step = Action(_text(source, CHARACTERS))
            candidates = [Action(_text(source, CHARACTERS)) for _ in known] if fresh else known
            costs.append(_milliseconds(lambda s=step, c=candidates: _decide(s, c)))  # type: ignore[misc]
        costs.sort()
        p50, p95 = costs[ROUNDS // 2], costs[ROUNDS * 95 // 100]
        print(f"{CANDIDATES} candidates, {title}: p50 {p50:.2f} ms, p95 {p95:.2f} ms")
    for characters in (1_000, 10_000, 100_000, 400_000):
        pair = [Action(_text(source, characters)) for _ in range(2)]
        cost = _milliseconds(lambda p=pair: compare(p[0], p[1], 0.8, 0.6))  # type: ignore[misc]
        print(f"one pair of {characters} characters: {cost:.1f} ms")


if __name__ == "__main__":
    main()
