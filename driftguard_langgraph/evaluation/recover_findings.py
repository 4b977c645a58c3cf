"""How far the scaffold for a recorded conversation can be relied on, and why not further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from driftguard_langgraph.drift.reading.smalltalk import is_content_free
from driftguard_langgraph.drift.report import Anomaly, DriftReport
from driftguard_langgraph.drift.turns import Channel
from driftguard_langgraph.evaluation.recover_opening import Opening, channel_of
from driftguard_langgraph.evaluation.session_formats.base import BROKEN, Message
from driftguard_langgraph.evaluation.sessions import ParseStats
from driftguard_langgraph.recovery.anchor import Anchor

Status = Literal["pass", "warn", "unknown", "fail"]
"""How far a scaffold can be relied on, the best first: `unknown` where what matters could not be
told, `fail` where there is no scaffold."""

STATUSES: tuple[Status, ...] = ("pass", "warn", "unknown", "fail")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to know about a scaffold.

    Attributes:
        status: How far the scaffold can be relied on because of it.
        name: What it is.
        detail: One sentence for a reader.
    """

    status: Status
    name: str
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {"status": self.status, "name": self.name, "detail": self.detail}


def about_opening(
    opening: Opening, messages: Sequence[Message], *, suspect: bool
) -> Iterator[Finding]:
    """Yield what is uncertain about the beginning of a conversation.

    Args:
        opening: How it begins.
        messages: The conversation.
        suspect: Whether the user's first message works against the system prompt.
    """
    first = channel_of(messages[0])
    if not opening.told:
        detail = "no system prompt: what the user asked first is all that is restored (--baseline)."
        yield Finding("warn", "no_system_prompt", detail)
    if first not in {Channel.SCAFFOLD, Channel.USER}:
        detail = f"the first message is the {first.value}'s, so something before it is missing."
        yield Finding("warn", "ambiguous_first_turn", detail)
    if suspect:
        detail = "the user's first message works against the system prompt and is left out."
        yield Finding("warn", "ambiguous_first_turn", detail)
    elif opening.user is not None and is_content_free(opening.user.text):
        detail = "the user's first message only greets: the goal may stand in a later one."
        yield Finding("warn", "ambiguous_first_turn", detail)
    if len(opening.told) > 1:
        detail = (
            f"{len(opening.told)} system messages stand at the start and are all trusted; if one "
            "of them is a summary, give the prompt with --baseline."
        )
        yield Finding("warn", "several_system_messages", detail)


def about_reading(stats: ParseStats) -> Iterator[Finding]:
    """Yield what of a file could not be read."""
    broken = stats.skipped.get(BROKEN, 0)
    if broken:
        what = "line is" if broken == 1 else "lines are"
        yield Finding("warn", "unparseable_lines", f"{broken} {what} no JSON and left out.")


def about_anchor(anchor: Anchor) -> Iterator[Finding]:
    """Yield what an anchor lacks."""
    if not anchor.constraints and not anchor.limits:
        detail = "no rule was found in what the session was told, so none can be restored."
        yield Finding("unknown", "no_constraint", detail)


def about_drift(reports: Sequence[DriftReport], evidence: Sequence[Anomaly]) -> Iterator[Finding]:
    """Yield that nothing drifted, or that it cannot be told.

    Args:
        reports: On the turns that were measured.
        evidence: What drifted.
    """
    if not reports:
        yield Finding("unknown", "nothing_measured", "there is no turn after the baseline.")
    elif not evidence:
        yield Finding("pass", "nothing_drifted", "no message works against the baseline.")
