"""Chains are what episodes say: shared words never join two stories."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from driftguard_langgraph.guard import DriftGuard

STORIES = [
    ("deploy the payment service", "timeout error", "customers were charged twice"),
    ("bake sourdough bread", "timeout error", "the loaf was burnt"),
    ("rotate the API keys", "permission denied", "the rollout stopped"),
    ("delete the temp directory", "permission denied", "the build went on"),
]


def chains_of(guard: DriftGuard, action: str) -> set[tuple[str, ...]]:
    review = guard.review(action)
    told = {(w.trigger, w.risk, w.outcome) for w in review.warnings}
    assert told <= set(review.chains)
    return set(review.chains)


def test_failures_that_share_a_feedback_keep_their_own_outcomes(guard: DriftGuard) -> None:
    for action, feedback, outcome in STORIES:
        guard.record(action, feedback, outcome)
    for action, _, outcome in STORIES:
        review = guard.review(action)
        assert [w.outcome_text for w in review.warnings] == [outcome]
        assert len(review.chains) == 1
    graph = guard.graph()
    [shared] = [n for n, d in graph.nodes(data=True) if d["text"] == "timeout error"]
    assert (graph.in_degree(shared), graph.out_degree(shared)) == (2, 2)


def test_an_outcome_that_is_anothers_action_does_not_prolong_a_chain(guard: DriftGuard) -> None:
    guard.record("edit the config file", "the service went down", "restart the server")
    guard.record("restart the server", "connection refused", "the pager went off")
    for action in ("edit the config file", "restart the server"):
        [chain] = chains_of(guard, action)
        assert len(chain) == 3
        assert guard.review(action).warnings[0].outcome_text in {
            "restart the server",
            "the pager went off",
        }
    assert guard.review("edit the config file").warnings[0].outcome_text == "restart the server"


@pytest.mark.parametrize("seed", range(3))
def test_no_review_shows_a_chain_that_no_episode_contains(guard: DriftGuard, seed: int) -> None:
    actions = ["deploy the payment service", "bake sourdough bread", "rotate the API keys"]
    feedbacks = ["timeout error", "permission denied", "disk is full"]
    outcomes = ["the loaf was burnt", "customers were charged twice", "nothing happened"]
    everything = list(product(actions, feedbacks, outcomes))
    rng = np.random.default_rng(seed)
    told = [everything[n] for n in rng.choice(len(everything), 9, replace=False)]
    for action, feedback, outcome in told:
        guard.record(action, feedback, outcome)
    graph = guard.graph()
    text = {(d["type"], d["label"]): d["text"] for _, d in graph.nodes(data=True)}
    shown = set()
    for action in actions:
        for a, f, o in chains_of(guard, action):
            shown.add((text["action", a], text["feedback", f], text["outcome", o]))
    assert shown == set(told)
