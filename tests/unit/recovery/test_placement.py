from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.placement import PLACEMENTS, checked_placement, place_for

SYSTEM = {"role": "system", "content": "rules"}
USER = {"role": "user", "content": "question"}
AI = {"role": "assistant", "content": "answer"}
TOOL = {"role": "tool", "content": "result"}


def call(count: int) -> dict[str, object]:
    calls = [{"name": "look", "args": {}, "id": f"c{n}"} for n in range(count)]
    return {"role": "assistant", "content": "", "tool_calls": calls}


Messages = list[dict[str, object]]
_round = st.one_of(
    st.just([USER]),
    st.just([AI]),
    st.integers(1, 3).map(lambda count: [call(count), *[TOOL] * count]),
)
_open = st.tuples(st.integers(1, 3), st.integers(0, 2)).map(
    lambda both: [call(both[0]), *[TOOL] * min(both[1], both[0] - 1)]
)
CONVERSATIONS = st.tuples(
    st.sampled_from([[], [SYSTEM], [SYSTEM, SYSTEM]]),
    st.lists(_round, max_size=8),
    st.one_of(st.just([]), _open),
).map(lambda parts: [*parts[0], *[m for group in parts[1] for m in group], *parts[2]])


@given(CONVERSATIONS, st.sampled_from(PLACEMENTS))
def test_a_scaffold_never_comes_between_a_call_and_its_answers(
    messages: Messages, placement: str
) -> None:
    at = place_for(messages, checked_placement(placement))
    owed = 0
    for message in messages[:at]:
        calls = message.get("tool_calls")
        owed = len(calls) if isinstance(calls, list) else max(owed - (message is TOOL), 0)
    assert owed == 0
    assert at == len(messages) or messages[at] is not TOOL


def test_each_placement_goes_where_it_says() -> None:
    messages = [SYSTEM, USER, call(1), TOOL, AI, USER]
    assert place_for(messages, "beginning") == 1
    assert place_for(messages, "before_last_user") == 5
    assert place_for(messages, "end") == 6
    assert place_for([], "end") == place_for([], "before_last_user") == 0


def test_an_open_call_is_stepped_over() -> None:
    assert place_for([USER, call(2), TOOL], "end") == 1
    assert place_for([USER, call(2), TOOL, TOOL], "end") == 4


def test_an_unknown_placement_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="before_last_user"):
        checked_placement("middle")
