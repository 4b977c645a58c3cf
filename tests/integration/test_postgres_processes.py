"""Several processes on one Postgres memory: nothing is lost, nothing is counted twice."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import psycopg
import pytest

from driftguard_langgraph.memory.stores import postgres_session
from driftguard_langgraph.memory.stores.postgres import PostgresMemoryStore
from tests.integration.postgres_worker import (
    append_until_killed,
    open_and_append,
    remember_half_shared,
)
from tests.memory_samples import HOME, append, episode
from tests.postgres_server import schema_dsn

LIVES = 30
PATIENCE = 120

# Imports what the workers need once; each of them is then begun in a moment.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.integration.postgres_worker"])


@pytest.fixture
def dsn(tmp_path: Path) -> str:
    return schema_dsn(tmp_path)


def all_together(dsn: str, work: Callable[..., None], workers: int, number: int = 0) -> list[int]:
    """Let processes do the same thing at the same time, and return what each says."""
    together = PROCESSES.Barrier(workers)
    running, answers = [], []
    for me in range(workers):
        hear, say = PROCESSES.Pipe(duplex=False)
        process = PROCESSES.Process(target=work, args=(dsn, together, say, me, number))
        process.start()
        say.close()
        running.append(process)
        answers.append(hear)
    said = []
    for hear in answers:
        assert hear.poll(PATIENCE), "a process does not answer"
        said.append(hear.recv())
        hear.close()
    for process in running:
        process.join(PATIENCE)
        assert process.exitcode == 0
    return said


def test_eight_processes_record_half_the_same_events_and_every_count_is_exact(dsn: str) -> None:
    stored = all_together(dsn, remember_half_shared, 8, 200)
    assert sum(stored) == 8 * 100 + 100
    with PostgresMemoryStore.open(dsn) as store:
        names = {kept.episode_id for kept in store.list(HOME, limit=10_000)}
        own = {f"own {me} {n}" for me in range(8) for n in range(0, 200, 2)}
        assert names == own | {f"shared {n}" for n in range(1, 200, 2)}
        counts: Counter[str] = Counter()
        for path in store.paths(HOME, "mistake"):
            counts[path.action] += path.frequency
        assert counts == {f"step {n}": 1 if n % 2 else 8 for n in range(200)}


def test_processes_that_set_the_memory_up_at_once_make_one(dsn: str) -> None:
    assert all_together(dsn, open_and_append, 4) == [True] * 4
    with PostgresMemoryStore.open(dsn) as store:
        assert {kept.episode_id for kept in store.list(HOME)} == {f"of {me}" for me in range(4)}


def one_life(dsn: str, life: int, acknowledgements: int, moment: float) -> list[str]:
    """Begin a writer, kill it at some moment, and return all that it acknowledged."""
    hear, say = PROCESSES.Pipe(duplex=False)
    writer = PROCESSES.Process(target=append_until_killed, args=(dsn, say, life))
    writer.start()
    say.close()
    acknowledged = []
    for _ in range(acknowledgements):
        assert hear.poll(PATIENCE), "the writer does not answer"
        acknowledged.append(hear.recv())
    # Somewhere within the next record, or the one after.
    time.sleep(moment)
    writer.kill()
    acknowledged += what_is_left(hear)
    writer.join(PATIENCE)
    return acknowledged


def what_is_left(hear: Connection) -> list[str]:
    """What a killed process still said before it died counts as well."""
    left: list[str] = []
    try:
        while True:
            left.append(hear.recv())
    except EOFError:
        hear.close()
        return left


def advisory_locks(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        counted = connection.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
        return int((counted.fetchone() or (0,))[0])


def test_writers_killed_at_random_moments_lose_nothing_they_acknowledged_and_leave_no_lock(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_session, "LOCK_TIMEOUT", 10.0)
    rng = np.random.default_rng(6)
    acknowledged = []
    with PostgresMemoryStore.open(dsn) as store:
        for life in range(LIVES):
            acknowledged += one_life(dsn, life, int(rng.integers(0, 12)), rng.uniform(0, 0.03))
            # Here and now, through a connection that was there all the time.
            assert append(store, episode(f"after {life}", "after a death")).stored
        assert advisory_locks(dsn) == 0
        kept = {each.episode_id for each in store.list(HOME, limit=100_000)}
        assert set(acknowledged) <= kept
        assert len(acknowledged) > LIVES
        # At most the one that was committed and not yet said, in each life.
        assert len(kept) - len(acknowledged) - LIVES <= LIVES
        counted = sum(path.frequency for path in store.paths(HOME, "mistake"))
        assert counted == len(kept)
