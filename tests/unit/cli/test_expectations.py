"""Each promise of the demo must be able to fail: a good story is spoilt in every way."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from driftguard_langgraph.cli.demo.expectations import Story, check
from driftguard_langgraph.cli.demo.phase import run_phase
from driftguard_langgraph.cli.demo.recovery import run_recovery
from driftguard_langgraph.cli.demo.snapshot import snapshot

Spoil = Callable[[Story], Any]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Story:
    db = tmp_path_factory.mktemp("demo") / "memory.sqlite3"
    before = snapshot(db)
    first = run_phase("first", db)
    between = snapshot(db)
    second = {**run_phase("second", db), "pid": -1}
    third = run_recovery()
    return Story((before, between, snapshot(db)), first, second, third, scripted=True)


def broken(story: Story) -> list[str]:
    return [found.what for found in check(story) if not found.held]


def test_a_real_story_keeps_every_promise(told: Story) -> None:
    assert broken(told) == []
    assert len(check(told)) > 50


def job(story: Story, number: int) -> dict[str, Any]:
    found: dict[str, Any] = story.second["jobs"][number]
    return found


def first_warning(story: Story) -> dict[str, Any]:
    warning: dict[str, Any] = job(story, 0)["reviews"][0]["review"]["warnings"][0]
    return warning


def of(value: Any, **changes: Any) -> None:
    value.update(changes)


@pytest.mark.parametrize(
    ("spoil", "promise"),
    [
        (lambda s: of(s.memories[0]["stats"], episodes=1), "the memory is empty before run 1"),
        (lambda s: of(s.first["jobs"][0], success=True), "run 1, disk: fails"),
        (lambda s: s.first["jobs"][0]["path"].pop(), "run 1, disk: path"),
        (
            lambda s: s.memories[1]["episodes"].pop(),
            "run 1's failures are in the memory, once each",
        ),
        (lambda s: of(s.memories[1]["stats"]["mistakes"], episodes=4), "they are mistakes"),
        (lambda s: of(s.second, pid=s.first["pid"]), "run 2 is another process"),
        (
            lambda s: of(s.memories[2]["stats"], episodes=7),
            "run 2 records every step that it ran",
        ),
        (lambda s: of(s.memories[2]["stats"]["mistakes"], episodes=4), "run 2 adds no failure"),
        (lambda s: job(s, 0)["path"].insert(1, "planner"), "run 2, disk: path"),
        (
            lambda s: of(job(s, 0)["reviews"][0]["review"], decision="proceed"),
            "run 2, disk: the first proposal is warned",
        ),
        (
            lambda s: of(
                first_warning(s), episode_ids=[s.memories[1]["episodes"][1]["episode_id"]]
            ),
            "run 2, disk: the evidence is run 1's failure of this job",
        ),
        (
            lambda s: of(first_warning(s), episode_ids=["made up"]),
            "run 2, disk: the evidence is run 1's failure of this job",
        ),
        (
            lambda s: job(s, 0)["executed"].insert(0, "remove everything under the tmp folder"),
            "run 2, disk: only the revised step is run",
        ),
        (lambda s: of(job(s, 0), success=False), "run 2, disk: succeeds"),
        (lambda s: of(job(s, 1), reached=False), "run 2, webhook: reaches its goal"),
        (
            lambda s: job(s, 3)["reviews"][0]["review"]["warnings"].append(first_warning(s)),
            "run 2, prepare (the opposite): is not warned",
        ),
        (
            lambda s: job(s, 5)["path"].append("planner"),
            "run 2, rehearse (another target): path",
        ),
        (
            lambda s: of(s.third["arms"][0]["runs"][-1], alarm=True),
            "run 3, standard: the alarm is over",
        ),
    ],
)
def test_a_broken_promise_is_noticed(told: Story, spoil: Spoil, promise: str) -> None:
    story = copy.deepcopy(told)
    spoil(story)
    assert promise in broken(story)


def test_of_a_model_only_a_repeated_failure_is_held_against_it(told: Story) -> None:
    second = copy.deepcopy(told.second)
    free = Story(told.memories, told.first, second, told.third, scripted=False)
    job(free, 0)["path"].insert(1, "planner")
    assert broken(free) == []
    memories = copy.deepcopy(told.memories)
    again = {**memories[1]["episodes"][0], "episode_id": "new"}
    memories[2]["episodes"].append(again)
    repeated = Story(memories, told.first, free.second, told.third, scripted=False)
    assert "run 2 repeats no failure of run 1" in broken(repeated)
