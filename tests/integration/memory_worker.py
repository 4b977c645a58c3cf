"""A process that uses a memory file; run as `python -m tests.integration.memory_worker`.

It says `ready`, waits for a line on its standard input, and does what its arguments say.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import count

from driftguard_langgraph.errors import CorruptStore, DriftGuardError
from driftguard_langgraph.memory.engine import MemoryEngine
from driftguard_langgraph.memory.prune import prune
from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.settings import DriftGuardSettings
from tests.memory_samples import HOME, NOON, SeededEmbedder, append, episode, vector


class Lowercase:
    """A normaliser without tables."""

    def label(self, text: str) -> str:
        return text.lower()


def say(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def append_some(path: str, prefix: str, number: str, distinct: str) -> None:
    """Append episodes; with `distinct` the texts differ from process to process."""
    with SqliteMemoryStore.open(path) as store:
        stored = 0
        for n in range(int(number)):
            text = f"{prefix if distinct else 'shared'} step {n}"
            stored += append(store, episode(f"{prefix} {n}", text, "failed", "lost")).stored
        say(stored)


def append_until_killed(path: str, prefix: str) -> None:
    store = SqliteMemoryStore.open(path)
    for n in count():
        name = f"{prefix} {n}"
        append(store, episode(name, f"{prefix} step {n}", "failed", f"lost {n % 7}"))
        say(name)


def remember(path: str, prefix: str, number: str) -> None:
    """Record through the engine, which looks for a node before it makes one."""
    store = SqliteMemoryStore.open(path)
    engine = MemoryEngine(lambda: store, SeededEmbedder(), Lowercase(), DriftGuardSettings())
    created = [
        engine.remember(episode(f"{prefix} {n}", f"step {n}", "failed", "lost")).nodes_created
        for n in range(int(number))
    ]
    engine.close()
    say(sum(created))


def open_and_append(path: str, prefix: str) -> None:
    try:
        with SqliteMemoryStore.open(path) as store:
            append(store, episode(prefix))
            say("kept")
    except CorruptStore:
        say("refused")


def prune_often(path: str, times: str) -> None:
    """Add something old and prune it, beside whoever writes."""
    with SqliteMemoryStore.open(path) as store:
        removed = 0
        for n in range(int(times)):
            old = NOON - timedelta(days=100)
            append(store, episode(f"old {n}", f"old step {n}", "failed", "lost", created_at=old))
            report = prune(store, HOME, NOON, 60, 2)
            removed += report["mistakes"]["episodes_removed"]
        say(removed)


def answer(path: str) -> None:
    """Answer every line with the nearest texts, or keep what follows `append `."""
    with SqliteMemoryStore.open(path) as store:
        say("open")
        for line in sys.stdin:
            name = line.strip().removeprefix("append ")
            try:
                if line.startswith("append "):
                    say(append(store, episode(name, name)).stored)
                else:
                    hits = store.search(HOME, "mistake", "action", vector(name), 3)
                    say([hit.action.text for hit in hits])
            except DriftGuardError as error:
                say(f"{type(error).__name__}: {error}")


COMMANDS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        append_some,
        append_until_killed,
        remember,
        open_and_append,
        prune_often,
        answer,
    )
}

if __name__ == "__main__":
    say("ready")
    sys.stdin.readline()
    COMMANDS[sys.argv[1]](*sys.argv[2:])
