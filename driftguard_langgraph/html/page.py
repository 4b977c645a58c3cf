"""The shell of a page that is one file: it loads nothing, and runs no script but its own.

A content security policy allows the style and the script by their digests and nothing else, so
that a recorded text could not act even if it slipped past the escaping. Dark or light is chosen
by the system and by three buttons that need no script.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from driftguard_langgraph._version import __version__
from driftguard_langgraph.html.text import SHOWN_CHARS, escaped

_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKUP = "<>&\u2028\u2029"

_THEMES = (("auto", "System"), ("light", "Light"), ("dark", "Dark"))


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading.

    Attributes:
        name: Its id.
        title: Its heading, plain text.
        body: What is under it, HTML.
    """

    name: str
    title: str
    body: str


def page(
    title: str,
    lead: str,
    sections: Sequence[Section],
    *,
    style: str = "",
    script: str = "",
) -> str:
    """Return a whole HTML document.

    Args:
        title: Of the page, plain text.
        lead: What stands under it, HTML.
        sections: The parts of the page.
        style: CSS on top of the shared one.
        script: JavaScript; without it none can run.
    """
    style = shared_style() + style
    links = "".join(
        f'<li><a href="#{each.name}">{escaped(each.title)}</a></li>' for each in sections
    )
    bodies = "\n".join(map(_section, sections))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escaped(_policy(style, script))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escaped(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
{_theme_choice()}
</header>
<main id="main" tabindex="-1">
<h1>{escaped(title)}</h1>
{lead}
{bodies}
</main>
<footer><p class="soft">driftguard-langgraph {escaped(__version__)}</p></footer>
{f"<script>{script}</script>" if script else ""}</body>
</html>
"""


def shared_style() -> str:
    """Return the CSS that all pages have."""
    return resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1
) -> str:
    """Return a table that scrolls by itself where it is too wide; the first column names the rows.

    Args:
        caption: What it shows.
        header: Names of the columns.
        rows: The cells, plain text.
        words: How many first columns hold words; the others hold numbers.
    """
    classes = ["" if place < words else ' class="number"' for place in range(len(header))]
    head = "".join(
        f'<th scope="col"{kind}>{escaped(name, SHOWN_CHARS)}</th>'
        for kind, name in zip(classes, header, strict=True)
    )
    body = "\n".join(
        f'<tr><th scope="row">{escaped(row[0], SHOWN_CHARS)}</th>'
        + "".join(
            f"<td{kind}>{escaped(cell, SHOWN_CHARS)}</td>"
            for kind, cell in zip(classes[1:], row[1:], strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escaped(caption)}"><table>'
        f"<caption>{escaped(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def json_block(name: str, value: Any) -> str:
    """Return data for a script of the page: nothing in it can end the element or run.

    Args:
        name: Id of the element; the script reads its text content.
        value: Plain JSON.
    """
    return f'<script type="application/json" id="{name}">{inert_json(value)}</script>'


def inert_json(value: Any) -> str:
    """Return JSON without a sign that HTML, or an old JavaScript, reads as its own."""
    dumped = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for sign in _MARKUP:
        dumped = dumped.replace(sign, _escape(sign))
    return _SURROGATE.sub(lambda found: _escape(found[0]), dumped)


def _escape(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _policy(style: str, script: str) -> str:
    allowed = {"default-src": "'none'", "style-src": _digest(style)}
    if script:
        allowed["script-src"] = _digest(script)
    allowed |= {"base-uri": "'none'", "form-action": "'none'"}
    return "; ".join(f"{name} {source}" for name, source in allowed.items())


def _digest(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _section(section: Section) -> str:
    return (
        f'<section id="{section.name}" aria-labelledby="{section.name}-title">\n'
        f'<h2 id="{section.name}-title">{escaped(section.title)}</h2>\n{section.body}\n</section>'
    )


def _theme_choice() -> str:
    choices = "".join(
        f'<label><input type="radio" name="theme" id="theme-{name}"'
        f"{' checked' if name == 'auto' else ''}> {title}</label>"
        for name, title in _THEMES
    )
    return f'<fieldset class="theme"><legend>Theme</legend>{choices}</fieldset>'
