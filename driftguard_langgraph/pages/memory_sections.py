"""The sections about a memory: its size, its strongest chains, its warnings and their worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from driftguard_langgraph.html.page import Section, table
from driftguard_langgraph.html.text import escaped
from driftguard_langgraph.pages.charts import Charts, gauge
from driftguard_langgraph.pages.parts import (
    badge,
    command,
    facts,
    joined,
    moment,
    newest,
    paragraph,
    plural,
    readable,
)

Json = Mapping[str, Any]

UNFOLDED = 10
"""Warnings that are shown at once; the others unfold."""

_ENDED = {
    ("shown", "instead", "success"): ("good", "heeded: another step ran, and worked"),
    ("shown", "instead", "mistake"): ("bad", "heeded: another step ran, and failed"),
    ("shown", "ran", "success"): ("doubt", "overridden: it ran, and worked"),
    ("shown", "ran", "mistake"): ("bad", "overridden: it ran, and failed"),
    ("withheld", "ran", "success"): ("plain", "kept silent: it ran, and worked"),
    ("withheld", "ran", "mistake"): ("plain", "kept silent: it ran, and failed"),
    ("withheld", "instead", "success"): ("plain", "kept silent: another step ran, and worked"),
    ("withheld", "instead", "mistake"): ("plain", "kept silent: another step ran, and failed"),
    ("muted", "ran", "success"): ("plain", "muted: it ran, and worked"),
    ("muted", "ran", "mistake"): ("plain", "muted: it ran, and failed"),
    ("muted", "instead", "success"): ("plain", "muted: another step ran, and worked"),
    ("muted", "instead", "mistake"): ("plain", "muted: another step ran, and failed"),
}
"""What became of a warning: by what was done with it, what ran, and how that ended."""

_ARMS = (
    ("warned", "warned"),
    ("heeded", "of these heeded: another step ran"),
    ("overridden", "of these overridden: it ran"),
    ("withheld", "held out: the warning stayed silent"),
    ("muted", "muted by evidence"),
)


def overview(memory: Json, charts: Charts) -> Section:
    """Return how much is remembered, where, since when, and how it grew."""
    if not memory["episodes"]:
        return Section("memory", "Memory", _empty(memory))
    graphs = [(name, memory[name]) for name in ("mistakes", "successes")]
    tiles = (
        ("episodes", f"{memory['episodes']:,}"),
        *((name, f"{graph['episodes']:,}") for name, graph in graphs),
        ("nodes", f"{sum(graph['nodes'] for _, graph in graphs):,}"),
        ("edges", f"{sum(graph['edges'] for _, graph in graphs):,}"),
        ("merged", f"{memory['merge_ratio']:.0%}"),
    )
    tiled = "".join(
        f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in tiles
    )
    header = ("graph", "episodes", "nodes", "edges")
    rows = [[name, *(f"{graph[each]:,}" for each in header[1:])] for name, graph in graphs]
    body = (
        f'<dl class="tiles">{tiled}</dl>',
        f'<div class="place">{facts(_place(memory))}{table("The two graphs", header, rows)}</div>',
        paragraph(
            "Merged: how many of the texts of all episodes (three each) fell on a node that was "
            "there, because they mean the same.",
            soft=True,
        ),
        charts.growth(memory["growth"]),
    )
    return Section("memory", "Memory", "\n".join(body))


def chains(kind: str, found: Json) -> Section:
    """Return the strongest chains of one kind, `mistakes` or `successes`."""
    title = "What fails" if kind == "mistakes" else "What works"
    if not found["chains"]:
        nothing = "No failure is remembered." if kind == "mistakes" else "No success is remembered."
        record = "record" if kind == "mistakes" else "record_success"
        hint = f"{nothing} They are kept by guard.{record}(action, feedback, outcome)."
        return Section(kind, title, paragraph(hint))
    shown = len(found["chains"])
    every = shown == found["count"]
    which = "All chains" if every else f"The {shown} strongest of {found['count']:,}"
    note = (
        f"{which}, as they were written: what was tried, what came back, what it led to. "
        "Confidence is what the guard would give the same step now."
    )
    items = "\n".join(_chain(kind, chain, number) for number, chain in enumerate(found["chains"]))
    return Section(
        kind, title, f'{paragraph(note, soft=True)}<ol class="cards sortable">{items}</ol>'
    )


def warnings(found: Json) -> Section:
    """Return the newest settled warnings and what became of them."""
    if not found["count"]:
        body = paragraph(
            "No warning is settled yet. Record what ran with the review of the step, and this "
            "page says what became of the warning:"
        ) + command(
            "review = guard.review(action)\nguard.record(action, feedback, outcome, review=review)"
        )
        return Section("warnings", "Warnings", body)
    which = newest(len(found["shown"]), found["count"], "settled warning")
    note = f"{which}, the newest first, each with what was recorded after it."
    items = [_warning(each) for each in found["shown"]]
    parts = [paragraph(note, soft=True), _cards(items[:UNFOLDED])]
    if items[UNFOLDED:]:
        folded = plural(len(items) - UNFOLDED, "earlier warning")
        parts.append(f"<details><summary>{folded}</summary>{_cards(items[UNFOLDED:])}</details>")
    return Section("warnings", "Warnings", "\n".join(parts))


def worth(report: Json, charts: Charts) -> Section:
    """Return whether the warnings paid, with the interval of the answer."""
    parts = []
    if report["lift"] is not None and report["interval"] is not None:
        low, high = report["interval"]
        points, than = abs(100 * report["lift"]), "fewer" if report["lift"] >= 0 else "more"
        parts.append(
            f"<p><strong>{points:.1f} points {than}</strong> failures where warned than where the "
            f"warning stayed silent ({report['level']:.0%} interval of the lift "
            f"{100 * low:+.1f} to {100 * high:+.1f}).</p>"
        )
        parts.append(charts.interval(report["lift"], low, high))
    if any(report[name]["settled"] for name, _ in _ARMS):
        interval = f"{report['level']:.0%} interval"
        header = ("warnings", "settled", "failed", "failure rate", interval)
        parts.append(table("How the steps ended", header, [_arm(report, *arm) for arm in _ARMS]))
    notes = "".join(f"<li>{escaped(_sentence(note))}</li>" for note in report["notes"])
    parts.append(f"<ul>{notes}</ul>" if notes else "")
    return Section("worth", "Worth of the guard", "\n".join(parts))


def _empty(memory: Json) -> str:
    others = memory["others"]
    where = facts(_place(memory))
    if others and others["count"]:
        told = "Nothing is remembered in this namespace. Look into another one:"
        return where + paragraph(told) + command("driftguard report --namespace NAME")
    return (
        where
        + paragraph(
            "Nothing is remembered yet. Tell the memory how a step went, and write this page again:"
        )
        + command(
            'driftguard record "delete the temp directory" "build cache was wiped" '
            '"next build took 40 minutes"'
        )
        + paragraph("An agent does the same with guard.record(...); driftguard demo shows it.")
    )


def _place(memory: Json) -> Sequence[tuple[str, str]]:
    rows = [("lives in", memory["where"]), ("namespace", joined(memory["namespace"]))]
    others = memory["others"]
    if others and others["count"]:
        named = ", ".join(map(joined, others["names"]))
        more = others["count"] - len(others["names"])
        rows.append(("other namespaces", f"{named}{f' and {more:,} more' if more else ''}"))
    if memory["first_seen"]:
        span = f"{readable(memory['first_seen'])} to {readable(memory['last_seen'])}"
        rows.append(("observed", span))
    if memory["embedding_model"]:
        rows.append(("embedded with", memory["embedding_model"]))
    return rows


def _chain(kind: str, chain: Json, rank: int) -> str:
    trust = f"confidence {chain['confidence']:.2f}"
    marks = [
        f"<span>seen {plural(chain['frequency'], 'time')}</span>",
        f"<span>{trust} {gauge(chain['confidence'])}</span>",
        f"<span>last seen {moment(chain['last_seen'])}</span>",
    ]
    if kind == "mistakes":
        marks.append(f"<span>severity {escaped(chain['severity'])}</span>")
    if chain["retired"]:
        worked = plural(chain["successes_since"], "success", "successes")
        marks.insert(0, badge("good", f"no warning any more: {worked} since"))
    steps = facts(
        (("tried", chain["action"]), ("came back", chain["feedback"]), ("led to", chain["outcome"]))
    )
    return (
        f'<li class="card chain" data-rank="{rank}" data-confidence="{chain["confidence"]}" '
        f'data-seen="{escaped(chain["last_seen"])}">{steps}'
        f'<p class="marks">{" ".join(marks)}</p>{_other_wordings(chain)}</li>'
    )


def _other_wordings(chain: Json) -> str:
    if not chain["also"]:
        return ""
    said = "".join(f'<li dir="auto">{escaped(text)}</li>' for text in chain["also"])
    more = chain["wordings"] - 1 - len(chain["also"])
    rest = f"<li>and {plural(more, 'more wording')}</li>" if more else ""
    title = plural(chain["wordings"] - 1, "other wording")
    return f"<details><summary>{title} of the same step</summary><ul>{said}{rest}</ul></details>"


def _warning(warning: Json) -> str:
    kind, words = _ENDED[warning["arm"], warning["role"], warning["result"]]
    known, shown = warning["warned_of"] is not None, warning["arm"] == "shown"
    told = [
        (
            "warned of" if shown else "knew of",
            warning["warned_of"] if known else "a failure that is forgotten since",
        ),
        *((("failed with", warning["failed_with"]),) if known else ()),
        ("ran", warning["ran"]),
        ("came back", warning["came_back"]),
        *((("thread", warning["thread"]),) if warning["thread"] else ()),
    ]
    return (
        f'<li class="card"><p class="marks">{badge(kind, words)} <span>{moment(warning["at"])}'
        f"</span></p>{facts(told)}</li>"
    )


def _cards(items: Sequence[str]) -> str:
    return f'<ol class="cards">{"".join(items)}</ol>'


def _arm(report: Json, name: str, title: str) -> Sequence[str]:
    tally = report[name]
    rate = "-" if tally["rate"] is None else f"{tally['rate']:.1%}"
    ends = "-"
    if tally["interval"] is not None:
        low, high = tally["interval"]
        ends = f"{low:.1%} to {high:.1%}"
    return title, f"{tally['settled']:,}", f"{tally['failed']:,}", rate, ends


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:]
