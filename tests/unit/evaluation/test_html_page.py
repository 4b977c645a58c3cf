"""The page, read with a real parser, also when the trace wants to take it over."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from driftguard_langgraph.evaluation.backtest import backtest
from driftguard_langgraph.evaluation.findings import KEPT, Finding, Shortlist
from driftguard_langgraph.evaluation.html_page import render_page
from driftguard_langgraph.evaluation.scores import BacktestResult, Tally

VOID = {"meta", "link", "br", "img", "input", "base"}
KNOWN_TAGS = set(
    "html head meta title style body header main footer nav ul li a section h1 h2 p div table "
    "caption thead tbody tr th td details summary strong span dl dt dd fieldset legend label "
    "input".split()
)
KNOWN_ATTRIBUTES = set(
    "lang charset http-equiv content name id class href scope role tabindex aria-label "
    "aria-labelledby type checked".split()
)
HOSTILE = (
    "</dd></dl></details></style><script>alert(1)</script>"
    '" onmouseover="alert(2)" x=\'<img src=x onerror=alert(3)>\' & &lt;b&gt; <!-- ]]> '
    "javascript:alert(4) \x00\x1b[31m \u202e {0} %s"
)


class Page(HTMLParser):
    """What a parser makes of the page: its elements, its text, and whether tags match."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.comments: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def steps_file(folder: Path, *steps: tuple[str, str, bool, str]) -> Path:
    path = folder / "trace.jsonl"
    entries = [
        {
            "tool": tool,
            "action_text": action,
            "is_error": failed,
            "observation_text": said,
            "source": f"source {tool}",
            "stream_id": "s",
        }
        for tool, action, failed, said in steps
    ]
    path.write_text("\n".join(map(json.dumps, entries)), encoding="utf-8")
    return path


@pytest.fixture
def garden(tmp_path: Path) -> BacktestResult:
    return backtest(
        [
            steps_file(
                tmp_path,
                ("hose", "water the roses at noon", True, "leaves burnt"),
                ("brush", "paint the shed green", False, "looks good"),
                ("hose", "give the roses water at midday", True, "leaves burnt"),
                ("hose", "inflate the bicycle tyre", True, "leaves burnt"),
                ("hose", "water the roses at noon", False, "fine"),
            )
        ]
    )


def test_the_page_says_what_was_found(garden: BacktestResult) -> None:
    page = Page(render_page(garden))
    text = page.text
    for words in (
        "5 steps in 1 streams, 3 failures, 2 of them repeats",
        "always warn",
        "same text, redeemed",
        "cosine 0.90",
        "false alarms over successes",
        "give the roses water at midday",
        "hit",
        "false alarm",
        "miss",
        "leaves burnt",
        "same_error of",
    ):
        assert words in text
    assert re.search(r"costs \d+\.\d ms in the median and \d+\.\d ms at the 95th", text)
    assert text.count("was tried") == garden.warned.count == 2


def test_hostile_text_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    result = backtest(
        [
            steps_file(
                tmp_path,
                (HOSTILE.replace("\x00", ""), "go " + HOSTILE.replace("\x00", ""), True, HOSTILE),
                (HOSTILE.replace("\x00", ""), "go " + HOSTILE.replace("\x00", ""), True, HOSTILE),
                ("b", "stay", False, "ok"),
            )
        ]
    )
    result = replace(
        result,
        files=(HOSTILE,),
        model_id=HOSTILE,
        baselines={HOSTILE: Tally()},
        total=replace(result.total, kinds={HOSTILE: (1, 1)}),
    )
    written = render_page(result)
    page = Page(written)
    assert set(page.tags) <= KNOWN_TAGS
    assert {name for name, _ in page.attributes} <= KNOWN_ATTRIBUTES
    assert page.comments == []
    assert {value for name, value in page.attributes if name == "href"} == {
        "#main",
        "#figures",
        "#tools",
        "#warned",
        "#missed",
    }
    assert "<script>alert(1)</script>" in page.text
    assert "&lt;b&gt;" in page.text
    assert "\x1b" not in written
    assert "\u202e" not in written


def test_the_page_needs_no_network_and_no_script(garden: BacktestResult) -> None:
    page = Page(render_page(garden))
    assert not {"script", "link", "img", "iframe", "form", "base"} & set(page.tags)
    policy = dict(page.attributes)["content"]
    assert page.tags.count("style") == 1
    contents = [value for name, value in page.attributes if name == "content"]
    assert any(value and value.startswith("default-src 'none'") for value in contents)
    assert policy is not None
    style = render_page(garden).split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "color-scheme: light dark" in style
    assert ":focus-visible" in style


def test_headings_tables_and_lists_can_be_reached_and_named(garden: BacktestResult) -> None:
    page = Page(render_page(garden))
    assert ("lang", "en") in page.attributes
    assert page.tags.count("h1") == 1
    assert page.tags.count("caption") == page.tags.count("table")
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    named = {value for name, value in page.attributes if name == "aria-labelledby"}
    assert named <= set(ids)
    assert page.tags.count("details") == page.tags.count("summary") == 3


def finding(number: int, **more: Any) -> Finding:
    return Finding(
        where=f"t, line {number}",
        stream="s",
        tool="f",
        action="x" * 400,
        happened="miss",
        came_back="y" * 400,
        **more,
    )


def test_a_long_list_is_cut_and_says_so(garden: BacktestResult) -> None:
    missed = Shortlist()
    for number in range(KEPT + 41):
        missed.add(finding(number))
    written = render_page(replace(garden, missed=missed))
    assert f"The first {KEPT} are shown, 41 are left out." in Page(written).text
    assert f"t, line {KEPT - 1}<" in written
    assert f"t, line {KEPT}<" not in written
    assert len(written) < 2_000_000


def test_a_trace_without_warnings_says_so(tmp_path: Path) -> None:
    page = Page(render_page(backtest([steps_file(tmp_path, ("a", "go", False, "ok"))])))
    assert "Nothing would have been warned." in page.text
    assert "No repeat would have been missed." in page.text
