"""The pictures of the page: drawn in SVG that stretches, with their words beside them in HTML.

What a picture shows is said in its description, so that it can be read without being seen. No
colour carries a meaning alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from driftguard_langgraph.drift.report import DriftVerdict, verdict_of
from driftguard_langgraph.html.text import escaped

WIDTH, HEIGHT = 1000, 100
"""Of the drawing; a score is a height."""

_GAP = 0.2
"""Share of a bar that is left free."""


class Charts:
    """Makes pictures, each with ids of its own."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def growth(self, growth: Mapping[str, Any]) -> str:
        """Return episodes by day as bars: mistakes below, successes on top."""
        bars = growth["bars"]
        most = max(bar["mistakes"] + bar["successes"] for bar in bars)
        unit = "day" if growth["days"] == 1 else f"{growth['days']} days"
        total = sum(bar["mistakes"] + bar["successes"] for bar in bars)
        drawn = "".join(_bar(place, bar, len(bars), most) for place, bar in enumerate(bars))
        told = (
            f"{total:,} episodes from {bars[0]['from']} to {bars[-1]['from']}, "
            f"at most {most:,} in one {unit}."
        )
        return self._figure(
            f"Episodes per {unit}",
            told,
            drawn,
            ticks=(("at100", f"{most:,}"), ("at0", "0")),
            ends=(bars[0]["from"], bars[-1]["from"] if len(bars) > 1 else ""),
            legend=(("key mistake", "mistakes"), ("key success", "successes")),
        )

    def drift(self, session: Mapping[str, Any]) -> str:
        """Return the score of a conversation turn by turn, with bands, alarms and corruption."""
        scores, unit = session["scores"], session["unit"]
        corruption = session.get("corruption", ())
        first, last = session["first_turn"], session["last_turn"]
        drawn = [_band(verdict) for verdict in DriftVerdict]
        drawn += [_alarm(span, first, last) for span in session["alarms"]]
        drawn.append(_line("score", scores, 100))
        if any(corruption):
            drawn.append(_line("corruption", corruption, 1))
        legend = [("key score", "score, 0 to 100")]
        if any(corruption):
            legend.append(("key corruption", "corruption, 0 to 1"))
        if session["alarms"]:
            legend.append(("key alarm", "alarm"))
        return self._figure(
            f"Score by {unit}",
            curve_in_words(session),
            "".join(drawn),
            ticks=[(f"at{edge}", str(edge)) for edge in (100, 90, 75, 55, 35, 0)],
            ends=(f"{unit} {first}", f"{unit} {last}" if last != first else ""),
            legend=legend,
        )

    def interval(self, lift: float, low: float, high: float) -> str:
        """Return a lift with its interval on a scale from -1 to 1."""
        x, left, right = (WIDTH * (value + 1) / 2 for value in (lift, low, high))
        drawn = (
            f'<line class="zero" x1="{WIDTH / 2}" x2="{WIDTH / 2}" y1="0" y2="{HEIGHT}"/>'
            f'<rect class="interval" x="{left:.1f}" y="35" width="{max(right - left, 2):.1f}" '
            f'height="30"/><rect class="point" x="{x - 3:.1f}" y="15" width="6" height="70"/>'
        )
        told = f"{100 * lift:+.1f} points; the interval is {100 * low:+.1f} to {100 * high:+.1f}."
        return self._figure(
            "Lift: points fewer failures where warned",
            told,
            drawn,
            kind="scale",
            ends=("-100", "0", "+100"),
        )

    def _figure(
        self,
        title: str,
        told: str,
        drawn: str,
        *,
        kind: str = "plot",
        ticks: Sequence[tuple[str, str]] = (),
        ends: Sequence[str] = (),
        legend: Sequence[tuple[str, str]] = (),
    ) -> str:
        name = f"chart-{next(self._numbers)}"
        marks, keys = _spans(ticks), _spans(legend, " ")
        below = "".join(f"<span>{escaped(end)}</span>" for end in ends)
        scale = f'<div class="ticks" aria-hidden="true">{marks}</div>' if ticks else ""
        return (
            f'<figure class="{kind}"><figcaption>{escaped(title)} '
            f'<span class="keys">{keys}</span></figcaption>'
            f'<div class="frame">{scale}<svg role="img" aria-labelledby="{name}-t {name}-d" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none">'
            f'<title id="{name}-t">{escaped(title)}</title>'
            f'<desc id="{name}-d">{escaped(told)}</desc>{drawn}</svg>'
            f'<div class="ends" aria-hidden="true">{below}</div></div></figure>'
        )


def _spans(classed: Sequence[tuple[str, str]], between: str = "") -> str:
    return between.join(f'<span class="{name}">{escaped(words)}</span>' for name, words in classed)


def curve_in_words(session: Mapping[str, Any]) -> str:
    """Say in a sentence how the score of a conversation went."""
    scores, unit = session["scores"], session["unit"]
    return (
        f"{scores[0]:g} at {unit} {session['first_turn']}, {scores[-1]:g} at {unit} "
        f"{session['last_turn']}, lowest {session['lowest_score']:g}"
    )


def gauge(share: float) -> str:
    """Return a share from 0 to 1 as a bar; the figure stands beside it."""
    width = round(100 * min(max(share, 0.0), 1.0), 1)
    return (
        '<svg class="gauge" aria-hidden="true" viewBox="0 0 100 6" preserveAspectRatio="none">'
        f'<rect class="whole" width="100" height="6"/><rect class="part" width="{width}" '
        'height="6"/></svg>'
    )


def _bar(place: int, bar: Mapping[str, Any], bars: int, most: int) -> str:
    step = WIDTH / bars
    x, width = place * step + step * _GAP / 2, step * (1 - _GAP)
    failed, worked = (HEIGHT * bar[name] / most for name in ("mistakes", "successes"))
    parts = (("mistake", HEIGHT - failed, failed), ("success", HEIGHT - failed - worked, worked))
    return "".join(
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
        for kind, y, height in parts
        if height
    )


def _band(verdict: DriftVerdict) -> str:
    inside = [score for score in range(100) if verdict_of(score) is verdict]
    top, height = HEIGHT - inside[-1] - 1, len(inside)
    return f'<rect class="band {verdict.lower()}" width="{WIDTH}" y="{top}" height="{height}"/>'


def _alarm(span: Mapping[str, int | None], first: int, last: int) -> str:
    begin, over = span["from"], span["over"]
    length = max(last - first, 1)
    left = WIDTH * ((begin or first) - first) / length
    right = WIDTH if over is None else WIDTH * (over - first) / length
    return (
        f'<rect class="alarm" x="{left:.1f}" y="0" width="{max(right - left, 4):.1f}" '
        f'height="{HEIGHT}"/>'
    )


def _line(kind: str, values: Sequence[float], top: float) -> str:
    # One value is drawn as a level line: a point of no length cannot be seen.
    drawn = [*values, values[0]] if len(values) == 1 else values
    step = WIDTH / (len(drawn) - 1)
    points = " ".join(
        f"{place * step:.1f},{HEIGHT - HEIGHT * value / top:.1f}"
        for place, value in enumerate(drawn)
    )
    return f'<polyline class="{kind}" points="{points}"/>'
