"""What a coding assistant's program writes into its user's turns, told from the user's words."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict

from driftguard_langgraph.evaluation.session_formats.base import EMPTY, INJECTED, INTERRUPTED

_OPENING = re.compile(r"<([a-z][a-z0-9_-]{1,40})>")
_CLOSING = re.compile(r"</([a-z][a-z0-9_-]{1,40})>")
_NAMES = frozenset({"system-reminder", "task-notification", "user-prompt-submit-hook"})
_PREFIXES = ("local-command-", "bash-", "ide_", "command-")
_INTERRUPT = "[Request interrupted by user"
_LEADING_TAG = re.compile(r"\s*<[a-z]+(?:_[a-z]+)+>")


def users_words(text: str) -> tuple[str, str | None]:
    """Return what the user of Claude Code has typed, and why nothing is left if that is so.

    Sections in the program's tags (`system-reminder`, `task-notification`, `local-command-*`,
    `bash-*`, `ide_*`) are cut out; a slash command becomes its line.

    Args:
        text: Content of a record of the type `user`.
    """
    if not text.strip():
        return "", EMPTY
    if text.lstrip().startswith(_INTERRUPT):
        return "", INTERRUPTED
    kept, sections = _cut(text)
    command = f"{sections['command-name']} {sections['command-args']}".strip()
    words = "\n".join(filter(None, (command, kept.strip())))
    return words, None if words else INJECTED


def is_tagged(text: str) -> bool:
    """Whether a text begins with a tag in snake case, as Codex marks what it adds itself."""
    return _LEADING_TAG.match(text) is not None


def _cut(text: str) -> tuple[str, defaultdict[str, str]]:
    """Return the text without the program's sections, and these; linear in its length."""
    ends: defaultdict[str, list[int]] = defaultdict(list)
    for closing in _CLOSING.finditer(text):
        ends[closing[1]].append(closing.start())
    kept, at = [], 0
    sections: defaultdict[str, str] = defaultdict(str)
    for opening in _OPENING.finditer(text):
        name = opening[1]
        if opening.start() < at or not (name in _NAMES or name.startswith(_PREFIXES)):
            continue
        end = bisect_left(ends[name], opening.end())
        if end < len(ends[name]):
            stop = ends[name][end]
            kept.append(text[at : opening.start()])
            sections[name] = text[opening.end() : stop].strip()
            at = stop + len(name) + 3
    return "".join([*kept, text[at:]]), sections
