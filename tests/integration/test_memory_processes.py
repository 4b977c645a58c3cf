"""Several processes on one memory file: nothing is lost, nothing is counted twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driftguard_langgraph.memory.stores.sqlite import SqliteMemoryStore
from driftguard_langgraph.memory.stores.sqlite_file import damage
from tests.memory_samples import HOME, append, episode, vector

ROOT = Path(__file__).parents[2]
GARBAGE = b"\x00\xff this is no database \n" * 400


class Worker:
    """A running `memory_worker`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def go(self) -> Worker:
        self.tell("go")
        return self

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line: str) -> Any:
        self.tell(line)
        return self.hear()

    def hear(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            pytest.fail(f"the process ended with {self.process.wait(60)}")
        return json.loads(line)

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(60) == 0


Start = Callable[..., Worker]


@pytest.fixture
def start(database: Path) -> Iterator[Start]:
    """Starts a worker on the database; it waits for `go`."""
    with ExitStack() as running:

        def begin(command: str, *arguments: object) -> Worker:
            line = [sys.executable, "-m", "tests.integration.memory_worker", command]
            process = subprocess.Popen(
                [*line, str(database), *map(str, arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            running.enter_context(process)
            running.callback(process.kill)
            return Worker(process)

        yield begin


def all_together(workers: list[Worker]) -> list[Any]:
    """Let them begin at once, and return what each says at its end."""
    assert [worker.hear() for worker in workers] == ["ready"] * len(workers)
    for worker in workers:
        worker.go()
    said = [worker.hear() for worker in workers]
    for worker in workers:
        worker.end()
    return said


def test_eight_processes_create_one_memory_and_lose_nothing(database: Path, start: Start) -> None:
    workers = [start("append_some", f"p{n}", 200, "distinct") for n in range(8)]
    assert all_together(workers) == [200] * 8
    with SqliteMemoryStore.open(database) as store:
        paths = store.paths(HOME, "mistake")
        assert len(paths) == 1600
        assert {path.frequency for path in paths} == {1}
        names = {kept.episode_id for kept in store.list(HOME, limit=2000)}
        assert names == {f"p{p} {n}" for p in range(8) for n in range(200)}
        assert len(store.search(HOME, "mistake", "action", vector("x"), 2000)) == 1600
    assert damage(database, thorough=True) is None
    assert list(database.parent.glob("*damaged*")) == []


def test_the_same_failure_seen_by_eight_processes_is_counted_eight_times(
    database: Path, start: Start
) -> None:
    workers = [start("append_some", f"p{n}", 15, "") for n in range(8)]
    assert all_together(workers) == [15] * 8
    with SqliteMemoryStore.open(database) as store:
        paths = store.paths(HOME, "mistake")
        assert [path.frequency for path in paths] == [8] * 15
        assert len(store.texts()) == 15 + 2


def test_the_same_episode_from_several_processes_is_kept_once(database: Path, start: Start) -> None:
    workers = [start("append_some", "same", 40, "distinct") for _ in range(4)]
    assert sum(all_together(workers)) == 40
    with SqliteMemoryStore.open(database) as store:
        assert [path.frequency for path in store.paths(HOME, "mistake")] == [1] * 40


def test_processes_that_meet_the_same_new_texts_make_one_node_of_each(
    database: Path, start: Start
) -> None:
    workers = [start("remember", f"p{n}", 12) for n in range(4)]
    assert sum(all_together(workers)) == 12 + 2
    with SqliteMemoryStore.open(database) as store:
        paths = store.paths(HOME, "mistake")
        assert sorted(path.action for path in paths) == sorted(f"step {n}" for n in range(12))
        assert [path.frequency for path in paths] == [4] * 12


def test_what_one_process_records_another_sees_at_its_next_call(
    database: Path, start: Start
) -> None:
    with SqliteMemoryStore.open(database) as store:
        append(store, episode("1", "first"))
        other = start("answer").go()
        assert (other.hear(), other.hear()) == ("ready", "open")
        assert other.ask("first") == ["first"]
        append(store, episode("2", "second"))
        assert other.ask("second")[0] == "second"
        store.delete(HOME, "1")
        assert other.ask("first") == ["second"]
        assert other.ask("append third") is True
        assert store.search(HOME, "mistake", "action", vector("third"), 1)[0].node == "third"
        other.end()


def test_pruning_beside_a_writer_loses_nothing_and_revives_nothing(
    database: Path, start: Start
) -> None:
    writers = [start("append_some", f"w{n}", 60, "distinct") for n in range(2)]
    assert all_together([*writers, start("prune_often", 12)]) == [60, 60, 12]
    with SqliteMemoryStore.open(database) as store:
        names = {kept.episode_id for kept in store.list(HOME, limit=1000)}
        assert names == {f"w{w} {n}" for w in range(2) for n in range(60)}
        assert not [text for text in store.texts() if text.startswith("old")]


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_writer_loses_nothing_it_acknowledged_and_leaves_no_lock(
    database: Path, start: Start, seed: int
) -> None:
    acknowledged = []
    rng = np.random.default_rng(seed)
    for life in range(6):
        writer = start("append_until_killed", f"life {life}").go()
        assert writer.hear() == "ready"
        acknowledged += [writer.hear() for _ in range(rng.integers(1, 60))]
        writer.process.kill()
        # What it still said before it died counts as well.
        assert writer.process.stdout is not None
        rest = writer.process.stdout.read().splitlines(keepends=True)
        acknowledged += [json.loads(line) for line in rest if line.endswith("\n")]
    with SqliteMemoryStore.open(database) as store:
        kept = [each.episode_id for each in store.list(HOME, limit=100_000)]
        assert set(acknowledged) <= set(kept)
        # At most the one that was committed and not yet said, in each life.
        assert len(kept) - len(acknowledged) <= 6
        assert append(store, episode("afterwards")).stored
        counted = sum(path.frequency for path in store.paths(HOME, "mistake"))
        assert counted == len(kept) + 1
    assert damage(database, thorough=True) is None


def test_processes_that_open_one_damaged_file_at_once_all_leave_it_as_it_is(
    database: Path, start: Start
) -> None:
    database.write_bytes(GARBAGE)
    workers = [start("open_and_append", f"p{n}") for n in range(6)]
    assert list(all_together(workers)) == ["refused"] * 6
    assert database.read_bytes() == GARBAGE
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def test_a_process_that_had_the_damaged_file_open_goes_on_in_the_new_one(
    database: Path, start: Start
) -> None:
    SqliteMemoryStore.open(database).close()
    old = start("answer").go()
    assert (old.hear(), old.hear()) == ("ready", "open")
    assert old.ask("append before") is True
    damaging = "import sys; open(sys.argv[1], 'r+b').write(b'no database ' * 9000)"
    subprocess.run([sys.executable, "-c", damaging, str(database)], check=True)
    for path in database.parent.iterdir():
        path.rename(path.with_name(f"old {path.name}"))
    new = start("open_and_append", "of the new one").go()
    assert (new.hear(), new.hear()) == ("ready", "kept")
    new.end()
    assert old.ask("append after") is True
    old.end()
    with SqliteMemoryStore.open(database) as store:
        assert [kept.episode_id for kept in store.list(HOME)] == ["of the new one", "after"]
