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
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

from driftguard_langgraph.text.actions import render_tool_call

MAX_CALLS = 64
"""Distinct calls whose last result is kept, the newest."""

PATIENCE = 4
"""How many times as often a call may be repeated whose answer says to wait."""

MAX_COMPARED = 20_000
"""Characters of an answer that are searched for what differs each time; the rest counts as is."""

MAX_WAITING = 500
"""Characters at the start of an answer in which it can say to wait."""

MAX_REMEMBERED = 8192
"""Digests of calls, and of answers, that a process remembers (about 2 MB)."""

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")

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


class Count:
    """What repeats in a thread, while its messages are read one after the other.

    Args:
        kept: What was known before, from `kept`; None for nothing.
    """

    def __init__(self, kept: Mapping[str, Any] | None = None) -> None:
        self._calls = {call: (0, *found) for call, found in (kept or {}).items()}
        self._age = 0

    def observe(self, name: str, args: object, result: str) -> None:
        """Take in that one more call was answered.

        Args:
            name: Name of the tool.
            args: Its arguments.
            result: The text of its answer.
        """
        call, (answer, waits) = call_digest(name, args), _answer(result)
        age, last, times, _ = self._calls.pop(call, (-1, None, 0, 0))
        if last != answer:
            self.restart()
        times = times if age == self._age else 0
        self._calls[call] = (self._age, answer, times + 1, waits)
        if len(self._calls) > MAX_CALLS:
            del self._calls[next(iter(self._calls))]

    def restart(self) -> None:
        """Take in that something new came: a user spoke, a result was another one."""
        self._age += 1

    def kept(self) -> Progress:
        """Return what is known now, plain JSON."""
        return {
            call: [answer, times if age == self._age else 0, waits]
            for call, (age, answer, times, waits) in self._calls.items()
        }


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
    written = repr(args)
    return _calls.get((name, *_name(written)), lambda: _call_digest(name, args, written))


def _call_digest(name: str, args: object, written: str) -> str:
    try:
        return _digest(render_tool_call(name, _spaced(args)))
    except (TypeError, AttributeError, ValueError, RecursionError):
        return _digest(f"{name} {written}")


def _answer(result: str) -> tuple[str, int]:
    """Return the digest of an answer, and whether it says to wait."""
    return _answers.get(_name(result), lambda: (_digest(_lasting(result)), int(_waits(result))))


def _name(text: str) -> tuple[int, int]:
    # Python keeps the hash of a text with it: a message that is read again costs nothing.
    return hash(text), len(text)


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


def _waits(result: str) -> bool:
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


class _Remembered(Generic[Key, Found]):
    """Digests that were made before, the newest; by the hash of what they are of."""

    def __init__(self) -> None:
        self._found: dict[Key, Found] = {}

    def get(self, key: Key, make: Callable[[], Found]) -> Found:
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= MAX_REMEMBERED:
                # Emptied, and not cut: threads share it, and each step is one operation.
                self._found = {}
            found = self._found[key] = make()
        return found


_answers: _Remembered[tuple[int, int], tuple[str, int]] = _Remembered()
_calls: _Remembered[tuple[str, int, int], str] = _Remembered()


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
