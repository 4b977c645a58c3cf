"""One run of the demo's agent, in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from langchain_core.runnables import RunnableConfig

from driftguard_langgraph.cli.demo.planners import Planner, llm_planner, scripted_planner
from driftguard_langgraph.cli.demo.scenario import Job, Phase, jobs_of, proposals_of
from driftguard_langgraph.cli.demo.world import World
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.nodes import DriftGuardState, create_planner_revise_graph
from driftguard_langgraph.settings import DriftGuardSettings

MAX_ATTEMPTS: dict[Phase, int] = {"first": 1, "second": 3}
"""Run 1 gives up after its first failure; run 2 may learn from one."""


GOAL_MISSED = "the goal is not reached"
"""Outcome of a step that went well and did not help."""


def demo_settings(db: Path) -> DriftGuardSettings:
    """Return the user's settings, on the demo's memory, with nothing of it ever hidden."""
    return DriftGuardSettings(
        storage_backend="sqlite", sqlite_filepath=db, on_store_error="closed", holdout=0.0
    )


def run_phase(phase: Phase, db: Path, *, model: str | None = None) -> dict[str, Any]:
    """Do every job of a run on the memory in `db` and report what the graph did.

    Args:
        phase: Which run.
        db: SQLite file of the memory.
        model: Name of a chat model that plans run 2, None for the script. Run 1 is always
            the script's: there has to be something to remember.

    Returns:
        Plain JSON: the process id, and for each job the path through the graph, every
        proposal with its review, what was executed and how it ended.
    """
    world = World()
    with DriftGuard(settings=demo_settings(db)) as guard:
        jobs = [
            _run_job(job, phase, guard, world, _planner(job, phase, model))
            for job in jobs_of(phase)
        ]
    return {"phase": phase, "pid": os.getpid(), "jobs": jobs}


def _planner(job: Job, phase: Phase, model: str | None) -> Planner:
    if phase == "second" and model is not None:
        return llm_planner(job, model)
    return scripted_planner(proposals_of(job, phase, in_words=model is not None))


def _run_job(
    job: Job, phase: Phase, guard: DriftGuard, world: World, planner: Planner
) -> dict[str, Any]:
    def executor(state: DriftGuardState) -> dict[str, Any]:
        effect = world.run(cast("str | dict[str, Any]", state["candidate_action"]))
        reached = job.reached(world)
        outcome = effect.outcome if reached or not effect.success else GOAL_MISSED
        return {
            "success": effect.success and reached,
            "feedback": effect.feedback,
            "outcome": outcome,
        }

    graph = create_planner_revise_graph(
        planner, executor, guard=guard, policy="warn", max_attempts=MAX_ATTEMPTS[phase]
    ).compile()
    before = len(world.log)
    path: list[str] = []
    reviews: list[dict[str, Any]] = []
    state: Mapping[str, Any] = {}
    config: RunnableConfig = {"configurable": {"thread_id": f"demo-{phase}-{job.name}"}}
    for mode, streamed in graph.stream({}, config, stream_mode=["updates", "values"]):
        data = cast("dict[str, Any]", streamed)
        if mode == "values":
            state = data
            continue
        path += data
        if "guard_review" in data:
            review = data["guard_review"]["guard_review"]
            reviews.append({"proposal": state["candidate_action"], "review": review})
    return {
        "job": job.name,
        "path": path,
        "reviews": reviews,
        "executed": world.log[before:],
        "reached": job.reached(world),
        "success": state["success"],
        "feedback": state["feedback"],
        "outcome": state["outcome"],
        "receipt": state["guard_receipt"],
    }
