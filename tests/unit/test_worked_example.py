"""The worked example of the description, and more in its spirit, on the real default model."""

from __future__ import annotations

import pytest

from driftguard_langgraph import DriftGuard, EphemeralMemoryStore

FAILURES = [
    ("delete the temp directory", "build cache was wiped", "next build took 40 minutes"),
    ("clear out /tmp before the run", "cache directory got removed", "next build took 40 minutes"),
]


@pytest.fixture
def guard() -> DriftGuard:
    return DriftGuard(store=EphemeralMemoryStore())


def test_two_wordings_of_one_mistake_become_three_nodes_seen_twice(guard: DriftGuard) -> None:
    for failure in FAILURES:
        guard.record(*failure)

    graph = guard.graph()

    assert {data["label"]: data["frequency"] for _, data in graph.nodes(data=True)} == {
        "delete temp directory": 2,
        "build cache wipe": 2,
        "next build take 40 minute": 2,
    }
    assert [edge["frequency"] for _, _, edge in graph.edges(data=True)] == [2, 2]


def test_the_third_wording_is_warned_with_the_evidence_of_both(guard: DriftGuard) -> None:
    for failure in FAILURES:
        guard.record(*failure)

    review = guard.before_step("remove everything under the tmp folder")

    [warning] = review.warnings
    assert warning.frequency == 2
    assert warning.confidence == pytest.approx(0.79, abs=0.02)
    assert review.chains == (
        ("delete temp directory", "build cache wipe", "next build take 40 minute"),
    )


@pytest.mark.parametrize("words", ["send the webhook again", "re-fire the payment callback"])
def test_both_paraphrases_of_the_webhook_are_warned(guard: DriftGuard, words: str) -> None:
    guard.record(
        "retry the payment webhook with the same payload",
        "server returned 422 again",
        "duplicate charge risk, run aborted",
    )

    assert guard.before_step(words).warnings


@pytest.mark.parametrize(
    ("failed", "proposed"),
    [
        ("disable the login alarm", "turn the login alarm off"),
        ("turn off request logging", "disable request logging for now"),
        ("purge the message queue", "the message queue gets wiped"),
        ("wipe the staging database", "drop the staging db"),
        ("reboot the billing server", "restart the billing host right away"),
        ("raise the connection limit", "bump the connection limit a little"),
        ("shrink the worker pool", "scale down the worker pool"),
        ("grow the worker pool", "scale up the worker pool"),
        ("ship the nightly build", "roll out the nightly build"),
        ("revert the latest migration", "roll back the latest migration"),
        ("shut down the search cluster", "bring down the search cluster"),
        ("spin up a second replica", "start a second replica"),
        ("resend the invoice mail", "send the invoice mail again"),
        ("rerun the import job", "run the import job again"),
        ("duplicate the customer table", "clone the customer table"),
        ("relocate the backup folder", "move the backup directory"),
        ("edit the prod config", "modify the production configuration"),
        ("erase the log directory", "delete all logs in /var/log"),
        ("discard the draft message", "throw the draft message away"),
        ("get rid of the old snapshots", "delete the old snapshots"),
        ("cancel the refund job", "abort the refund job"),
        ("back up the orders table", "archive the orders table"),
        ("unlink the cache folder", "rm the cache dir"),
        ("upload the weekly report", "push the weekly report"),
    ],
)
def test_the_same_step_in_other_words_is_warned(
    guard: DriftGuard, failed: str, proposed: str
) -> None:
    guard.record(failed, "it went wrong", "somebody had to repair it")

    assert guard.before_step(proposed).warnings, guard.compare(failed, proposed)


@pytest.mark.parametrize(
    ("failed", "proposed"),
    [
        ("disable the login alarm", "turn the login alarm on"),
        ("purge the message queue", "do not purge the message queue"),
        ("wipe the staging database", "wipe the production database"),
        ("reboot the billing server", "stop the billing server"),
        ("raise the connection limit", "lower the connection limit"),
        ("shrink the worker pool", "scale up the worker pool"),
        ("shut down the search cluster", "bring up the search cluster"),
        ("resend the invoice mail", "avoid resending the invoice mail"),
        ("move the backup from disk to tape", "move the backup from tape to disk"),
        ("delete user 41", "delete user 42"),
        ("deploy the api on friday", "never deploy the api on friday"),
        ("run the import before the audit", "run the import after the audit"),
        ("unlock the vault", "lock the vault"),
        ("keep the draft message", "throw the draft message away"),
        ("refund 15 euros", "refund 1500 euros"),
        ("restart shard three", "restart shard four"),
        ("back up the orders table", "restore the orders table"),
        ("grant the intern admin rights", "revoke the intern's admin rights"),
        ("close ticket OPS-71", "close ticket OPS-72"),
        ("read the settings file", "write the settings file"),
        ("create the temp directory", "do not delete the temp directory"),
        ("enable the firewall", "never disable the firewall"),
        ("open the valve", "do not close the valve"),
        ("pay the invoice on friday", "pay the invoice on thursday"),
        ("convert 20 euros", "convert 20 dollars"),
    ],
)
def test_an_opposite_or_another_target_is_not_warned(
    guard: DriftGuard, failed: str, proposed: str
) -> None:
    guard.record(failed, "it went wrong", "somebody had to repair it")

    review = guard.before_step(proposed)

    assert not review.warnings, guard.compare(failed, proposed)


@pytest.mark.parametrize(
    ("failed", "proposed"),
    [
        ("restart the api server on host 7", "please restart the api server on host 7"),
        ("delete old log files from the bucket", "delete the old log files from that bucket"),
        ("copy the report into the shared folder", "copy that report into our shared folder"),
        ("deploy version 2.4 to the canary group", "deploy the version 2.4 to canary group"),
        ("send the invoice to the customer twice", "send the customer the invoice two times"),
        ("set the timeout of the worker to 30 seconds", "set the worker timeout to 30 seconds"),
        ("do not retry the failed payment", "don't retry the failed payment"),
        ("run the full test suite before merging", "run the full test suite before the merge"),
        ("add an index on the orders table", "add one index to the orders table"),
        ("open the garage door at 7", "at 7, open the garage door"),
    ],
)
def test_a_paraphrase_that_shares_most_words_still_matches(
    guard: DriftGuard, failed: str, proposed: str
) -> None:
    guard.record(failed, "it went wrong", "somebody had to repair it")

    assert guard.before_step(proposed).warnings, guard.compare(failed, proposed)
