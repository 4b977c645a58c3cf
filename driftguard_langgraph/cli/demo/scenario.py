"""What the demo's agent is asked to do, and what its scripted planner proposes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from driftguard_langgraph.cli.demo.world import World

Proposal = str | dict[str, Any]
Phase = Literal["first", "second"]

DISK_GOAL = 80
"""Percent of the disk below which there is space enough."""


@dataclass(frozen=True, slots=True)
class Job:
    """One task of the agent.

    Attributes:
        name: Short name.
        goal: What is wanted, as the agent reads it.
        failing: What the planner proposes in run 1; None if the job is new in run 2.
        failing_words: The same in words, where `failing` is a tool call.
        proposals: What it proposes in run 2, one after the other as warnings come.
        reached: Whether the machine is as the goal wants it.
        lookalike: For a step that resembles a failure and is none: what tells it apart.
    """

    name: str
    goal: str
    failing: Proposal | None
    proposals: tuple[Proposal, ...]
    reached: Callable[[World], bool]
    lookalike: str | None = None
    failing_words: str | None = None


def _migration(name: str, **args: str) -> Proposal:
    return {"name": name, "args": {"migration": "0042_orders_index", **args}}


JOBS: tuple[Job, ...] = (
    Job(
        name="disk",
        goal="The disk of the build server is nearly full: free some space.",
        failing="delete the temp directory",
        proposals=("remove everything under the tmp folder", "compress the old log files"),
        reached=lambda world: world.disk_usage < DISK_GOAL,
    ),
    Job(
        name="webhook",
        goal="The payment webhook of invoice A-17 was not accepted: get it through.",
        failing="retry the payment webhook with the same payload",
        proposals=(
            "send the payment webhook again, payload unchanged",
            "fill in the missing currency of invoice A-17 and notify the payment provider",
        ),
        reached=lambda world: world.paid,
    ),
    Job(
        name="migration",
        goal="Bring migration 0042_orders_index to production.",
        failing=_migration("apply_migration", environment="production"),
        failing_words="apply migration 0042_orders_index to production",
        proposals=(
            _migration("apply_migration", environment="production"),
            _migration("schedule_migration", environment="production", window="02:00-03:00"),
        ),
        reached=lambda world: "production" in world.migrated,
    ),
    Job(
        name="prepare",
        goal="The next build expects a temp directory: make sure that it exists.",
        failing=None,
        proposals=("create the temp directory",),
        reached=lambda world: "temp" in world.files,
        lookalike="the opposite",
    ),
    Job(
        name="protect",
        goal="Somebody is working in the temp directory: leave it alone.",
        failing=None,
        proposals=("do not delete the temp directory",),
        reached=lambda world: "scratch" in world.files.get("temp", ()),
        lookalike="negated",
    ),
    Job(
        name="rehearse",
        goal="Try migration 0042_orders_index on staging.",
        failing=None,
        proposals=(_migration("apply_migration", environment="staging"),),
        reached=lambda world: "staging" in world.migrated,
        lookalike="another target",
    ),
)


def jobs_of(phase: Phase) -> tuple[Job, ...]:
    """Return the jobs of a run: in run 1 only those that will fail."""
    return JOBS if phase == "second" else tuple(job for job in JOBS if job.failing is not None)


def proposals_of(job: Job, phase: Phase, *, in_words: bool = False) -> tuple[Proposal, ...]:
    """Return what the scripted planner proposes for a job in a run.

    Args:
        job: A job of that run.
        phase: The run.
        in_words: In run 1, propose no tool call: run 2 is planned by somebody who speaks.
    """
    if phase == "second":
        return job.proposals
    failing = job.failing_words if in_words and job.failing_words else job.failing
    return () if failing is None else (failing,)
