from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from driftguard_langgraph.evaluation.baselines import (
    ALWAYS,
    NEAR,
    SAME_TEXT,
    SAME_TEXT_REDEEMED,
    NearVector,
    SameText,
    folded,
    new_baselines,
)


def at(degrees: float) -> NDArray[np.float32]:
    angle = np.deg2rad(degrees)
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


def test_case_and_punctuation_do_not_count() -> None:
    assert folded("Open('the  Door')!") == folded("open the door") == "open the door"
    memory = SameText(redeems=False)
    memory.record("Open the door!", at(0), failed=True)
    assert memory.warns("open THE door", at(0))
    assert not memory.warns("open the doors", at(0))


@pytest.mark.parametrize("redeems", [True, False])
def test_a_success_takes_the_failure_back_only_where_it_redeems(redeems: bool) -> None:
    memory = SameText(redeems=redeems)
    memory.record("go", at(0), failed=True)
    memory.record("go", at(0), failed=False)
    assert memory.warns("go", at(0)) is not redeems
    memory.record("go", at(0), failed=True)
    assert memory.warns("go", at(0))


def test_only_a_near_failure_warns() -> None:
    memory = NearVector()
    assert not memory.warns("", at(0))
    memory.record("", at(90), failed=False)
    for degrees in range(0, 80, 2):
        memory.record("", at(-degrees), failed=True)
    assert memory.warns("", at(20))
    assert not memory.warns("", at(30))
    assert not memory.warns("", at(90))


def test_there_is_one_of_each_and_always_means_always() -> None:
    baselines = new_baselines()
    assert list(baselines) == [ALWAYS, SAME_TEXT, SAME_TEXT_REDEEMED, NEAR]
    assert [each.warns("go", at(0)) for each in baselines.values()] == [True, False, False, False]
