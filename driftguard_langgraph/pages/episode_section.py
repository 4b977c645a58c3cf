"""The section with the episodes: the newest as a table, and all that fit as data for the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from driftguard_langgraph.html.page import Section, inert_json, json_block
from driftguard_langgraph.html.text import escaped, printable
from driftguard_langgraph.pages.parts import badge, moment, newest, paragraph
from driftguard_langgraph.pages.texts import CHARS, bounded

PAGE = 25
"""Episodes on one leaf of the table."""

BUDGET = 3_500_000
"""Bytes of the data for the search; with all else the page stays under 5 MB."""

_LIMITS = (240, 160, 120, 80, 40)
"""Characters of a text that are tried in turn while the data do not fit."""

_COLUMNS = ("when", "result", "tried", "came back", "led to")

_TEXTS = ("action", "feedback", "outcome")

Json = Mapping[str, Any]


def episodes(found: Json) -> Section:
    """Return the section."""
    rows = found["rows"]
    if not rows:
        return Section("episodes", "Episodes", paragraph("None yet."))
    dumped, listed, limit = _fitted(rows)
    which = newest(listed, found["count"], "episode")
    note = f"{which}. Texts are held up to {limit} characters; what was cut is said."
    leaf = "".join(map(_row, rows[:PAGE]))
    head = "".join(f'<th scope="col" role="columnheader">{name}</th>' for name in _COLUMNS)
    body = f"""{paragraph(note, soft=True)}
<p id="unscripted">Search and sorting need JavaScript, which is off: the newest \
{min(PAGE, listed)} episodes are listed. <code>driftguard export</code> writes all of them.</p>
<div id="search" hidden></div>
<p id="found" role="status" aria-live="polite"></p>
<table id="listed" role="table" class="stacking"><caption>Episodes</caption>
<thead role="rowgroup"><tr role="row">{head}</tr></thead>
<tbody role="rowgroup">{leaf}</tbody></table>
<div id="leaves" hidden></div>
{dumped}"""
    return Section("episodes", "Episodes", body)


def _fitted(rows: Sequence[Json]) -> tuple[str, int, int]:
    """Return the data block, how many episodes are in it, and how long their texts are."""
    kept, limit, size = rows, CHARS, _size(rows, CHARS)
    for shorter in _LIMITS:
        # Texts that are short already do not shrink, so what is expected is the least.
        if size > BUDGET and size * shorter / limit <= BUDGET:
            limit, size = shorter, _size(rows, shorter)
    if size > BUDGET:
        limit, size = _LIMITS[-1], _size(rows, _LIMITS[-1])
    while size > BUDGET:
        kept = kept[: len(kept) // 2]
        size = _size(kept, limit)
    return json_block("data", _packed(kept, limit)), len(kept), limit


def _size(rows: Sequence[Json], limit: int) -> int:
    return len(inert_json(_packed(rows, limit)).encode())


def _packed(rows: Sequence[Json], limit: int) -> Json:
    """Return episodes as rows of numbers over a list of their distinct texts."""
    places: dict[str, int] = {}

    def place(row: Json, name: str) -> int:
        text = printable(bounded(row[name], limit, row["characters"][name]))
        return places.setdefault(text, len(places))

    packed = [
        [row["at"], int(row["kind"] == "success"), *(place(row, name) for name in _TEXTS)]
        for row in rows
    ]
    return {"page": PAGE, "rows": packed, "texts": list(places)}


def _row(row: Json) -> str:
    result = badge("good", "worked") if row["kind"] == "success" else badge("bad", "failed")
    cells = (moment(row["at"]), result, *(_text(row[name]) for name in _TEXTS))
    return (
        '<tr role="row">'
        + "".join(
            f'<td role="cell" data-label="{label}">{cell}</td>'
            for label, cell in zip(_COLUMNS, cells, strict=True)
        )
        + "</tr>"
    )


def _text(text: str) -> str:
    return f"<bdi>{escaped(text)}</bdi>"
