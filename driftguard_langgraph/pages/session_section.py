"""The section about conversations: how each kept to its purpose, and what went against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from driftguard_langgraph.drift.report import EFFECTIVE_FROM
from driftguard_langgraph.html.page import Section, table
from driftguard_langgraph.html.text import escaped
from driftguard_langgraph.pages.charts import Charts, curve_in_words
from driftguard_langgraph.pages.parts import badge, command, facts, paragraph, plural

Json = Mapping[str, Any]

DRAWN = 25
"""Conversations that are shown in full, those that went worst; the others are rows of a table."""

_VERDICTS = {"FRESH": "good", "MILD": "good", "MODERATE": "doubt"}


def drift(sessions: Sequence[Json], charts: Charts) -> Section:
    """Return the section."""
    title = "Drift of conversations"
    if not sessions:
        body = paragraph(
            "No conversation was given. Name recorded logs, or the .session_memory of a tracker:"
        ) + command("driftguard report --session chat.jsonl --session .session_memory --force")
        return Section("drift", title, body)
    worst = sorted(range(len(sessions)), key=lambda place: _badness(sessions[place]))[:DRAWN]
    parts = []
    if len(sessions) > 1:
        header = ("conversation", "verdict", "alarm", "turns", "score", "lowest")
        rows = [_row(session) for session in sessions]
        parts.append(table(f"{len(sessions):,} conversations", header, rows, words=3))
    if len(sessions) > DRAWN:
        parts.append(paragraph(f"The {DRAWN} that went worst in full:", soft=True))
    parts += [_session(sessions[place], charts) for place in sorted(worst)]
    return Section("drift", title, "\n".join(parts))


def _badness(session: Json) -> tuple[bool, float]:
    lowest = session["lowest_score"]
    return not session["alarms"], 100.0 if lowest is None else lowest


def _row(session: Json) -> Sequence[str]:
    alarms = session["alarms"]
    alarm = f"{session['unit']} {alarms[0]['from']}" if alarms else "none"
    if session["kind"] == "session_memory":
        alarm = "not measured"
    return (
        session["name"],
        session["verdict"] or "-",
        alarm,
        f"{session['turns']:,}",
        _number(session["score"]),
        _number(session["lowest_score"]),
    )


def _session(session: Json, charts: Charts) -> str:
    name = f"<h3><bdi>{escaped(session['name'])}</bdi></h3>"
    if not session["scores"]:
        told = "No turn of it was scored, so there is no curve."
        return f'<article class="card">{name}{paragraph(told)}{_story(session)}</article>'
    verdict = session["verdict"]
    marks = [badge(_VERDICTS.get(verdict, "bad"), f"{verdict}, score {_number(session['score'])}")]
    if session["kind"] == "log":
        marks.append(_threat(session))
    marks.append(f"<span>{plural(session['turns'], session['unit'])}</span>")
    return (
        f'<article class="card">{name}<p class="marks">{" ".join(marks)}</p>'
        f"{charts.drift(session)}"
        f"{_story(session)}{_anomalies(session)}</article>"
    )


def _threat(session: Json) -> str:
    now, peak = session["threat_level"], session["peak_level"]
    told = f"threat {now}" + ("" if now == peak else f", at its worst {peak}")
    grave = peak in {"HIGH", "CRITICAL"}
    return badge("bad" if grave else "doubt" if peak == "MEDIUM" else "good", told)


def _story(session: Json) -> str:
    """Say where a conversation left its purpose, where it came back, and what explains it."""
    unit = session["unit"]
    told = [("score", curve_in_words(session))] if session["scores"] else []
    told += [
        ("alarm", f"raised at {unit} {span['from']}, {_end(unit, span, 'not over')}")
        for span in session["alarms"]
    ]
    told += [
        (
            f"under {EFFECTIVE_FROM:.0f}",
            f"from {unit} {span['from']}, {_end(unit, span, 'not recovered', 'back')}",
        )
        for span in session["below"]
    ]
    if session["explanation"]:
        told.append(("at its worst", session["explanation"]))
    if session.get("summary"):
        told.append(("summary", session["summary"]))
    left_out = session["left_out"]
    if left_out:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
        told.append(("left out", reasons))
    return facts(told) if told else ""


def _end(unit: str, span: Mapping[str, int | None], never: str, back: str = "over") -> str:
    return never if span["over"] is None else f"{back} at {unit} {span['over']}"


def _anomalies(session: Json) -> str:
    found = session["anomalies"]
    if not found:
        return ""
    items = "".join(_anomaly(each) for each in found)
    more = session["anomaly_count"] - len(found)
    rest = paragraph(f"{plural(more, 'lighter one')} not quoted.", soft=True) if more else ""
    title = "The gravest anomalies" if more else "What went against it"
    return (
        f"<details><summary>{title}: {len(found)} quoted</summary>"
        f'<ol class="quotes">{items}</ol>{rest}</details>'
    )


def _anomaly(anomaly: Json) -> str:
    against = anomaly["against"]
    said = f'<blockquote dir="auto">{escaped(anomaly["said"])}</blockquote>'
    if against is not None:
        said += f'<p class="soft">against</p><blockquote dir="auto">{escaped(against)}</blockquote>'
    rule = escaped(anomaly["rule"].replace("_", " "))
    return (
        f"<li><strong>{rule}</strong> <span class='soft'>turn {anomaly['turn']}, "
        f"{escaped(anomaly['who'])}, weight {anomaly['weight']:.2f}</span>{said}</li>"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
