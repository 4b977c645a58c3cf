from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from driftguard_langgraph.text.markdown import strip_markdown


@pytest.mark.parametrize(
    "text",
    [
        "5 * 3 * 2 = 30",
        "call __init__ and __repr__ first",
        "def f(*args, **kwargs): pass",
        "x**2 + y**2 = z**2",
        "2*3*4",
        "a snake_case_name and another_one",
        "cat a.txt | grep b",
        "issue # 5 is open",
        "if a > b then c",
        "costs ~5 [sic] (see below)",
        "one ` tick",
        "* a point that stays",
    ],
)
def test_what_is_no_markup_survives(text: str) -> None:
    assert strip_markdown(text) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Watering\n\nTwice a week.", "Watering Twice a week."),
        ("**bold**, *soft*, _also soft_, __very bold__", "bold, soft, also soft, very bold"),
        ("***both*** and **Rate:**4.5%", "both and Rate:4.5%"),
        ("a **bold with *soft* inside** it", "a bold with soft inside it"),
        ("use `pip` and ``a`b``", "use pip and a`b"),
        ("**use `x * y` now**", "use x * y now"),
        ('[the guide](https://a.example/x_(y) "title") helps', "the guide helps"),
        ("![a plot](plot.png) shows", "shows"),
        ("see https://a.example/b?c=d. Then go", "see . Then go"),
        ("mail <https://a.example> now", "mail now"),
        ("> quoted\n> > twice", "quoted twice"),
        ("above\n\n---\n\nbelow\n***\nend", "above below end"),
        ("| name | size |\n|:-----|-----:|\n| oak | 20 m |", "name size oak 20 m"),
        ("  many \n\n\n  blanks\t", "many blanks"),
        ("", ""),
    ],
)
def test_markup_goes_and_words_stay(text: str, words: str) -> None:
    assert strip_markdown(text) == words


def test_code_between_fences_is_kept_as_it_is() -> None:
    text = "Run:\n```python\ndef f(*a, *b):\n    return __name__  # [x](y)\n```\n**Done**"
    assert strip_markdown(text) == "Run: def f(*a, *b): return __name__ # [x](y) Done"


def test_a_fence_that_is_never_closed_keeps_the_rest_as_code() -> None:
    assert strip_markdown("~~~\n*a*\n```\n*b*") == "*a* ``` *b*"


def test_code_spans_come_back_in_their_places() -> None:
    assert strip_markdown("`*a*` then \ue000 then `_b_`") == "*a* then then _b_"


def test_emphasis_does_not_cross_a_paragraph() -> None:
    assert strip_markdown("*one\n\ntwo*") == "*one two*"


HOSTILE = {
    "brackets": "[",
    "image brackets": "![",
    "open links": "[a](",
    "links in spaces": "[a](b          ",
    "titles": '[a](b "',
    "parentheses": "[a](x(a)(b",
    "words in underscores": " _a",
    "words in stars": "**a* ",
    "dunders": "__a__b ",
    "ticks": "` `` ``` ",
    "quotes": "> ",
    "rules": "- ",
    "headers": "# ",
    "URLs": "https://",
    "pipes": "|",
    "spaces": " ",
    "lines": "\n",
    "fences": "```\n",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_of_300_kb_does_not_hang(piece: str) -> None:
    # With an expression that is quadratic, one of these takes minutes to hours.
    code = "import sys; from driftguard_langgraph.text.markdown import strip_markdown as s; "
    code += "s(sys.argv[1] * (300_000 // len(sys.argv[1])))"
    subprocess.run([sys.executable, "-c", code, piece], check=True, timeout=100)


def shapes() -> Iterator[str]:
    yield from ("\ud800 lone", "\0", "İ" * 50 + "**b** c", "🌱 *x*", "\r\n# a\r\n")


@pytest.mark.parametrize("text", list(shapes()), ids=range(5))
def test_no_text_makes_it_fail(text: str) -> None:
    assert isinstance(strip_markdown(text), str)
