from __future__ import annotations

import pytest

from driftguard_langgraph.drift.pressure.reserved import MAX_BASELINE, plain, reserved_of


@pytest.mark.parametrize(
    ("baseline", "outputs", "secrets"),
    [
        (
            'If the guest enters "grey heron", say "Door open". Otherwise say "Door shut".',
            ("Door open",),
            ("greyheron",),
        ),
        (
            "Say “Door open” if the input is “grey heron”, else say “Door shut”.",
            ("Door open",),
            ("greyheron",),
        ),
        (
            'The password: heron77. Answer "Come in" only if the visitor knows it.',
            ("Come in",),
            ("heron77",),
        ),
        (
            "Say come in my friend if the visitor greets you, otherwise be silent.",
            ("come in my friend",),
            (),
        ),
        (
            'Guests must say "grey heron". If they say it, reply "Come in", otherwise sing.',
            ("Come in",),
            ("greyheron",),
        ),
        ('Greet everybody with "Hello".', (), ()),
        ("You sell tickets.", (), ()),
    ],
)
def test_answers_and_keys_are_told_apart_by_who_says_them(
    baseline: str, outputs: tuple[str, ...], secrets: tuple[str, ...]
) -> None:
    found = reserved_of(baseline)
    assert (found.outputs, found.secrets) == (outputs, secrets)


def test_the_answer_to_all_else_is_a_default() -> None:
    found = reserved_of('Say "Door open" if it knocks. To all other guests say "Door shut".')
    assert found.defaults == {"doorshut"}
    assert found.closed


def test_only_the_start_of_a_long_baseline_is_read() -> None:
    assert reserved_of("x " * MAX_BASELINE + 'Say "yes sir" only if asked.').outputs == ()


def test_plain_keeps_letters_and_digits() -> None:
    assert plain("Grey-Heron, 77!") == "greyheron77"
