from __future__ import annotations

import html

import pytest

from driftguard_langgraph.html.text import SHOWN_CHARS, clipped, escaped, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, ünïcode, 漢字", "plain words, ünïcode, 漢字"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("dos\r\nline", "dos\nline"),
        ("over\rwritten", r"over\rwritten"),
        ("\x00 \x1b[31m \x07", r"\x00 \x1b[31m \x07"),
        ("\u202eevil\u202c \u2066x\u2069", r"\u202eevil\u202c \u2066x\u2069"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\ud800 alone", r"\ud800 alone"),
        ("\U000e0041 \ufeff soft\xadhyphen", r"\U000e0041 \ufeff soft\xadhyphen"),
        ("10\xa0000\u2009€ and\u3000全角", "10 000 € and 全角"),
        ("नम\u200cस्ते 👩\u200d💻", "नम\u200cस्ते 👩\u200d💻"),
    ],
    ids=[
        "letters",
        "line ends and tabs",
        "line ends of DOS",
        "carriage return",
        "controls",
        "reading direction",
        "separators",
        "surrogate",
        "what cannot be seen",
        "spaces",
        "joiners",
    ],
)  # fmt: skip
def test_what_acts_is_shown_and_what_only_reads_stays(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("code", [*range(32), *range(0x7F, 0xA0), 0x200B, 0x200E, 0x2028, 0xD800])
def test_no_control_character_but_line_ends_and_tabs_is_passed_on(code: int) -> None:
    assert (chr(code) in printable(f"a{chr(code)}b")) is (chr(code) in "\n\t")


def test_a_text_is_cut_before_its_escapes_are_made() -> None:
    assert printable("\x00" * 500, 3) == r"\x00\x00…"
    assert clipped("x" * SHOWN_CHARS) == "x" * SHOWN_CHARS
    assert clipped("x" * (SHOWN_CHARS + 1)) == "x" * (SHOWN_CHARS - 1) + "…"
    assert escaped("<" * 5, 3) == "&lt;&lt;…"


def test_escaped_text_reads_as_it_was_between_tags_and_in_attributes() -> None:
    text = "</script> <!-- \" ' & &lt; &#x41; --> <img onerror=x>"
    inside = escaped(text)
    assert not set("<>\"'") & set(inside)
    assert html.unescape(inside) == text
