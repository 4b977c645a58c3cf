"""Several processes on one JSON memory: nothing is lost, nothing is counted twice."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from driftguard_langgraph.memory.stores.json_store import JsonMemoryStore, damage
from tests.integration.json_worker import record_half_shared, record_until_killed
from tests.memory_samples import HOME, append, episode

LIVES = 30
WRITERS = 8
EACH = 200
PATIENCE = 300

# Imports what the workers need once; each of them is then begun in a moment.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.integration.json_worker"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.json"


def test_eight_processes_that_record_half_the_same_events_count_exactly(path: Path) -> None:
    together = PROCESSES.Barrier(WRITERS)
    running, answers = [], []
    for me in range(WRITERS):
        hear, say = PROCESSES.Pipe(duplex=False)
        arguments = (str(path), together, say, me, EACH)
        process = PROCESSES.Process(target=record_half_shared, args=arguments)
        process.start()
        say.close()
        running.append(process)
        answers.append(hear)
    stored = 0
    for hear in answers:
        assert hear.poll(PATIENCE), "a process does not answer"
        stored += hear.recv()
    for process in running:
        process.join(PATIENCE)
        assert process.exitcode == 0
    shared = {f"shared {n}" for n in range(1, EACH, 2)}
    own = {f"{me} {n}" for me in range(WRITERS) for n in range(0, EACH, 2)}
    assert stored == len(shared | own)
    with JsonMemoryStore.open(path) as store:
        assert Counter(kept.episode_id for kept in store.list(HOME, limit=10_000)) == Counter(
            shared | own
        )
        counts = {found.action: found.frequency for found in store.paths(HOME, "mistake")}
    often = EACH // 20
    assert counts == {f"step {n}": often if n % 2 else WRITERS * often for n in range(20)}
    [memory] = json.loads(path.read_text())["memories"]
    nodes = {node["label"]: node["frequency"] for node in memory["mistakes"]["nodes"]}
    assert nodes == {**counts, "failed": stored, "lost": stored}


def test_writers_killed_at_random_moments_lose_nothing_and_leave_no_lock(path: Path) -> None:
    rng = np.random.default_rng(6)
    acknowledged: list[str] = []
    for life in range(LIVES):
        hear, say = PROCESSES.Pipe(duplex=False)
        process = PROCESSES.Process(target=record_until_killed, args=(str(path), say, life))
        process.start()
        say.close()
        assert hear.poll(PATIENCE), "the next process could not write"
        acknowledged.append(hear.recv())
        time.sleep(rng.uniform(0.0, 0.05))
        process.kill()
        process.join(PATIENCE)
        try:
            # What it still said before it died counts as well.
            while hear.poll():
                acknowledged.append(hear.recv())
        except EOFError:
            pass
        hear.close()
        assert damage(path) is None
    with JsonMemoryStore.open(path) as store:
        kept = [each.episode_id for each in store.list(HOME, limit=100_000)]
        assert set(acknowledged) <= set(kept)
        # At most the one that was kept and not yet said, in each life.
        assert len(kept) - len(acknowledged) <= LIVES
        assert append(store, episode("afterwards")).stored
        assert sum(found.frequency for found in store.paths(HOME, "mistake")) == len(kept) + 1
