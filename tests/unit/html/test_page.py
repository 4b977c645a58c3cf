from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from driftguard_langgraph.html.page import Section, inert_json, json_block, page, table


class Elements(HTMLParser):
    """The elements of a page, with their attributes, and the text of each tag."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._tag = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._tag = tag

    def handle_data(self, data: str) -> None:
        self.texts[self._tag] = self.texts.get(self._tag, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""


def policy(source: str) -> dict[str, str]:
    content = re.search(r'Policy" content="([^"]+)"', source)
    assert content is not None
    parts = content[1].replace("&#x27;", "'").split("; ")
    return dict(part.split(" ", 1) for part in parts)


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


SECTIONS = [Section("one", "One", "<p>1</p>"), Section("two", "Two & more", "<p>2</p>")]


def test_the_policy_allows_the_style_and_script_of_the_page_and_nothing_else() -> None:
    script = "'use strict'; let a = '</b>' < 1 && 2;"
    source = page("T", "", SECTIONS, style="h1 { margin: 0 }", script=script)
    style = source.split("<style>")[1].split("</style>")[0]
    assert style.endswith("h1 { margin: 0 }")
    assert policy(source) == {
        "default-src": "'none'",
        "style-src": digest(style),
        "script-src": digest(script),
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_a_page_without_a_script_allows_none() -> None:
    source = page("T", "", SECTIONS)
    assert "script-src" not in policy(source)
    assert "<script" not in source


def test_sections_are_named_by_their_headings_and_linked() -> None:
    source = page("A <title>", "<p>lead</p>", SECTIONS)
    elements = Elements(source).found
    links = [each["href"] for tag, each in elements if tag == "a"]
    assert links == ["#main", "#one", "#two"]
    ids = [each["id"] for _, each in elements if "id" in each]
    assert len(ids) == len(set(ids))
    assert {"main", "one", "two"} <= set(ids)
    named = [each["aria-labelledby"] for tag, each in elements if tag == "section"]
    assert named == ["one-title", "two-title"]
    assert set(named) <= set(ids)
    assert "<title>A &lt;title&gt;</title>" in source
    assert ">Two &amp; more</h2>" in source
    assert [tag for tag, _ in elements].count("h1") == 1


def test_nothing_in_the_shell_is_loaded() -> None:
    source = page("T", "", SECTIONS, script="1")
    assert not re.search(r"url\(|@import|src=|<link|https?://", source)


@pytest.mark.parametrize(
    "value",
    [
        "</script><script>alert(1)</script>",
        "<!-- <script>",
        "]]> & &amp;",
        "line\u2028and\u2029paragraph",
        "\ud800 alone, and a pair 😀",
        {"<key>": ["\x00", "\x1b", '"', "\\"]},
    ],
    ids=["end of script", "comment", "markup", "separators", "surrogate", "nested"],
)
def test_data_cannot_leave_their_element_and_read_as_they_were(value: object) -> None:
    block = json_block("data", value)
    inside = block.removeprefix('<script type="application/json" id="data">')
    inside = inside.removesuffix("</script>")
    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == value
    assert json.loads(inert_json(value).encode("utf-8")) == value


def test_a_table_names_its_rows_and_columns_and_can_be_scrolled_by_keyboard() -> None:
    source = table("Counts & more", ("who", "what", "how many"), [("a<b", "x", "3")], words=2)
    assert 'role="region" tabindex="0" aria-label="Counts &amp; more"' in source
    assert "<caption>Counts &amp; more</caption>" in source
    assert '<th scope="row">a&lt;b</th><td>x</td><td class="number">3</td>' in source
    assert source.count('scope="col"') == 3


def test_a_cell_is_bounded() -> None:
    source = table("c", ("a", "b"), [("x" * 10_000, "y" * 10_000)])
    assert len(source) < 2_000
