"""Several processes on one LangGraph store: every event counts exactly once."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from langgraph.store.sqlite import SqliteStore

from driftguard_langgraph.memory.stores.langgraph import LangGraphMemoryStore
from tests.integration.langgraph_worker import record_half_shared
from tests.memory_samples import HOME

WRITERS = 4
EACH = 60
PATIENCE = 300

# Imports what the workers need once; each of them is then begun in a moment.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.integration.langgraph_worker"])


def test_processes_that_record_half_the_same_events_count_exactly(tmp_path: Path) -> None:
    path = str(tmp_path / "store.sqlite3")
    with SqliteStore.from_conn_string(path) as base, LangGraphMemoryStore(base) as watching:
        base.setup()
        assert list(watching.list(HOME)) == []
        together = PROCESSES.Barrier(WRITERS)
        running = [
            PROCESSES.Process(target=record_half_shared, args=(path, together, me, EACH))
            for me in range(WRITERS)
        ]
        for process in running:
            process.start()
        for process in running:
            process.join(PATIENCE)
            assert process.exitcode == 0
        names = {f"shared {n}" for n in range(1, EACH, 2)}
        names |= {f"{me} {n}" for me in range(WRITERS) for n in range(0, EACH, 2)}
        often = EACH // 10
        counts = {f"step {n}": often if n % 2 else WRITERS * often for n in range(10)}
        with LangGraphMemoryStore(base) as fresh:
            for store in (watching, fresh):
                kept = [found.episode_id for found in store.list(HOME, limit=1000)]
                assert sorted(kept) == sorted(names)
                paths = store.paths(HOME, "mistake")
                assert {found.action: found.frequency for found in paths} == counts
