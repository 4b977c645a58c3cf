"""Minimal pairs on which a memory that compares by cosine warns of the opposite.

Each row re-words one of the pairs on which a published memory was measured to fail: it warned
of 85% of the different ones and of 52% of the same ones.
"""

from __future__ import annotations

import pytest

from driftguard_langgraph import DriftGuard, EphemeralMemoryStore

SCRATCH = "remove the scratch directory"

DIFFERENT = [
    (SCRATCH, "do not remove the scratch directory"),
    (SCRATCH, "never remove the scratch directory"),
    (SCRATCH, "avoid removing the scratch directory"),
    (SCRATCH, "stop removing the scratch directory"),
    (SCRATCH, "keep the scratch directory"),
    (SCRATCH, "back up the scratch directory"),
    (SCRATCH, "create the scratch directory"),
    ("apply the patch before the snapshot", "apply the patch after the snapshot"),
    ("enable disk encryption", "disable disk encryption"),
    ("increase the request timeout", "decrease the request timeout"),
    ("scale up the cache tier", "scale down the cache tier"),
    ("turn on read-only mode", "turn off read-only mode"),
    ("grant bob the owner role", "revoke the owner role from bob"),
    ("truncate the staging ledger", "truncate the production ledger"),
    ("drop the staging schema", "drop the production schema"),
    ("move 50 credits from Alice to Bob", "move 50 credits from Bob to Alice"),
    ("read the secrets file", "write the secrets file"),
    ("restart worker 12", "restart worker 13"),
    ("restart worker twelve", "restart worker thirteen"),
    ("charge back 10 dollars", "charge back 10000 dollars"),
    ("refund parcel A", "refund parcel B"),
    ("delete branch topic-login", "delete branch topic-logout"),
    ("release to staging", "release to production"),
    ("start the message broker", "stop the message broker"),
]

SAME = [
    ("retry the sync 3 times", "retry the sync three times"),
    ("drop the sessions table", "DROP TABLE sessions;"),
    (SCRATCH, "rm -rf /tmp/*"),
    (SCRATCH, "wipe the scratch space"),
    ("disable certificate verification", "set verify=False for the certificate"),
    ("commit the credentials", "check in the credentials"),
    ("merge without a code review", "skip the code review and merge"),
    ("call the endpoint without rate limiting", "hammer the API with no throttle"),
    (SCRATCH, "clear out /tmp"),
]


@pytest.fixture
def guard() -> DriftGuard:
    return DriftGuard(store=EphemeralMemoryStore())


@pytest.mark.parametrize(("failed", "proposed"), DIFFERENT)
def test_an_opposite_or_another_target_never_warns(
    guard: DriftGuard, failed: str, proposed: str
) -> None:
    guard.record(failed, "that went wrong", "a day was lost")

    review = guard.before_step(proposed)

    assert not review.warnings, guard.compare(failed, proposed)


def test_most_of_the_same_in_quite_other_words_warns() -> None:
    missed = []
    for failed, proposed in SAME:
        guard = DriftGuard(store=EphemeralMemoryStore())
        guard.record(failed, "that went wrong", "a day was lost")
        if not guard.before_step(proposed).warnings:
            missed.append(proposed)

    assert 3 * len(missed) <= len(SAME), missed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("deployment succeeded", "deployment failed"),
        ("the disk is full", "the disk is empty"),
        ("the build is up", "the build is down"),
        ("all tests passed", "all tests failed"),
        ("HTTP 422", "HTTP 500"),
        ("connection refused", "connection reset"),
    ],
)
def test_feedback_that_says_the_opposite_is_another_node(
    guard: DriftGuard, one: str, other: str
) -> None:
    guard.record("run the job", one, "a day was lost")
    guard.record("run the job", other, "a day was lost")

    feedback = [d for _, d in guard.graph().nodes(data=True) if d["type"] == "feedback"]
    assert len(feedback) == 2
