"""What `driftguard import` says of what it read, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from driftguard_langgraph.cli.console import counted

if TYPE_CHECKING:
    from driftguard_langgraph.importers.drift_reports import PeerReport
    from driftguard_langgraph.importers.graph_episodes import Haul, Untold
    from driftguard_langgraph.importers.session_memories import Sessions

SHOWN = 5
"""Texts that are named; `--json` has them all."""

TEXT_CHARS = 60
"""Characters of a text that are shown."""


def kept_line(stored: int, duplicates: int) -> str:
    """Say what the memory took."""
    was = "was" if duplicates == 1 else "were"
    return f"{counted(stored, 'episode')} imported, {duplicates:,} {was} there already"


def runs_line(runs: int) -> str:
    """Say how many verdicts there are."""
    return "1 verdict about a run" if runs == 1 else f"{runs:,} verdicts about runs"


def sessions_line(found: Sessions) -> str:
    """Say what a session memory holds."""
    wordless = (
        f"; of {found.without_texts:,} the file keeps the score and no words"
        if found.without_texts
        else ""
    )
    return (
        f"{counted(found.sessions, 'session')} ({found.active:,} active) with "
        f"{counted(found.exchanges, 'exchange')} and {found.summaries:,} "
        f"{'summary' if found.summaries == 1 else 'summaries'}{wordless}"
    )


def report_line(report: PeerReport) -> str:
    """Say what a report of te-drift-detector says."""
    first = f", the first at turn {report.first_anomaly}" if report.first_anomaly else ""
    return (
        f"{_shown(report.name)}: te-drift-detector said {report.threat_level}, "
        f"{report.anomalies:,} of {counted(report.readings, 'reading')} anomalous{first}"
    )


def haul_lines(haul: Haul) -> Iterator[str]:
    """Say what a graph holds, what of it is refused, and what it cannot tell."""
    actions = len({episode.action.text for episode in haul.episodes})
    yield (
        f"{'failures' if haul.kind == 'mistake' else 'successes'} ({haul.graph.layout}): "
        f"{counted(len(haul.graph.nodes), 'node')} and {counted(len(haul.graph.edges), 'link')} "
        f"are {counted(len(haul.episodes), 'episode')} of {counted(actions, 'action')}"
    )
    for refused in haul.refused[:SHOWN]:
        chain = " -> ".join(map(_shown, refused.chain))
        yield f"  refused, {counted(refused.episodes, 'episode')}: {chain}: {refused.reason}"
    if len(haul.refused) > SHOWN:
        yield f"  refused: {len(haul.refused) - SHOWN:,} more chains (--json names them)"
    for line in _untold(haul.untold):
        yield f"  not told: {line}"


def _untold(untold: Untold) -> Iterator[str]:
    episodes = (
        (untold.dates, "the date of {}; it is known within bounds"),
        (untold.undated, "any date of {}; it is that of the file here"),
        (untold.outcome_of, "the outcome of {} whose feedback other actions share; in proportion"),
        (untold.outcomes, "the outcome of {}"),
        (untold.feedbacks, "the feedback of {}"),
    )
    if untold.wordings:
        yield f"the wording of {counted(untold.wordings, 'text')} before it was normalized"
    for count, what in episodes:
        if count:
            yield what.format(counted(count, "episode"))
    if untold.unclaimed:
        yield f"the action of {counted(untold.unclaimed, 'outcome')}; left out"
    if untold.unreached:
        shown = ", ".join(_shown(text) for text in untold.unreached[:SHOWN])
        more = ", ..." if len(untold.unreached) > SHOWN else ""
        total = counted(len(untold.unreached), "text")
        yield f"the action before {total}; left out: {shown}{more}"


def _shown(text: str) -> str:
    """Return a text from a file as something that a terminal can show without being steered."""
    short = text if len(text) <= TEXT_CHARS else f"{text[: TEXT_CHARS - 3]}..."
    return '"' + "".join(each if each.isprintable() else ascii(each)[1:-1] for each in short) + '"'
