"""Several processes and threads on one `.session_memory`: nothing is lost, nothing unreadable."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.drift.tracking import session_file
from driftguard_langgraph.drift.tracking.session_memory import SessionMemory
from driftguard_langgraph.drift.tracking.tracker import DriftTracker
from tests.integration.session_worker import PROMPT, turn

ROOT = Path(__file__).parents[2]


class Worker:
    """A running `session_worker`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def go(self) -> Worker:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return self

    def hear(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            pytest.fail(f"the process ended with {self.process.wait(60)}")
        return json.loads(line)


Start = Callable[..., Worker]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kept" / ".session_memory"


@pytest.fixture
def start(path: Path) -> Iterator[Start]:
    """Starts a worker on the file; it waits for `go`."""
    with ExitStack() as running:

        def begin(command: str, *arguments: object) -> Worker:
            line = [sys.executable, "-m", "tests.integration.session_worker", command]
            process = subprocess.Popen(
                [*line, str(path), *map(str, arguments)],
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
    return [worker.hear() for worker in workers]


def kept_ids(path: Path) -> list[str]:
    """Read the file as any other tool would."""
    sessions = json.loads(path.read_bytes())["sessions"]
    return [exchange["id"] for session in sessions for exchange in session["exchanges"]]


def asked(path: Path) -> list[str]:
    """What the users of all sessions asked, as any other tool would read it."""
    sessions = json.loads(path.read_bytes())["sessions"]
    return [exchange["user"] for session in sessions for exchange in session["exchanges"]]


def questions(name: str, number: int) -> list[str]:
    """What a worker that tracks `name` asks."""
    return [f"When do I plant the {name} {n}?" for n in range(number)]


def filled(path: Path) -> set[str]:
    """Make a file over the size up to which it is written anew with every turn."""
    names = [f"old {n}" for n in range(2_000)]
    SessionMemory(path).commit(*map(turn, names))
    assert path.stat().st_size > session_file.WHOLE_BYTES
    return set(names)


def test_two_processes_lose_no_turn_and_other_tools_see_all(path: Path, start: Start) -> None:
    workers = [start("commit", f"p{n}", 100) for n in range(2)]
    assert all_together(workers) == [100, 100]
    names = kept_ids(path)
    assert sorted(names) == sorted(f"p{p} {n}" for p in range(2) for n in range(100))
    for p in range(2):
        mine = [name for name in names if name.startswith(f"p{p} ")]
        assert mine == [f"p{p} {n}" for n in range(100)]
    sessions = json.loads(path.read_bytes())["sessions"]
    assert [each["exchange"] for each in sessions[0]["exchanges"]] == list(range(1, 201))
    assert list(path.parent.glob("*damaged*")) == []


def test_four_threads_beside_a_process_lose_no_turn(path: Path, start: Start) -> None:
    workers = [start("commit_in_threads", "t", 40), start("commit", "p", 40)]
    assert all_together(workers) == [160, 40]
    names = {f"t {t} {n}" for t in range(4) for n in range(40)} | {f"p {n}" for n in range(40)}
    assert Counter(kept_ids(path)) == Counter(names)


def test_a_reader_without_a_lock_always_finds_a_whole_file(start: Start) -> None:
    workers = [start("commit", f"p{n}", 60) for n in range(2)]
    assert all_together([*workers, start("read_often", "", 300)]) == [60, 60, True]


def test_processes_on_a_large_file_lose_no_turn(path: Path, start: Start) -> None:
    old = filled(path)
    workers = [start("commit", f"p{n}", 150) for n in range(2)]
    assert all_together(workers) == [150, 150]
    [session] = SessionMemory(path).read()["sessions"]
    new = {f"p{p} {n}" for p in range(2) for n in range(150)}
    assert Counter(each["id"] for each in session["exchanges"]) == Counter(old | new)
    for worker in workers:
        assert worker.process.wait(60) == 0
    # A process that ends leaves no journal, so other tools find all of it in the file.
    assert Counter(kept_ids(path)) == Counter(old | new)
    assert not path.with_name(path.name + ".journal").exists()


@pytest.mark.parametrize("large", [False, True], ids=["small file", "large file"])
@pytest.mark.parametrize("seed", range(4))
def test_a_killed_writer_loses_nothing_it_acknowledged_and_leaves_no_lock(
    path: Path, start: Start, seed: int, large: bool
) -> None:
    acknowledged = filled(path) if large else set()
    rng = random.Random(seed)  # noqa: S311
    for life in range(3):
        writer = start("commit_until_killed", f"life {life}").go()
        assert writer.hear() == "ready"
        acknowledged |= {writer.hear() for _ in range(rng.randrange(1, 40))}
        writer.process.kill()
        assert writer.process.stdout is not None
        rest = writer.process.stdout.read().splitlines(keepends=True)
        acknowledged |= {json.loads(line) for line in rest if line.endswith("\n")}
        writer.process.wait()
        json.loads(path.read_bytes())
    memory = SessionMemory(path)
    [session] = memory.read()["sessions"]
    found = [each["id"] for each in session["exchanges"]]
    assert len(found) == len(set(found))
    assert acknowledged <= set(found)
    # At most the one that was written and not yet said, in each life.
    assert len(found) - len(acknowledged) <= 3
    assert memory.damaged is None
    memory.commit(turn("afterwards"))
    assert list(path.parent.glob("*damaged*")) == []


def test_trackers_in_two_processes_share_one_session(path: Path, start: Start) -> None:
    workers = [start("track", name, 6) for name in ("beans", "plums")]
    assert all_together(workers) == [6, 6]
    tracker = DriftTracker(PROMPT, persist=True, persist_path=path)
    assert (tracker.session_number, tracker.turn_count) == (1, 12)
    report = tracker.end_session()
    assert report is not None
    assert report.total_turns == 12
    assert "[Session 1 | 12 exchanges |" in report.managed_context
    assert sorted(asked(path)) == sorted(questions("beans", 6) + questions("plums", 6))


def test_sessions_that_two_processes_end_are_each_counted_once(path: Path, start: Start) -> None:
    workers = [start("track_and_end", name, 12) for name in ("beans", "plums")]
    assert all_together(workers) == [12, 12]
    sessions = json.loads(path.read_bytes())["sessions"]
    numbers = [session["session_number"] for session in sessions]
    assert numbers == list(range(1, len(numbers) + 1))
    assert sorted(asked(path)) == sorted(questions("beans", 12) + questions("plums", 12))
    ended = [session for session in sessions if session["status"] == "completed"]
    assert all(session["summary"] and session["exchanges"] for session in ended)


def test_processes_that_meet_a_damaged_file_set_it_aside_once(path: Path, start: Start) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"sessions": [')
    workers = [start("commit", f"p{n}", 10) for n in range(4)]
    assert all_together(workers) == [10] * 4
    [aside] = path.parent.glob("*damaged*")
    assert aside.read_bytes() == b'{"sessions": ['
    assert len(kept_ids(path)) == 40
