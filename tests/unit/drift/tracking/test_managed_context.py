from __future__ import annotations

import pytest

from driftguard_langgraph.drift.strategies.base import FewShotExample
from driftguard_langgraph.drift.tracking.managed_context import (
    HEADING,
    ManagedContext,
    SessionSummary,
    original_context,
)
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.text.tokens import estimated_tokens

PROMPT = "  You plan gardens.\n\tIf lost, say 'This is off-topic'.\r\n\n"
PAST = [SessionSummary(n, n + 1, 90.25 - n, f"Spoke of bed {n}.") for n in range(1, 6)]


def test_the_prompt_stands_in_it_byte_for_byte() -> None:
    text, _ = ManagedContext(PROMPT).build(PAST)
    assert text.startswith(PROMPT + "\n\n" + HEADING)
    assert ManagedContext(PROMPT).build([])[0] == PROMPT


def test_examples_follow_the_prompt_as_the_peer_writes_them() -> None:
    shots = [FewShotExample("Mulch?", "In spring."), FewShotExample("Lawn?", "In May.")]
    assert original_context("P", shots) == (
        "P\nUser: Mulch?\nAssistant: In spring.\nUser: Lawn?\nAssistant: In May."
    )


def test_a_summary_tells_its_session_its_length_and_its_score() -> None:
    text, _ = ManagedContext("P").build(PAST[:1])
    assert text == f"P\n\n{HEADING}\n[Session 1 | 2 exchanges | drift: 89.2/100]: Spoke of bed 1."
    assert "drift: not scored" in str(SessionSummary(1, 1, None, "x"))


@pytest.mark.parametrize(
    ("most", "shown"), [(0, []), (1, [5]), (3, [3, 4, 5]), (9, [1, 2, 3, 4, 5])]
)
def test_the_newest_summaries_are_shown_up_to_their_number(most: int, shown: list[int]) -> None:
    text, _ = ManagedContext("P", max_summaries=most).build(PAST)
    assert [n for n in range(1, 6) if f"[Session {n} |" in text] == shown


def test_over_the_budget_the_oldest_summaries_go_and_the_prompt_stays() -> None:
    whole, tokens = ManagedContext(PROMPT).build(PAST)
    for budget in range(estimated_tokens(PROMPT), tokens + 2):
        text, used = ManagedContext(PROMPT, token_budget=budget).build(PAST)
        assert used == estimated_tokens(text) <= budget
        assert text.startswith(PROMPT)
        kept = [n for n in range(1, 6) if f"[Session {n} |" in text]
        assert kept == list(range(6 - len(kept), 6))
    assert ManagedContext(PROMPT, token_budget=tokens).build(PAST)[0] == whole


def test_a_prompt_over_the_budget_is_refused_and_the_message_says_by_how_much() -> None:
    with pytest.raises(ConfigurationError, match="token_budget=3 is less than the 4 tokens"):
        ManagedContext("x" * 16, token_budget=3)


def test_tokens_are_counted_by_the_callable_if_there_is_one() -> None:
    context = ManagedContext(
        "one two", token_budget=25, count_tokens=lambda text: len(text.split())
    )
    assert context.build([])[1] == 2
    text, used = context.build(PAST)
    assert used == len(text.split()) <= 25
    assert "[Session 5 |" in text


def test_a_counter_that_fails_is_replaced_by_the_estimate(caplog: pytest.LogCaptureFixture) -> None:
    def broken(text: str) -> int:
        raise RuntimeError(text)

    assert ManagedContext("secret!", count_tokens=broken).build([])[1] == 2
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("abc", 1), ("abcd", 1), ("abcde", 2), ("花园", 2), ("\ud800", 1)]
)
def test_a_token_is_about_four_bytes(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_summaries": -1}, {"max_summaries": True}, {"max_summaries": 1.5},
        {"token_budget": 0}, {"token_budget": "9"}, {"count_tokens": "len"},
    ],
)  # fmt: skip
def test_what_is_no_budget_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        ManagedContext("P", **wrong)  # type: ignore[arg-type]
