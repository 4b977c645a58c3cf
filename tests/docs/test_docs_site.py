"""What the hooks of the documentation do when the site is built."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scripts.docs_notebooks import NOTEBOOKS, page_of
from scripts.docs_offline import on_post_build, outside
from tests.docs.blocks import ROOT

NAV = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>'),
        ("a.html", "<img alt='' src=//cdn.example/x.png>"),
        ("a.html", '<link rel="stylesheet" href="https://fonts.example/css">'),
        ("a.css", "body { background: url(https://cdn.example/x.png) }"),
        ("a.css", '@import "//fonts.example/css";'),
    ],
    ids=["script", "image", "style", "background", "import"],
)
def test_a_site_that_fetches_from_elsewhere_is_refused(
    name: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match="elsewhere"):
        on_post_build({"site_dir": str(tmp_path)})


def test_links_and_files_of_its_own_are_not_refused(tmp_path: Path) -> None:
    page = (
        '<a href="https://example.org">there</a><script src="assets/x.js"></script>'
        '<link rel="canonical" href="https://example.org/here"><img src="data:image/png;base64,">'
    )
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    assert outside(tmp_path) == []


def test_a_notebook_becomes_a_page_with_its_words_code_and_outputs(tmp_path: Path) -> None:
    outputs = [
        {"output_type": "stream", "text": ["warn\n"]},
        {"data": {"image/png": "UE5H", "text/plain": ["<Picture size 9x9>"]}},
        {"data": {"text/html": ["<b>one</b>\n", "\n", "<i>two</i>"], "text/plain": ["x"]}},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# First\n", "words"]},
        {"cell_type": "code", "source": ["ask()"], "outputs": outputs},
    ]
    path = tmp_path / "01_first.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    text, pictures = page_of(path)
    assert text.startswith(
        '# First\nwords\n\n```python\nask()\n```\n\n```text title="Output"\nwarn'
    )
    assert "![Picture size 9x9](01_first_1_1.png)" in text
    assert "<b>one</b>\n<i>two</i>" in text
    assert pictures == {"01_first_1_1.png": b"PNG"}


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_notebook_is_in_the_navigation_and_shows_its_pictures(path: Path) -> None:
    text, pictures = page_of(path)
    assert f"notebooks/{path.stem}.md" in NAV
    assert f"]({path.stem}.md)" in (ROOT / "docs/notebooks/index.md").read_text(encoding="utf-8")
    assert re.findall(r"^!\[.+\]\((.+\.png)\)$", text, re.MULTILINE) == list(pictures)


def test_every_example_is_in_the_table() -> None:
    page = (ROOT / "docs/examples.md").read_text(encoding="utf-8")
    folders = [path.name for path in (ROOT / "examples").iterdir() if path.name[0] not in "_."]
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(folders)
