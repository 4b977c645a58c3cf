"""A process that uses a session memory; run as `python -m tests.integration.session_worker`.

It says `ready`, waits for a line on its standard input, and does what its arguments say.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import count
from threading import Thread

from driftguard_langgraph.drift.tracking.session_document import Change, new_exchange
from driftguard_langgraph.drift.tracking.session_memory import SessionMemory
from driftguard_langgraph.drift.tracking.tracker import DriftTracker

PROMPT = "You plan gardens. Never recommend pesticides."


def say(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def turn(name: str) -> Change:
    """One exchange with a state as large as a monitor's."""
    exchange = new_exchange(name, f"question of {name}", f"answer to {name} " * 30)
    state = {"mark": name, "monitor": ["x" * 2_000]}
    return {"do": "turn", "contexts": ["c"], "session": 1, "exchange": exchange, "state": state}


def commit(path: str, prefix: str, number: str) -> None:
    memory = SessionMemory(path)
    for n in range(int(number)):
        memory.commit(turn(f"{prefix} {n}"))
    say(int(number))


def commit_in_threads(path: str, prefix: str, number: str) -> None:
    """The same with four threads on one memory."""
    memory = SessionMemory(path)

    def work(thread: int) -> None:
        for n in range(int(number)):
            memory.commit(turn(f"{prefix} {thread} {n}"))

    threads = [Thread(target=work, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    say(4 * int(number))


def commit_until_killed(path: str, prefix: str) -> None:
    memory = SessionMemory(path)
    for n in count():
        memory.commit(turn(f"{prefix} {n}"))
        say(f"{prefix} {n}")


def read_often(path: str, _: str, number: str) -> None:
    """Read the file as any other tool would, and say how often it was whole and grew."""
    sizes: list[int] = []
    while len(sizes) < int(number):
        try:
            with open(path, encoding="utf-8") as file:  # noqa: PTH123
                sessions = json.load(file)["sessions"]
        except FileNotFoundError:
            continue
        sizes.append(sum(len(session["exchanges"]) for session in sessions))
    say(sizes == sorted(sizes))


def track(path: str, prefix: str, number: str) -> None:
    """Record turns with a real tracker."""
    tracker = DriftTracker(PROMPT, persist=True, persist_path=path)
    for n in range(int(number)):
        tracker.record_turn(f"When do I plant the {prefix} {n}?", "After the last frost, in May.")
    say(int(number))


def track_and_end(path: str, prefix: str, number: str) -> None:
    """Record turns in sessions of three."""
    tracker = DriftTracker(PROMPT, mode="ondemand", persist=True, persist_path=path)
    for n in range(int(number)):
        tracker.record_turn(f"When do I plant the {prefix} {n}?", "After the last frost, in May.")
        if n % 3 == 2:
            tracker.end_session()
    say(int(number))


COMMANDS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        commit,
        commit_in_threads,
        commit_until_killed,
        read_often,
        track,
        track_and_end,
    )
}

if __name__ == "__main__":
    say("ready")
    sys.stdin.readline()
    COMMANDS[sys.argv[1]](*sys.argv[2:])
