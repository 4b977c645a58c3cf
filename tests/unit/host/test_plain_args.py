from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from driftguard_langgraph.host.plain_args import plain_args, words


class Mute:
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_plain_json_stays_as_it_is() -> None:
    args = {"path": "/srv/a b", "n": [1, 2.5, None, True, {"deep": "é"}]}
    assert plain_args(args) == args


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("a cut emoji \ud83d", "a cut emoji \ufffd"),
        (float("nan"), "nan"),
        (date(2026, 1, 2), "2026-01-02"),
        (b"ab", "b'ab'"),
        (Mute(), "Mute"),
        ({3: (1, 2)}, {"3": [1, 2]}),
    ],
    ids=["surrogate", "nan", "date", "bytes", "mute", "keys"],
)
def test_what_is_no_json_is_told_in_words(value: object, kept: object) -> None:
    assert plain_args({"x": value}) == {"x": kept}


def test_a_value_that_holds_itself_ends_somewhere() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert "list" in json.dumps(plain_args({"q": loop}))


def test_an_object_that_cannot_speak_has_the_name_of_its_type() -> None:
    assert words(Mute()) == "Mute"
