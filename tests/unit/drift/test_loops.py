from __future__ import annotations

import json
from typing import Any

import pytest

from driftguard_langgraph.drift.loops import REPEATS, WINDOW, Loops
from driftguard_langgraph.drift.turns import as_turn
from driftguard_langgraph.errors import ConfigurationError


def call(page: int) -> dict[str, Any]:
    calls = [{"name": "fetch", "args": {"page": page}, "id": f"c{page}"}]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def tool(text: str) -> dict[str, Any]:
    return {"role": "tool", "content": text}


def found(loops: Loops, *messages: dict[str, Any]) -> list[bool]:
    return [bool(loops.observe(as_turn(m, n))) for n, m in enumerate(messages, 1)]


def test_the_same_answer_again_and_again_is_a_loop() -> None:
    say = {"role": "assistant", "content": "Please give me your booking number."}
    other = {"role": "user", "content": "I told you already."}
    assert found(Loops(), say, other, say, other, say) == [False, False, False, False, True]


def test_the_same_call_with_the_same_result_is_a_loop_and_progress_is_none() -> None:
    stuck = [message for _ in range(3) for message in (call(1), tool("timeout"))]
    assert found(Loops(), *stuck)[-1]
    polling = [m for n in range(5) for m in (call(1), tool(f"{n * 20} percent done"))]
    paging = [m for n in range(5) for m in (call(n), tool("ok"))]
    assert not any(found(Loops(), *polling))
    assert not any(found(Loops(), *paging))


def test_short_words_and_what_users_repeat_are_no_loop() -> None:
    assert not any(found(Loops(), *[{"role": "assistant", "content": "Yes."}] * 5))
    assert not any(found(Loops(), *[{"role": "user", "content": "Is anybody there at all?"}] * 5))


def test_a_loop_is_an_observation_without_weight() -> None:
    loops = Loops()
    say = as_turn({"role": "assistant", "content": "I am looking into the matter."}, 7)
    (anomaly,) = [loops.observe(say) for _ in range(REPEATS)][-1]
    assert (anomaly.rule, anomaly.weight, anomaly.turn) == ("loop", 0.0, 7)
    assert "3 times" in anomaly.detail


def test_what_lies_further_back_than_the_window_is_forgotten() -> None:
    say = {"role": "assistant", "content": "I am looking into the matter."}
    quiet = [{"role": "user", "content": "ok"}] * WINDOW
    assert not any(found(Loops(), say, say, *quiet, say))


def test_the_state_survives_json_and_foreign_state_is_refused() -> None:
    first, second = Loops(), Loops()
    found(first, call(1), tool("timeout"), call(1), tool("timeout"), call(1))
    second.restore(json.loads(json.dumps(first.snapshot())))
    assert second.observe(as_turn(tool("timeout"), 6))
    with pytest.raises(ConfigurationError):
        second.restore({"recent": 5})
