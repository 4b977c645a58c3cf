from __future__ import annotations

from typing import Any

import pytest

from driftguard_langgraph.errors import ConfigurationError, InvalidEpisode
from driftguard_langgraph.text.validation import (
    TextLimits,
    checked_namespace,
    checked_share,
    checked_text,
    observed_text,
    unclosed,
)

LIMITS = TextLimits(max_chars=300)


@pytest.mark.parametrize("text", ["a", " padded ", "日本語", "emoji 🔥", "tab\tand\nnewline"])
def test_ordinary_text_is_kept_as_it_is(text: str) -> None:
    assert checked_text(text, "action", LIMITS) == text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "not NoneType"),
        (3, "not int"),
        (b"x", "not bytes"),
        ("", "empty"),
        (" \n\t", "empty"),
        ("a\0b", "NUL byte at 1"),
        ("ab\udc80", "surrogate at 2"),
    ],
)
def test_what_is_no_text_is_refused_by_name_and_reason(value: Any, said: str) -> None:
    with pytest.raises(InvalidEpisode, match=rf"outcome .*{said}"):
        checked_text(value, "outcome", LIMITS)


def test_observed_text_shows_bytes_that_are_no_text() -> None:
    assert observed_text("a\0\ud800b", "feedback", LIMITS) == "a\u2400\ufffdb"


def test_a_long_text_keeps_head_and_tail_and_its_identity() -> None:
    text = "head " + "x" * 1000 + " tail"
    other = "head " + "x" * 500 + "y" + "x" * 499 + " tail"

    kept = checked_text(text, "action", LIMITS)

    assert len(kept) == LIMITS.max_chars
    assert kept.startswith("head ")
    assert kept.endswith(" tail")
    assert "1010 characters" in kept
    assert kept != checked_text(other, "action", LIMITS)


def test_a_text_of_just_the_limit_is_whole_and_one_more_is_not() -> None:
    assert checked_text("x" * 300, "action", LIMITS) == "x" * 300
    assert checked_text("x" * 301, "action", LIMITS) != "x" * 301
    with pytest.raises(InvalidEpisode, match="301 characters"):
        checked_text("x" * 301, "action", TextLimits(300, "refuse"))


@pytest.mark.parametrize("value", [("a",), ["a", "b.c@d"], ("ns", 'quo"te', "日本")])
def test_any_words_make_a_namespace(value: Any) -> None:
    assert checked_namespace(value) == tuple(value)


@pytest.mark.parametrize("value", [(), "abc", ("",), ("a", " "), (1,), ("a", None)])
def test_anything_else_makes_none(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="namespace"):
        checked_namespace(value)


@pytest.mark.parametrize("value", [0, 1, 0.5])
def test_a_share_is_a_number_from_0_to_1(value: float) -> None:
    assert checked_share(value, "x") == value


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), "1", None, True])
def test_nothing_else_is_a_share(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="floor"):
        checked_share(value, "floor")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("restart the oven.", "restart the oven"),
        ("restart the oven!! ", "restart the oven"),
        ('say "go".', 'say "go"'),
        ("is the oven on?", "is the oven on?"),
        ("git add .", "git add ."),
        ("...", "..."),
        ("", ""),
    ],
)
def test_only_what_closes_a_sentence_is_left_out(text: str, said: str) -> None:
    assert unclosed(text) == said
