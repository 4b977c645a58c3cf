"""What a failure blames: the names in its feedback that also stand in the action.

An error that quotes a column, a file, a flag or a command says which part of the step
failed. An action that still contains that part repeats the mistake however it is worded.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from driftguard_langgraph.judgement.lexicon import FUNCTION_WORDS
from driftguard_langgraph.types import Action

MAX_FEEDBACK_CHARS = 2000
"""Errors name their cause at the beginning; what follows are traces, help and listings."""

MAX_NAMES = 8
"""Feedback that seems to blame more parts than this lists things, it blames none."""

_ADVICE = re.compile(
    r"\b(?:similar|did you mean|maybe you meant|available|valid (?:options|values|choices)"
    r"|choose|must be one of|expected one of|usage|try|allowed values|instead use)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"[`'\"‘“\[]([^`'\"‘’“”\[\]\n]{2,80})[`'\"’”\]]")
_IDENTIFIER = re.compile(r"(?<![\w.-])(?=[\w.-]*[A-Za-z])(?=[\w.-]*[\d_])[\w.-]{3,60}(?![\w-])")


def blamed(action: Action, feedback: str) -> frozenset[str]:
    """Return the parts of an action that its feedback blames, folded to lower case.

    Args:
        action: What was tried.
        feedback: What came back.

    Returns:
        Names as they stand in the action. Empty when the feedback blames nothing that can
        be found there, or a whole argument: that is repeated only by the same value, which
        is seen without the feedback, and one word of it is not what was wrong.
    """
    return _blamed(
        action.text.lower(),
        (action.tool_name or "").lower(),
        tuple(value.strip().lower() for value in _values(action)),
        feedback[:MAX_FEEDBACK_CHARS].lower(),
    )


def contains(action: Action, parts: frozenset[str]) -> bool:
    """Whether an action contains all of the blamed parts."""
    text = action.text.lower()
    return bool(parts) and all(_stands_in(part, text) for part in parts)


def does_the_same(failed: Action, action: Action, parts: frozenset[str]) -> bool:
    """Whether an action does with the blamed part what failed; something else may be the cure.

    `mkdir x` cures `cd x: no such file`, and `push -u origin x` cures `x has no upstream`. A
    command that is itself blamed (`x: command not found`) is not cured by its surroundings.

    Args:
        failed: The action that failed.
        action: The one that contains the blamed parts as well.
        parts: What was blamed.
    """
    old, new = _command(failed), _command(action)
    if not old or not new or not parts.isdisjoint((old[0], *_after_pipes(new))):
        return True
    # The same command with nothing but a flag more is tried as the cure.
    only_a_flag_more = [word for word in new if not word.startswith("-") or word in old] == old
    return old[0] == new[0] and not (only_a_flag_more and len(new) > len(old))


def _command(action: Action) -> list[str]:
    values = [*_values(action)] if action.tool_args is not None else [action.text]
    longest = max(values, key=len, default="")
    return longest.lower().split()


def _after_pipes(words: list[str]) -> Iterator[str]:
    for before, word in zip(["|", *words], words, strict=False):
        if before in ("|", "&&", ";"):
            yield word


def _values(action: Action) -> Iterator[str]:
    for value in (action.tool_args or {}).values():
        if isinstance(value, str):
            yield value


@functools.lru_cache(maxsize=8192)
def _blamed(text: str, tool_name: str, values: tuple[str, ...], feedback: str) -> frozenset[str]:
    found = set()
    for name in _named(_ADVICE.sub("", feedback)):
        part = next((part for part in _spellings(name) if _stands_in(part, text)), None)
        if part is not None and part != tool_name and part not in FUNCTION_WORDS:
            found.add(part)
    if len(found) > MAX_NAMES or not found.isdisjoint(values):
        return frozenset()
    return frozenset(found)


def _named(feedback: str) -> Iterator[str]:
    """Yield what feedback names: quoted, identifiers, and what stands by the message.

    Tools say `speaker: thing: message` or `message: thing`. The speaker is not blamed; the
    shell's `thing: command not found` has no other.
    """
    yield from (match.group(1).strip() for match in _QUOTED.finditer(feedback))
    yield from (match.group() for match in _IDENTIFIER.finditer(feedback))
    for line in feedback.splitlines():
        segments = [segment.strip() for segment in line.split(": ")]
        for place, segment in enumerate(segments[:-1]):
            following = segments[place + 1]
            thing = " " not in segment and " " in following
            if thing and (place or following.startswith(("command not found", "not found"))):
                yield segment
        if len(segments) > 1 and " " in segments[-2] and " " not in segments[-1]:
            yield segments[-1]


def _spellings(name: str) -> Iterator[str]:
    if len(name) > 1:
        yield name
        qualified, dot, last = name.rpartition(".")
        if dot and qualified and len(last) > 1:
            yield last


def _stands_in(part: str, text: str) -> bool:
    start = text.find(part)
    while start >= 0:
        end = start + len(part)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (_joins(before, part[0]) or _joins(after, part[-1])):
            return True
        start = text.find(part, start + 1)
    return False


def _joins(neighbour: str, edge: str) -> bool:
    """Whether the character beside a find makes it part of a longer word."""
    return neighbour.isalnum() or neighbour == "_" or (neighbour in ("-", "/") and edge.isalnum())
