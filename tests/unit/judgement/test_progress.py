"""What counts as getting nowhere, and what does not."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from typing import Any

import pytest

from driftguard_langgraph.judgement.progress import (
    MAX_CALLS,
    MAX_REMEMBERED,
    PATIENCE,
    Count,
    Progress,
    allowed,
    call_digest,
    repeats,
)

Step = tuple[str, dict[str, Any], str]


def observed(kept: Progress | None, name: str, args: object, result: str) -> Progress:
    count = Count(kept)
    count.observe(name, args, result)
    return count.kept()


def restarted(kept: Progress) -> Progress:
    count = Count(kept)
    count.restart()
    return count.kept()


def after(steps: Iterable[Step], kept: Progress | None = None) -> Progress:
    """Return what is kept after calls and their answers, having gone through JSON each time."""
    known: Progress = kept or {}
    for name, args, result in steps:
        known = json.loads(json.dumps(observed(known, name, args, result)))
    return known


def looked(result: str, at: str = "a.txt") -> Step:
    return ("read", {"path": at}, result)


def times(kept: Progress, at: str = "a.txt") -> int:
    return repeats(kept, "read", {"path": at})


def test_the_same_call_with_the_same_result_is_counted() -> None:
    assert [times(after([looked("x")] * count)) for count in range(5)] == [0, 1, 2, 3, 4]


def test_a_poll_whose_result_changes_is_progress() -> None:
    assert times(after(looked(f"{done} of 9 done") for done in range(9))) == 1


def test_paging_and_batch_work_are_progress() -> None:
    pages: list[Step] = [("list", {"cursor": at}, "10 items") for at in range(9)]
    assert repeats(after(pages), "list", {"cursor": 8}) == 1
    assert repeats(after(pages), "list", {"cursor": 9}) == 0


def test_going_round_in_circles_is_found() -> None:
    circle: list[Step] = [looked("x", "a"), looked("y", "b"), ("edit", {"to": "z"}, "ok")]
    kept = after(circle * 4)
    assert [times(kept, at) for at in "ab"] == [3, 3]
    assert repeats(kept, "edit", {"to": "z"}) == 4


def test_calls_in_parallel_count_in_whatever_order_they_are_answered() -> None:
    turns = [looked("x", "a"), looked("y", "b")], [looked("y", "b"), looked("x", "a")]
    kept = after(step for turn in (*turns, *turns) for step in turn)
    assert [times(kept, at) for at in "ab"] == [3, 4]


def test_something_new_in_between_starts_the_count_again() -> None:
    seen = [looked("x")] * 2
    assert times(after([*seen, ("edit", {"to": "z"}, "ok"), looked("x")])) == 1
    assert times(after([*seen, looked("changed"), looked("x")])) == 1
    assert times(restarted(after(seen))) == 0
    assert times(after([looked("x")], restarted(after(seen)))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}),
        ({"query": " red  shoes "}, {"query": "red shoes"}),
        ({"ids": [1.0, 2]}, {"ids": [1, 2.0]}),
    ],
)
def test_arguments_that_mean_the_same_are_one_call(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert repeats(after([("find", one, "none")]), "find", other) == 1


def test_arguments_that_differ_are_other_calls() -> None:
    kept = after([("write", {"code": "if a:\n  b"}, "ok")])
    for other in ("if a:\n    b", "if a:\nb", "if A:\n  b"):
        assert repeats(kept, "write", {"code": other}) == 0
    assert repeats(after([("f", {"a": 1}, "ok")]), "f", {"a": "1"}) == 0
    assert repeats(after([("f", {"a": 1}, "ok")]), "f", {"a": True}) == 0


@pytest.mark.parametrize(
    "template",
    [
        "[2026-11-30T05:48:{0:02}.{0}Z] disk quota exceeded",
        "2026-11-30 05:48:{0:02} disk quota exceeded",
        "Date: Mon, 30 Nov 2026 05:48:{0:02} GMT; not found",
        "05:48:{0:02} ERROR not found",
        "not found (request id: 7f3a{0}bc)",
        'not found {{"request_id": "abc-{0}", "timestamp": 17983456{0:02}}}',
        "not found, req_011CQabcdefg{0:02}",
        "job 8b2c6f1e-1111-4222-8333-0123456789{0:02} was denied",
        "<Session object at 0x7f3a1c0{0:02}> is closed",
        "2 failed in 0.{0}s",
        "no rows, took 3{0} ms",
        "no rows, duration_ms={0}",
    ],
)
def test_what_differs_each_time_hides_no_repetition(template: str) -> None:
    assert times(after(looked(template.format(at)) for at in range(11, 14))) == 3


@pytest.mark.parametrize(
    "template",
    [
        "2026-11-30T05:48:12Z {0} files left",
        "departs on 2026-12-{0}",
        "departs at 09:{0}",
        "order {0} is shipped",
        "progress {0}% after 3 s",
        "{0} failed in 0.5s",
        "port 80{0}",
        "version 1.{0}.2",
        "checksum deadbeef{0}",
        "2026-11-30T05:48:{0}Z",
        "05:48:{0}",
    ],
)
def test_what_really_changed_shows(template: str) -> None:
    assert times(after(looked(template.format(at)) for at in range(11, 14))) == 1


@pytest.mark.parametrize(
    ("answer", "waits"),
    [
        ('{"status": "pending", "id": 7}', True),
        ("Pending.", True),
        ("state=IN_PROGRESS", True),
        ("The export is still running", True),
        ("not ready yet", True),
        ("Error running command", False),
        ("status: failed", False),
        ("permission denied", False),
        ("no pending orders were found for this customer", False),
    ],
)
def test_who_is_told_to_wait_may_ask_more_often(answer: str, waits: bool) -> None:
    kept = after([looked(answer)])
    assert allowed(kept, "read", {"path": "a.txt"}, 3) == (3 * PATIENCE if waits else 3)


def test_patience_ends_with_the_waiting() -> None:
    kept = after([looked("pending"), looked("failed")])
    assert allowed(kept, "read", {"path": "a.txt"}, 3) == 3
    assert allowed(None, "read", {}, 3) == 3


def test_what_is_kept_is_bounded_and_holds_no_text() -> None:
    kept = after(looked("secret" * 100, f"private-{at}") for at in range(MAX_CALLS + 9))
    assert len(kept) == MAX_CALLS
    assert len(json.dumps(kept)) < 64 * MAX_CALLS
    assert "secret" not in json.dumps(kept)
    assert "private" not in json.dumps(kept)


@pytest.mark.parametrize(
    "args", [None, "text", {"at": {1, 2}}, {1: "a", "b": 2}, {"n": float("nan")}]
)
def test_arguments_of_any_shape_are_counted(args: Any) -> None:
    assert repeats(observed(None, "f", args, "r"), "f", args) == 1


def test_answers_of_any_shape_are_counted() -> None:
    for answer in ("", "\ud800", "\0", "x" * 1_000_000):
        assert times(observed(after([looked("y")]), "read", {"path": "a.txt"}, answer)) == 1


def test_what_is_counted_at_once_is_what_is_counted_one_by_one() -> None:
    drawn = random.Random(5)  # noqa: S311 - no secret
    steps = [
        (drawn.choice("abc"), {"n": drawn.randrange(3)}, drawn.choice("xy")) for _ in range(200)
    ]
    for length in range(0, 200, 7):
        count = Count()
        for step in steps[:length]:
            count.observe(*step)
        assert count.kept() == after(steps[:length])


def test_digests_are_the_same_however_many_were_made_before() -> None:
    digests = {n: call_digest("f", {"n": n}) for n in range(50)}
    for number in range(MAX_REMEMBERED + 10):
        call_digest("g", {"n": number})
    assert {n: call_digest("f", {"n": n}) for n in range(50)} == digests
    assert len(set(digests.values())) == 50
