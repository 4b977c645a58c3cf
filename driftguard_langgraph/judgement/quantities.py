"""Numbers as quantities: digits, number words and units of time brought together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
NUMBER_WORDS: dict[str, Decimal] = {word: Decimal(i) for i, word in enumerate(_WORDS)} | {
    "thirty": Decimal(30), "forty": Decimal(40), "fifty": Decimal(50), "sixty": Decimal(60),
    "seventy": Decimal(70), "eighty": Decimal(80), "ninety": Decimal(90),
    "hundred": Decimal(100), "thousand": Decimal(1000), "million": Decimal(1_000_000),
    "once": Decimal(1), "twice": Decimal(2), "dozen": Decimal(12), "half": Decimal("0.5"),
    "quarter": Decimal("0.25"),
}  # fmt: skip
"""Words that are numbers, with their values."""

_SECONDS = {
    "second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "day": 86400,
    "week": 604_800,
}  # fmt: skip
_LEVELS = {
    "maximum": "max", "max": "max", "highest": "max", "brightest": "max", "minimum": "min",
    "min": "min", "lowest": "min", "dimmest": "min",
}  # fmt: skip
_NOT_COUNTED = frozenset("this that the which each another every no any".split())
_MULTIPLIERS = frozenset({"hundred", "thousand", "million", "dozen"})
_JOINTS = frozenset("and a an of or more less fewer full whole consecutive".split())

_COUNTING = NUMBER_WORDS.keys() | _LEVELS.keys()


def quantities(words: Sequence[str]) -> tuple[str, ...]:
    """Return the quantities of a text, sorted, in one form.

    "1 and a half hours", "90 minutes" and "an hour and thirty minutes" are one quantity;
    so are "3 times" and "three times".

    Args:
        words: Its words (lower case) and number tokens, in order.
    """
    if _COUNTING.isdisjoint(words) and all(map(str.isalpha, words)):
        return ()
    found: list[str] = []
    pending: Decimal | None = None
    span: Decimal | None = None
    for place, word in enumerate(words):
        value = _value(word, words[place - 1] if place else "")
        unit = _SECONDS.get(word.removesuffix("s")) if pending is not None else None
        if unit is not None and pending is not None:
            span, pending = (span or Decimal(0)) + pending * unit, None
        elif value is not None:
            pending = _joined(pending, value, word, found)
        elif word in _LEVELS:
            found.append(_LEVELS[word])
        elif word not in _JOINTS:
            _flush(found, pending, span)
            pending = span = None
    _flush(found, pending, span)
    return tuple(sorted(found))


def _joined(pending: Decimal | None, value: Decimal, word: str, found: list[str]) -> Decimal:
    """Join two numbers that are one ("two hundred", "1 and a half"), else keep the first."""
    if pending is None:
        return value
    if word in _MULTIPLIERS:
        return pending * value
    if 0 < value < 1 or (pending >= 20 and pending % 10 == 0 and value < 10 and word.isalpha()):
        return pending + value
    found.append(_shown(pending))
    return value


def _flush(found: list[str], pending: Decimal | None, span: Decimal | None) -> None:
    if span is not None:
        found.append(f"{_shown(span)} s")
    if pending is not None:
        found.append(_shown(pending))


def _shown(value: Decimal) -> str:
    return format(value.normalize(), "f")


def _value(word: str, before: str) -> Decimal | None:
    if word in NUMBER_WORDS:
        return None if word == "one" and before in _NOT_COUNTED else NUMBER_WORDS[word]
    if word.isalpha() or not any(map(str.isdigit, word)):
        return None
    plain = re.sub(r"(?:st|nd|rd|th)$", "", word).strip("$€£%").replace(",", "")
    try:
        over, _, under = plain.partition("/")
        return Decimal(over) / Decimal(under) if under else Decimal(over)
    except ZeroDivisionError:
        return Decimal(over)
    except InvalidOperation:
        return None
