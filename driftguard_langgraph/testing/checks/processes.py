"""Several processes on one memory: nothing is lost, nothing is counted twice."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from driftguard_langgraph.memory.prune import prune
from driftguard_langgraph.testing.places import Factory, Place, Places, needs
from driftguard_langgraph.testing.samples import HOME, NOON, append, episode, vector

PATIENCE = 120
"""Seconds after which a process that does not answer is a failure."""

WRITERS = 4
EACH = 20


def record_some(factory: Factory, place: Path, writer: int) -> int:
    """Record episodes, every second one the same in all processes; return how many were new."""
    stored = 0
    with factory(place) as store:
        for number in range(EACH):
            name = f"shared {number}" if number % 2 else f"{writer} {number}"
            stored += append(store, episode(name, f"step {number}", "f", "o")).stored
    return stored


def prune_often(factory: Factory, place: Path, times: int) -> int:
    """Record something old and prune it, beside whoever writes; return how many went."""
    removed = 0
    with factory(place) as store:
        for number in range(times):
            old = episode(f"old {number}", f"old {number}", created_at=NOON - timedelta(days=100))
            append(store, old)
            removed += prune(store, HOME, NOON, 60, 2)["mistakes"]["episodes_removed"]
    return removed


def count_found(factory: Factory, place: Path) -> tuple[int, int]:
    """Return how many episodes are listed, and how many actions are found."""
    with factory(place) as store:
        hits = store.search(HOME, "mistake", "action", vector("any"), 1000)
        return len(store.list(HOME, limit=1000)), len(hits)


Task = tuple[Callable[[Factory, Path, int], int], int]


@contextmanager
def pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open processes that share nothing with this one."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as processes:
        yield processes


def at_once(place: Place, *tasks: Task) -> list[int]:
    """Run each task in a process of its own; return what they answer."""
    with pool(len(tasks)) as processes:
        running = [
            processes.submit(task, place.factory, place.path, value) for task, value in tasks
        ]
        return [task.result(PATIENCE) for task in running]


class ProcessChecks(Places):
    """What holds for handles holds for those of other processes."""

    @needs("cross_process")
    def test_processes_at_once_lose_nothing_and_keep_every_episode_once(self, place: Place) -> None:
        place.open()
        stored = at_once(place, *((record_some, writer) for writer in range(WRITERS)))
        distinct = WRITERS * EACH // 2 + EACH // 2
        assert sum(stored) == distinct
        store = place.open()
        assert len(store.list(HOME, limit=1000)) == distinct
        counts = {path.action: path.frequency for path in store.paths(HOME, "mistake")}
        assert counts == {f"step {n}": 1 if n % 2 else WRITERS for n in range(EACH)}

    @needs("cross_process")
    def test_pruning_beside_writers_loses_nothing_and_revives_nothing(self, place: Place) -> None:
        place.open()
        answers = at_once(place, (record_some, 0), (record_some, 1), (prune_often, 8))
        assert answers[2] == 8
        store = place.open()
        assert len(store.list(HOME, limit=1000)) == EACH + EACH // 2
        assert not [text for text in store.texts() if text.startswith("old")]

    @needs("cross_process")
    def test_another_process_finds_what_was_just_recorded_and_deleted(self, place: Place) -> None:
        store = place.open()
        with pool(1) as processes:
            for number in range(3):
                append(store, episode(f"e{number}", f"a{number}"))
                task = processes.submit(count_found, place.factory, place.path)
                assert task.result(PATIENCE) == (number + 1, number + 1)
            store.delete(HOME, "e1")
            task = processes.submit(count_found, place.factory, place.path)
            assert task.result(PATIENCE) == (2, 2)
