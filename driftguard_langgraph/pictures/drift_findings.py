"""What the reports of a session say, in words: the alarms, the lowest score, the injections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from driftguard_langgraph.drift.report import DriftReport, DriftVerdict
from driftguard_langgraph.errors import ConfigurationError
from driftguard_langgraph.recovery.verdict import RecoveryVerdict

DOT = " \N{MIDDLE DOT} "


@dataclass(frozen=True, slots=True)
class Injection:
    """A scaffold that was injected.

    Attributes:
        turn: After which turn.
        name: What it is called.
        outcome: What became of it, if that is known.
        recovered_at: The turn at which the session was back, if it is.
    """

    turn: int
    name: str = "scaffold"
    outcome: str | None = None
    recovered_at: int | None = None


@dataclass(frozen=True, slots=True)
class Alarm:
    """One time that the alarm stood.

    Attributes:
        start: First turn of it.
        last: Last turn of it.
        over: The first turn without it; None if it still stands.
    """

    start: int
    last: int
    over: int | None


def reports_of(given: Iterable[DriftReport | Mapping[str, object]]) -> list[DriftReport]:
    """Return the reports of a session by turn, each turn once.

    Args:
        given: Reports, or what their `to_dict` returned.

    Raises:
        ConfigurationError: Something is no report.
    """
    by_turn: dict[int, DriftReport] = {}
    for each in given:
        if not isinstance(each, DriftReport | Mapping):
            raise ConfigurationError(f"{type(each).__name__} is no DriftReport, nor its dict.")
        report = each if isinstance(each, DriftReport) else DriftReport.from_dict(each)
        if report.turn > 0:
            by_turn[report.turn] = report
    return [by_turn[turn] for turn in sorted(by_turn)]


def injections_of(
    given: Iterable[int | RecoveryVerdict | Mapping[str, object]],
) -> list[Injection]:
    """Return the injections, in order.

    Args:
        given: Turns, or verdicts about injections, or what their `to_dict` returned.

    Raises:
        ConfigurationError: Something is neither.
    """
    return sorted(map(_injection, given), key=lambda injection: injection.turn)


def _injection(given: int | RecoveryVerdict | Mapping[str, object]) -> Injection:
    if isinstance(given, int) and not isinstance(given, bool):
        return Injection(given)
    if isinstance(given, Mapping):
        given = RecoveryVerdict.from_dict(given)
    if not isinstance(given, RecoveryVerdict):
        raise ConfigurationError(
            f"injections holds {given!r}: give turns, RecoveryVerdicts, or their dicts."
        )
    name = f"{given.variant} scaffold"
    return Injection(given.injected_at, name, given.outcome, given.recovered_at)


def alarms_of(reports: Sequence[DriftReport]) -> list[Alarm]:
    """Return the times that the alarm stood."""
    found: list[Alarm] = []
    start: int | None = None
    last = 0
    for report in reports:
        if report.alarm:
            start, last = report.turn if start is None else start, report.turn
        elif start is not None:
            found.append(Alarm(start, last, report.turn))
            start = None
    return found if start is None else [*found, Alarm(start, last, None)]


def title_of(reports: Sequence[DriftReport]) -> str:
    """Return the finding: when the alarm was raised, and whether it is over."""
    alarms, last = alarms_of(reports), reports[-1].turn
    if not alarms:
        return f"No alarm in {_counted(len(reports), 'turn')}{_topic(reports)}"
    first, newest = alarms[0], alarms[-1]
    begin = f"Alarm at turn {first.start}"
    if len(alarms) > 1:
        begin = f"{len(alarms)} alarms, the first at turn {first.start}"
    if newest.over is not None:
        return f"{begin}, over at turn {newest.over}{_topic(reports)}"
    standing = "" if newest.start == last else f", still standing at turn {last}"
    return f"{begin}{standing}{_topic(reports)}"


def _topic(reports: Sequence[DriftReport]) -> str:
    lowest = min(reports, key=lambda report: report.score)
    if lowest.verdict is DriftVerdict.FRESH:
        return "; the topic stays FRESH"
    back = next(
        (
            report.turn
            for report in reports
            if report.turn > lowest.turn and report.verdict is DriftVerdict.FRESH
        ),
        None,
    )
    end = "" if back is None else f", FRESH again at turn {back}"
    return f"; {lowest.verdict.value} at turn {lowest.turn}{end}"


def summary_of(reports: Sequence[DriftReport], injections: Sequence[Injection]) -> str:
    """Return what is to be said beside the finding."""
    parts = [f"{_counted(len(reports), 'turn')} measured"]
    peak = max(reports, key=lambda report: report.corruption)
    if peak.corruption > 0:
        parts.append(f"corruption up to {peak.corruption:.2f} (turn {peak.turn})")
    parts += [_became(injection) for injection in injections]
    return DOT.join(parts)


def _became(injection: Injection) -> str:
    if injection.recovered_at is not None:
        turns = _counted(injection.recovered_at - injection.turn, "turn")
        ended = "recovered" if injection.outcome == "recovered" else f"{injection.outcome} later"
        return f"{injection.name} at turn {injection.turn}: {ended} after {turns}"
    return f"{injection.name} at turn {injection.turn}" + (
        f": {injection.outcome}" if injection.outcome else ""
    )


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
