"""Whether an agent gets anywhere: the same call with the same result, again and again. Pure.

A call repeats when it is made with equal arguments and answered equally, and nothing new has
happened since. Anything new starts the count again: another result (a poll that moves), another
call or other arguments (paging, batch work, an edit before the tests are run again). A write that
was made before and answered as before is nothing new, so that going round in circles is found
whatever the length of the circle, up to `MAX_CALLS`.

Equal means: for arguments, without regard to the order of keys, to `1` or `1.0`, and to spaces
around and within a line; for answers, without what differs each time (`_VOLATILE`): times of day
to the second, UUIDs, ids of requests, durations and memory addresses. An answer that is nothing
else, a clock's, is compared as it is. Dates and times of day to the minute are content.

An answer that says to wait (`status: pending`) is what somebody who polls expects to see more than
once: such a call may be repeated `PATIENCE` times as often. A tool that acts and always answers
the same (`click`, `sleep`) cannot be told from one that gets nowhere: let it answer what changed,
or leave it out of the count.

What is kept is plain JSON, digests and counts only, and bounded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from driftguard_langgraph.text.actions import render_tool_call

MAX_CALLS = 64
"""Distinct calls whose last result is kept, the newest."""

PATIENCE = 4
"""How many times as often a call may be repeated whose answer says to wait."""

MAX_COMPARED = 20_000
"""Characters of an answer that are searched for what differs each time; the rest counts as is."""

MAX_WAITING = 500
"""Characters at the start of an answer in which it can say to wait."""

Progress = dict[str, list[Any]]
"""By the digest of a call: digest of its last result, how often in a row, whether it waits."""

# Each begins with one kind of character, so that a search passes over a text quickly.
_VOLATILE = tuple(
    re.compile(pattern, re.VERBOSE)
    for pattern in (
        r"""
          \d (?<!\d\d) \d{3}-\d\d-\d\d [T\ ] \d\d:\d\d:\d\d (?:[.,]\d+)?
          (?:\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?
        | \d (?<!\d\d) \d?\ [A-Z][a-z]{2}\ \d{4}\ \d\d:\d\d:\d\d (?:\ (?:GMT|UTC))?
        | \d (?<![\d:]\d) \d:\d\d:\d\d (?:[.,]\d+)? (?![\d:])
        | \d (?:(?<=\bin\ \d)|(?<=\bafter\ \d)|(?<=\bwithin\ \d)) \d* (?:\.\d+)? \s?
          (?:[mnuµ]s|s|secs?|seconds?|msecs?|milliseconds?) \b
        """,
        r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b",
        r"0x[0-9a-fA-F]{6,}\b",
        r"req(?:uest)?_[0-9A-Za-z]{8,}\b",
    )
)
_KEYS = ("quest", "trace", "span", "correlation", "time", "elapsed", "duration", "latency", "took")
_KEYED = re.compile(
    r"""
      (?P<key> \b(?:(?:request|trace|span|correlation)[\s_-]?id|timestamp|date_?time|elapsed
        | duration|latency|took)(?:_?(?:ms|s|seconds))? ["']?\s*[:=]?\s*["']? )
      [\w.+:-]*\d[\w.+:-]*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WAITS = (
    r"pending|queued|running|in[ _-]progress|processing|waiting|scheduled|starting|building"
    r"|provisioning|submitted"
)
_WAIT_STEMS = ("pend", "queue", "ing", "progress", "schedule", "submit", "not ")
_WAITING = re.compile(
    rf"""
      \b(?:status|state|phase) ["']?\s*[:=]\s*["']? (?:{_WAITS}) \b
    | \b(?:still|currently)\s(?:{_WAITS}) \b
    | \bnot\s(?:yet\s)?(?:ready|finished|done|completed?)(?:\syet)? \b
    | \A\W* (?:{_WAITS}) \W*\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)


def observed(kept: Mapping[str, Any] | None, name: str, args: object, result: str) -> Progress:
    """Return what is known after one more call was answered.

    Args:
        kept: What was known before, from here; None for nothing.
        name: Name of the tool.
        args: Its arguments.
        result: The text of its answer.
    """
    calls: Progress = {key: list(value) for key, value in (kept or {}).items()}
    call, answer = call_digest(name, args), _digest(_lasting(result))
    last, times, _ = calls.pop(call, (None, 0, 0))
    if last != answer:
        calls, times = restarted(calls), 0
    calls[call] = [answer, times + 1, int(_says_to_wait(result))]
    return dict(list(calls.items())[-MAX_CALLS:])


def repeats(kept: Mapping[str, Any] | None, name: str, args: object) -> int:
    """Return how often a call was answered with the same result without anything new.

    After n equal answers it is n: so many repetitions it would be to make the call once more.

    Args:
        kept: What is known.
        name: Name of the tool.
        args: The arguments of the proposed call.
    """
    found = (kept or {}).get(call_digest(name, args))
    return int(found[1]) if found else 0


def allowed(kept: Mapping[str, Any] | None, name: str, args: object, limit: int) -> int:
    """Return how often a call may have the same result: more often while it says to wait.

    Args:
        kept: What is known.
        name: Name of the tool.
        args: The arguments of the proposed call.
        limit: How often any other call may.
    """
    found = (kept or {}).get(call_digest(name, args))
    return limit * PATIENCE if found and found[2] else limit


def call_digest(name: str, args: object) -> str:
    """Return what calls have in common that are counted as one.

    Args:
        name: Name of the tool.
        args: Its arguments.
    """
    spaced = _spaced(args)
    try:
        return _digest(render_tool_call(name, spaced))
    except (TypeError, AttributeError, ValueError, RecursionError):
        return _digest(f"{name} {args!r}")


def restarted(kept: Mapping[str, Any] | None) -> Progress:
    """Return what is known after something new came: a user spoke, a result was another one.

    Args:
        kept: What was known before.
    """
    return {key: [answer, 0, waits] for key, (answer, _, waits) in (kept or {}).items()}


def _lasting(result: str) -> str:
    masked = result[:MAX_COMPARED]
    for pattern in _VOLATILE:
        masked = pattern.sub("~", masked)
    lowered = masked.lower()
    if any(key in lowered for key in _KEYS):
        masked = _KEYED.sub(r"\g<key>~", masked)
    if not any(map(str.isalnum, masked)):
        return result.strip()
    return " ".join((masked + result[MAX_COMPARED:]).split())


def _says_to_wait(result: str) -> bool:
    start = result[:MAX_WAITING]
    lowered = start.lower()
    return any(word in lowered for word in _WAIT_STEMS) and _WAITING.search(start) is not None


def _spaced(value: Any) -> Any:
    """Return a value with even spacing; what has several lines keeps it, it may be code."""
    if isinstance(value, str):
        text = value.strip()
        return text if "\n" in text else " ".join(text.split())
    if isinstance(value, Mapping):
        return {key: _spaced(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_spaced(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
