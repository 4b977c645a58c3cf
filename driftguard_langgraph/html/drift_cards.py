"""Cards of drift: the report of a turn, of an exchange, of a session, and of a recovery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.html.cards import Fact, card, facts, folded, grid, line

Plain = Mapping[str, Any]


def report_card(report: Plain) -> str:
    """Return the card of what `DriftReport.to_dict` returned."""
    alarm = "ALARM" if report["alarm"] else "no alarm"
    return card(f"Turn {report['turn']}: {report['verdict']}, {alarm}", *_of_report(report))


def _of_report(report: Plain) -> list[str]:
    known: list[Fact] = [
        ("why", report["explanation"]),
        ("spoke", report["channel"]),
        ("score", _score(report)),
        ("corruption", _corruption(report)),
        ("patterns", ", ".join(report["signatures"])),
    ]
    components = [(name, f"{value:.2f}") for name, value in report["components"].items()]
    measured = f"Distance from the baseline: {report['absolute_drift']:.2f} of 1"
    return [
        facts(known),
        _anomalies("What is wrong", report["anomalies"]),
        _anomalies("What the user revised, with authority", report["revisions"]),
        folded("features", grid(measured, ("feature", "distance"), components)),
    ]


def _score(report: Plain) -> str:
    abstained = ", as before: this turn says nothing of it" if report.get("abstained") else ""
    return f"{report['score']:.0f} of 100, {report['verdict']}{abstained}"


def _corruption(report: Plain) -> str:
    return (
        f"{report['corruption']:.2f} of 1, threat level {report['threat_level']} "
        f"(at its worst {report['peak_level']})"
    )


def _anomalies(caption: str, those: list[Plain]) -> str:
    rows = [
        (
            each["rule"],
            each["said"]["text"],
            "-" if each["against"] is None else each["against"]["text"],
            f"turn {each['turn']}, {each['channel']}",
            f"{each['weight']:.2f}",
        )
        for each in those
    ]
    return grid(caption, ("rule", "said", "against", "where", "weight"), rows, words=4)


def turn_card(turn: Plain) -> str:
    """Return the card of what `TurnResult.to_dict` returned."""
    report = turn["drift"]
    known: list[Fact] = [("user", turn["user_message"]), ("assistant", turn["assistant_response"])]
    if report is None:
        return card("Exchange, not measured", facts(known))
    alarm = "ALARM" if report["alarm"] else "no alarm"
    return card(f"Exchange: {report['verdict']}, {alarm}", facts(known), *_of_report(report))


def session_card(session: Plain) -> str:
    """Return the card of what `SessionReport.to_dict` returned."""
    alarm = "ALARM" if session["alarm"] else "no alarm"
    return card(
        f"Session {session['session_number']}: {session['verdict']}, {alarm}",
        facts(
            [
                ("why", session["explanation"]),
                ("exchanges so far", str(session["total_turns"])),
                ("score", _score(session)),
                ("corruption", _corruption(session)),
                ("context", f"about {session['context_token_estimate']} tokens"),
            ]
        ),
    )


def recovery_card(verdict: Plain, explanation: str) -> str:
    """Return the card of one injection.

    Args:
        verdict: What `RecoveryVerdict.to_dict` returned.
        explanation: Its `explain()`.
    """
    rows = [_point(when, each) for when in ("before", "after") for each in verdict[when]]
    header = ("scaffold", "threat level", "turn", "score", "corruption")
    return card(
        f"Recovery: {verdict['outcome']}",
        line(explanation),
        folded("turn by turn", grid("Before and after it", header, rows, words=2)),
    )


def _point(when: str, point: Plain) -> tuple[str, ...]:
    numbers = (str(point["turn"]), f"{point['score']:.0f}", f"{point['corruption']:.2f}")
    return when, point["level"], *numbers
