from __future__ import annotations

import pytest

from driftguard_langgraph.cli.demo.scenario import JOBS, Job, jobs_of
from driftguard_langgraph.cli.demo.world import World, understand


@pytest.mark.parametrize("job", jobs_of("first"), ids=lambda job: job.name)
def test_what_run_1_proposes_fails_by_its_effect(job: Job) -> None:
    world = World()
    assert job.failing is not None
    effect = world.run(job.failing)
    assert not effect.success
    assert not job.reached(world)
    assert world.log == [job.failing]


@pytest.mark.parametrize("job", jobs_of("first"), ids=lambda job: job.name)
def test_the_other_wording_would_fail_in_the_same_way(job: Job) -> None:
    assert job.failing is not None
    assert World().run(job.proposals[0]) == World().run(job.failing)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_the_last_proposal_of_run_2_reaches_the_goal(job: Job) -> None:
    world = World()
    assert world.run(job.proposals[-1]).success
    assert job.reached(world)


@pytest.mark.parametrize(
    ("text", "name", "args"),
    [
        ("purge /tmp", "delete_directory", {"path": "temp"}),
        ("Deleting the log directory", "delete_directory", {"path": "logs"}),
        ("recreate the tmp folder", "create_directory", {"path": "temp"}),
        ("gzip the logs", "compress_logs", {}),
        ("never clear the temp folder", "do_nothing", {}),
        ("notify the payment provider", "send_webhook", {"complete": False}),
        ("send the webhook with EUR as currency", "send_webhook", {"complete": True}),
        ("migrate staging", "apply_migration", {"environment": "staging"}),
        ("migrate production at night", "schedule_migration", {"environment": "production"}),
    ],
)
def test_words_become_operations(text: str, name: str, args: dict[str, object]) -> None:
    assert understand(text) == {"name": name, "args": args}


@pytest.mark.parametrize("text", ["", "water the plants", "delete everything", "look at the logs"])
def test_what_the_machine_cannot_do_fails_and_changes_nothing(text: str) -> None:
    assert understand(text) is None
    world = World()
    assert not world.run(text).success
    assert world.disk_usage == World().disk_usage


def test_an_unknown_tool_fails() -> None:
    assert not World().run({"name": "fly", "args": {}}).success
