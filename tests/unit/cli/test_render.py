from __future__ import annotations

import io

import pytest
from rich.console import Console

from driftguard_langgraph.cli.render import SHOWN_CHARS, counts_table, plain, review_lines
from driftguard_langgraph.reviews import GuardReview, RelatedMemory
from driftguard_langgraph.types import Match
from tests.review_samples import review, warning


def printed(value: object) -> str:
    console = Console(file=io.StringIO(), width=120, soft_wrap=True)
    console.print(value)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[bold]x[/bold]", "[bold]x[/bold]"),
        ("two\nlines\tand tab", "two lines and tab"),
        ("bell\x07", r"bell\x07"),
        ("right\u202eleft", r"right\u202eleft"),
        ("ends\\[red]", "ends\\[red]"),
    ],
)
def test_recorded_text_is_shown_as_it_is(text: str, shown: str) -> None:
    assert printed(plain(text)).rstrip("\n") == shown


def test_long_text_is_cut() -> None:
    assert len(plain("x" * 1000)) == SHOWN_CHARS


def test_lookalikes_say_what_tells_them_apart() -> None:
    match = Match(0.2, False, 0.9, "different_target", ("staging / production",))
    other = RelatedMemory("mistake", "wipe production", match)
    shown = printed(review_lines(GuardReview("wipe staging", related=(other,)).to_dict()))
    assert "not the same (staging / production): wipe production, a mistake" in shown


def test_a_muted_warning_is_said_and_a_withheld_one_is_not() -> None:
    quiet = review(warnings=(), muted=(warning("wipe staging"),), withheld=(warning("zebra"),))
    shown = printed(review_lines(quiet.to_dict()))
    assert "muted (ran 0x since it failed, and worked): wipe staging" in shown
    assert "zebra" not in shown


def test_counts_have_a_row_for_each_kind() -> None:
    shown = printed(
        counts_table({"mistakes": {"edges_removed": 4}, "successes": {"edges_removed": 0}})
    )
    assert "edges removed" in shown
    assert "mistakes" in shown
