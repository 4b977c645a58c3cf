"""Who is held out: a fair draw that nothing but the seed, the thread and the step decides."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftguard_langgraph.judgement.holdout import is_held_out, opened

NS = ("acme", "ann")
DRAWS = 20_000


def unit(thread: str | None, step: str = "drop the table", review_id: str = "r1") -> str:
    return opened(step, "warn", 0.1, thread, review_id).unit


@pytest.mark.parametrize("share", [0.05, 0.1, 0.5, 0.9])
def test_over_many_threads_the_share_is_the_one_asked_for(share: float) -> None:
    held = sum(is_held_out(unit(f"t{n}"), NS, share, None) for n in range(DRAWS))
    spread = (share * (1 - share) / DRAWS) ** 0.5
    assert abs(held / DRAWS - share) < 4 * spread


def test_over_many_steps_of_one_thread_the_share_is_right_too() -> None:
    held = sum(is_held_out(unit("t", f"step {n}"), NS, 0.1, 7) for n in range(DRAWS))
    assert abs(held / DRAWS - 0.1) < 0.01


@given(st.text(), st.text(), st.one_of(st.none(), st.integers(), st.text()))
def test_nobody_is_held_out_at_zero_and_everybody_at_one(
    thread: str, step: str, seed: int | str | None
) -> None:
    assert not is_held_out(unit(thread, step), NS, 0.0, seed)
    assert is_held_out(unit(thread, step), NS, 1.0, seed)


@given(st.text(), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_holds_out_whoever_a_smaller_one_does(
    thread: str, one: float, other: float
) -> None:
    small, large = sorted((one, other))
    drawn = unit(thread)
    assert is_held_out(drawn, NS, small, 1) <= is_held_out(drawn, NS, large, 1)


def test_a_unit_is_the_step_in_its_thread_whatever_the_review_is_called() -> None:
    assert unit("t1", review_id="a") == unit("t1", review_id="b")
    assert len({unit("t1"), unit("t2"), unit("t1", "another"), unit(None)}) == 4


def test_without_a_thread_each_review_is_a_unit() -> None:
    assert unit(None, review_id="a") == unit(None, "another", review_id="a")
    assert unit(None, review_id="a") != unit(None, review_id="b")


def test_another_seed_or_namespace_draws_others() -> None:
    def drawn(namespace: tuple[str, ...], seed: int | str | None) -> list[bool]:
        return [is_held_out(unit(f"t{n}"), namespace, 0.5, seed) for n in range(200)]

    assert drawn(NS, 1) == drawn(NS, "1")
    assert drawn(NS, 1) != drawn(NS, 2)
    assert drawn(NS, None) != drawn(NS, "None")
    assert drawn(NS, 1) != drawn(("acme", "bob"), 1)


def test_the_draw_is_the_same_in_another_process() -> None:
    code = (
        "from driftguard_langgraph.judgement.holdout import is_held_out, opened\n"
        "units = [opened('s', 'warn', 0.5, f't{n}', 'r').unit for n in range(64)]\n"
        "print(''.join(str(int(is_held_out(u, ('a',), 0.5, 'x'))) for u in units))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120
    ).stdout.strip()
    here = [is_held_out(unit(f"t{n}", "s"), ("a",), 0.5, "x") for n in range(64)]
    assert told == "".join(str(int(held)) for held in here)
