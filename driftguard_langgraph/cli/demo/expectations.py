"""What the demo promises, checked against the graph's own states and the memory itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.cli.demo.promises import Expectation, equal, expect
from driftguard_langgraph.cli.demo.recovery_expectations import check_recovery
from driftguard_langgraph.cli.demo.scenario import JOBS, Job

DIRECT = ("begin", "planner", "guard_review", "clear_outcome", "executor", "record_outcome")
"""Path of a job whose first proposal is run."""

REVISED = ("begin", "planner", "guard_review", *DIRECT[1:])
"""Path of a job whose first proposal is sent back, and whose second is run."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Story:
    """Everything a demo produced.

    Attributes:
        memories: The memory before run 1, between the runs, and after run 2.
        first, second: The reports of the runs that the memory is about.
        third: The report of the run that drifts.
        scripted: Whether run 2 was planned by the script.
    """

    memories: tuple[Json, Json, Json]
    first: Json
    second: Json
    third: Json
    scripted: bool


def check(story: Story) -> list[Expectation]:
    """Return every promise with whether it was kept."""
    checks = [*_first_run(story), *_second_run(story)]
    checks += _scripted(story) if story.scripted else _planned_by_model(story)
    return [*checks, *check_recovery(story.third)]


def _first_run(story: Story) -> Iterator[Expectation]:
    before, between, _ = story.memories
    jobs = story.first["jobs"]
    yield equal("the memory is empty before run 1", before["stats"]["episodes"], 0)
    for job in jobs:
        yield equal(f"run 1, {job['job']}: path", tuple(job["path"]), DIRECT)
        yield equal(f"run 1, {job['job']}: fails", job["success"], False)
    recorded = [job["receipt"]["episode_id"] for job in jobs]
    kept = [episode["episode_id"] for episode in between["episodes"]]
    yield equal("run 1's failures are in the memory, once each", kept, recorded)
    yield equal(
        "they are mistakes",
        between["stats"]["mistakes"]["episodes"],
        len(jobs),
    )


def _second_run(story: Story) -> Iterator[Expectation]:
    pids = (story.first["pid"], story.second["pid"])
    yield expect("run 2 is another process", pids[0] != pids[1], f"both are {pids[0]}")
    executed = [job for job in story.second["jobs"] if job["success"] is not None]
    _, between, after = story.memories
    grown = after["stats"]["episodes"] - between["stats"]["episodes"]
    wanted = sum(len(job["executed"]) for job in executed)
    yield equal("run 2 records every step that it ran", grown, wanted)


def _scripted(story: Story) -> Iterator[Expectation]:
    failures = {episode["episode_id"]: episode for episode in story.memories[1]["episodes"]}
    plans = {job.name: job for job in JOBS}
    for done in story.second["jobs"]:
        job = plans[done["job"]]
        if job.failing is not None:
            yield from _repeated(job, done, failures)
        else:
            yield from _lookalike(job, done)
        yield from _succeeds(done)
    yield equal(
        "run 2 adds no failure",
        story.memories[2]["stats"]["mistakes"]["episodes"],
        len(failures),
    )


def _succeeds(done: Json) -> Iterator[Expectation]:
    yield equal(f"run 2, {done['job']}: succeeds", done["success"], True)
    yield equal(f"run 2, {done['job']}: reaches its goal", done["reached"], True)


def _repeated(job: Job, done: Json, failures: Mapping[str, Json]) -> Iterator[Expectation]:
    name = f"run 2, {job.name}"
    yield equal(f"{name}: path", tuple(done["path"]), REVISED)
    review = done["reviews"][0]["review"]
    warnings = review["warnings"]
    yield equal(f"{name}: the first proposal is warned", review["decision"], "warn")
    cited = [failures.get(i) for i in warnings[0]["episode_ids"]] if warnings else []
    yield expect(
        f"{name}: the evidence is run 1's failure of this job",
        bool(cited) and all(e is not None and _is_failure_of(job, e) for e in cited),
        cited,
    )
    yield equal(f"{name}: only the revised step is run", done["executed"], [job.proposals[-1]])


def _is_failure_of(job: Job, episode: Json) -> bool:
    if isinstance(job.failing, str):
        return bool(episode["action"] == job.failing)
    return {"name": episode["tool_name"], "args": episode["tool_args"]} == job.failing


def _lookalike(job: Job, done: Json) -> Iterator[Expectation]:
    name = f"run 2, {job.name} ({job.lookalike})"
    yield equal(f"{name}: path", tuple(done["path"]), DIRECT)
    warned = [
        warning["action_text"] for r in done["reviews"] for warning in r["review"]["warnings"]
    ]
    yield expect(f"{name}: is not warned", not warned, f"warned by {warned}")


def _planned_by_model(story: Story) -> Iterator[Expectation]:
    """A model plans as it likes; what must hold is that no failure of run 1 happens again."""
    known = {(e["feedback"], e["outcome"]) for e in story.memories[1]["episodes"]}
    fresh = _new_episodes(story.memories[1]["episodes"], story.memories[2]["episodes"])
    again = [e["action"] for e in fresh if (e["feedback"], e["outcome"]) in known]
    yield expect("run 2 repeats no failure of run 1", not again, f"repeated: {again}")
    for done in story.second["jobs"]:
        yield from _succeeds(done)


def _new_episodes(before: Sequence[Json], after: Sequence[Json]) -> list[Json]:
    known = {episode["episode_id"] for episode in before}
    return [episode for episode in after if episode["episode_id"] not in known]
