"""Cards: what an object says in a notebook, as headings, lists and tables.

A notebook shows them dark or light, and code hosts take away every style. So they hold no
colour, and what a style says (where a cell is aligned) is nothing that one needs to read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from driftguard_langgraph.html.text import SHOWN_CHARS, escaped

MOST_ROWS = 50
"""Rows of a table that are shown; the others are counted."""

_WORDS = ' style="text-align:left;vertical-align:top;white-space:pre-wrap"'
_LEFT = ' style="margin-left:0"'
_NUMBER = ' style="text-align:right;vertical-align:top"'

Fact = tuple[str, str | None]
"""A name and what there is to say; a fact without words is left out."""


def card(title: str, *parts: str) -> str:
    """Return a card.

    Args:
        title: Its heading, plain text.
        parts: What is under it, HTML; empty ones are left out.
    """
    body = "\n".join(part for part in parts if part)
    return f"<div>\n<p><strong>{shown(title)}</strong></p>\n{body}\n</div>"


def shown(text: str) -> str:
    """Return a text as it may stand in a card, cut if it is long."""
    return escaped(text, SHOWN_CHARS)


def line(text: str) -> str:
    """Return a paragraph of plain text; nothing if there is none."""
    return f'<p style="white-space:pre-wrap">{shown(text)}</p>' if text else ""


def facts(known: Iterable[Fact]) -> str:
    """Return facts as a table of two columns.

    Args:
        known: The facts, plain text.
    """
    rows = [
        f'<tr><th scope="row"{_WORDS}>{shown(name)}</th><td{_WORDS}>{shown(words)}</td></tr>'
        for name, words in known
        if words
    ]
    return _table("", rows)


def grid(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1
) -> str:
    """Return a table with a caption; nothing if it has no rows.

    Args:
        caption: What it shows.
        header: Names of the columns.
        rows: The cells, plain text.
        words: How many first columns hold words; the others hold numbers.
    """
    if not rows:
        return ""
    styles = [_WORDS if place < words else _NUMBER for place in range(len(header))]
    head = "".join(
        f'<th scope="col"{style}>{shown(name)}</th>'
        for style, name in zip(styles, header, strict=True)
    )
    body = [
        "<tr>"
        + "".join(f"<td{style}>{shown(cell)}</td>" for style, cell in zip(styles, row, strict=True))
        + "</tr>"
        for row in rows[:MOST_ROWS]
    ]
    more = f", the first {MOST_ROWS} of {len(rows)}" if len(rows) > MOST_ROWS else ""
    caption = f'<caption style="text-align:left">{shown(caption + more)}</caption>'
    return _table(f"{caption}<thead><tr>{head}</tr></thead>", body)


def folded(title: str, body: str) -> str:
    """Return what is shown when somebody opens it; nothing if it is empty.

    Args:
        title: What is in it, plain text.
        body: HTML.
    """
    return f"<details><summary>{shown(title)}</summary>\n{body}\n</details>" if body else ""


def share(value: float | None) -> str:
    """Return a share of 1 in percent, a dash for one that is not defined."""
    return "-" if value is None else f"{100 * value:.1f}%"


def _table(head: str, rows: Sequence[str]) -> str:
    body = "\n".join(rows)
    return f"<table{_LEFT}>{head}<tbody>\n{body}\n</tbody></table>" if rows else ""
