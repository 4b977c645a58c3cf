from __future__ import annotations

import pytest

from driftguard_langgraph.pictures.words import BOX, cut, readable, width_of, wrapped

LONG = "the build cache of the nightly job was wiped while somebody was still using it"


def test_line_ends_are_shown_and_spaces_are_one() -> None:
    assert readable("  one\r\ntwo\t three\n") == "one ↵ two three"


def test_a_letter_that_no_font_has_is_a_box() -> None:
    assert readable("a\U000e0041b\U0001f9ff") == f"a\\U000e0041b{BOX}"


@pytest.mark.parametrize("width", [20.0, 60.0, 200.0])
def test_a_cut_line_fits_and_says_that_it_is_cut(width: float) -> None:
    line = cut(LONG, width, 10)
    assert width_of(line, 10) <= width
    assert line.endswith("…")
    assert LONG.startswith(line[:-1])


def test_what_fits_is_not_cut() -> None:
    assert cut(LONG, 2000, 10) == LONG


def test_no_line_is_wider_than_its_room_and_no_word_is_lost() -> None:
    lines = wrapped(LONG, 120, 10, 9)
    assert max(width_of(line, 10) for line in lines) <= 120
    assert " ".join(lines) == LONG


def test_a_word_that_is_too_long_is_broken_and_the_rest_cut() -> None:
    lines = wrapped("x" * 300, 100, 10, 3)
    assert len(lines) == 3
    assert max(width_of(line, 10) for line in lines) <= 100
    assert lines[-1].endswith("…")


def test_nothing_is_no_line() -> None:
    assert wrapped("", 100, 10, 3) == []
