"""One step of a recorded run, whatever format it was read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TEXT_TOOL = "(text)"
"""Name under which steps that are plain words, not tool calls, are counted."""

NO_FEEDBACK = "failed"
"""What is recorded as feedback when the trace holds no observation."""


@dataclass(frozen=True, slots=True)
class Step:
    """What was tried, what came back, and whether that was a failure.

    Attributes:
        where: File and line (or entry) it was read from, for messages.
        stream: Whose memory it belongs to; steps of one stream remember each other.
        tool: Name of the tool, or `TEXT_TOOL`.
        action: What the guard is asked about: words, or `{"name", "args"}`.
        feedback: The observation; `NO_FEEDBACK` when there was none.
        failed: Whether the step failed.
        source: Where the trace comes from, when the file says so.
        repeats: The label "repeats an earlier failure of its stream"; None without labels.
        repeat_kind: The label's kind of repetition, for example `exact`.
        ambiguous: The label "the same action failed earlier and works now".
        words: The action in the words of the trace, when it has a tool call and words.
    """

    where: str
    stream: str
    tool: str
    action: str | dict[str, Any]
    feedback: str
    failed: bool
    source: str | None = None
    repeats: bool | None = None
    repeat_kind: str | None = None
    ambiguous: bool = False
    words: str | None = None


Batch = tuple[Step, ...]
"""Steps that were proposed at once: all are reviewed before any of them is recorded."""


def as_feedback(output: str) -> str:
    """Return what a tool printed, or `NO_FEEDBACK` if that was nothing.

    Args:
        output: The observation as recorded.
    """
    return output if output.strip() else NO_FEEDBACK
