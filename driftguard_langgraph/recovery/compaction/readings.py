"""Reading quantities, dates and times off the pieces of a text; some take several pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from driftguard_langgraph.judgement.quantities import NUMBER_WORDS
from driftguard_langgraph.recovery.compaction.measures import (
    CURRENCIES,
    MONTHS,
    SCALES,
    UNITS,
    clock,
    date,
    numeral,
    quantity,
    slashed,
    spelled,
    weaker,
)
from driftguard_langgraph.recovery.compaction.scanning import Piece

_DATE = re.compile(r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})(?:T[\d:]+)?")
_DOTTED = re.compile(r"(\d{1,2})([./])(\d{1,2})[./](\d{4})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?(?:([ap])m)?")
_HALF = re.compile(r"(\d{1,2})([ap])m")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")
_YEAR = re.compile(r"\d{4}")
_RANGE = re.compile(r"([$€£¥₹]?\d[\d.,]*)[-–]([$€£¥₹]?\d[\d.,]*[%€£₹]?)")
_ENDED = re.compile(r"(\d[\d.,]*)-?([^\W\d_]+)")
_HALVES = {"am": "am", "a.m": "am", "pm": "pm", "p.m": "pm"}
_ENDINGS = {"k": 1_000, "K": 1_000, "M": 1_000_000, "mn": 1_000_000, "B": 10**9, "bn": 10**9}
_MONEY_ENDINGS = {"m": 1_000_000, "b": 10**9}
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
_NOT_COUNTED = frozenset("once twice half quarter".split())
_SKIPPED = frozenset({"us", "of"})
_MAX_WORDS = 12
"""Words of a spelled number that are read; "nine hundred ninety-nine thousand ..." has 9."""

MeasureKind = Literal["amount", "percentage", "date", "time", "number"]


@dataclass(frozen=True, slots=True)
class Reading:
    """A quantity, date or time.

    Attributes:
        kind: What it is.
        key: What all ways of writing it share.
        also: Keys of what it says besides: an amount also says its number.
        first: Index of its first piece.
        last: Index of its last piece.
    """

    kind: MeasureKind
    key: str
    also: tuple[str, ...]
    first: int
    last: int


def read(found: Sequence[Piece], place: int) -> list[Reading]:
    """Return what begins at a piece: nothing, one reading, or the two ends of a range.

    Args:
        found: The pieces of a text.
        place: Index of the piece.
    """
    piece = found[place]
    if piece.shape != "token" or not _may_begin(piece.text):
        return []
    dated = _date(found, place) or _time(found, place)
    return [dated] if dated is not None else _numbers(found, place)


def _may_begin(text: str) -> bool:
    """Whether a piece can begin a quantity; most words cannot, and are done with at once."""
    if not text.isalpha() or (text.isupper() and len(text) == 3):
        return True
    small = text.lower()
    return small in NUMBER_WORDS or small in MONTHS


def _text(found: Sequence[Piece], place: int, gaps: str = " ") -> str:
    """Return the piece at a place if it goes on with what stands before it, else nothing."""
    if place >= len(found) or len(found[place].gap) > 2 or found[place].gap.strip(gaps):
        return ""
    return found[place].text


def _dated(key: str | None, first: int, last: int) -> Reading | None:
    return Reading("date", key, weaker(key), first, last) if key is not None else None


def _date(found: Sequence[Piece], place: int) -> Reading | None:
    text = found[place].text
    if match := _DATE.fullmatch(text):
        return _dated(date(*map(int, match.groups())), place, place)
    if match := _DOTTED.fullmatch(text):
        first, mark, second, year = match.groups()
        a, b, y = int(first), int(second), int(year)
        return _dated(slashed(a, b, y) if mark == "/" else date(y, b, a), place, place)
    month = _month(text)
    if month is not None:
        day = _DAY.fullmatch(_text(found, place + 1))
        if day is not None:
            return _with_year(found, place, place + 1, month, int(day.group(1)))
        return _with_year(found, place, place, month, None)
    day = _DAY.fullmatch(text)
    if day is None:
        return None
    at = place + 2 if _text(found, place + 1) == "of" else place + 1
    month = _month(_text(found, at))
    return _with_year(found, place, at, month, int(day.group(1))) if month is not None else None


def _month(text: str) -> int | None:
    return MONTHS.get(text.lower()) if text[:1].isupper() else None


def _with_year(
    found: Sequence[Piece], first: int, last: int, month: int, day: int | None
) -> Reading | None:
    year = _YEAR.fullmatch(_text(found, last + 1, " ,."))
    if year is not None:
        return _dated(date(int(year.group()), month, day), first, last + 1)
    return _dated(date(None, month, day), first, last) if day is not None else None


def _time(found: Sequence[Piece], place: int) -> Reading | None:
    text = found[place].text.lower()
    half = _HALVES.get(_text(found, place + 1).lower())
    key = None
    if match := _CLOCK.fullmatch(text):
        hours, minutes, letter = match.groups()
        half, last = (f"{letter}m", place) if letter else (half, place + (half is not None))
        key = clock(int(hours), int(minutes), half)
    elif match := _HALF.fullmatch(text):
        key, last = clock(int(match.group(1)), 0, f"{match.group(2)}m"), place
    elif half is not None and text.isdecimal() and len(text) <= 2:
        key, last = clock(int(text), 0, half), place + 1
    return Reading("time", key, (), place, last) if key is not None else None


def _numbers(found: Sequence[Piece], place: int) -> list[Reading]:
    text = found[place].text
    code = text.lower() if text.isupper() and len(text) == 3 else ""
    if UNITS.get(code) == (1, code):
        return _numbers_of(found, place + 1, place, _valued(_text(found, place + 1)), code)
    ends = _RANGE.fullmatch(text)
    if ends is not None and not text.replace("-", "").isdecimal() | (text.count("-") > 1):
        return _range(found, place, *ends.groups())
    if ends is not None and _is_range(*ends.groups()):
        return _range(found, place, *ends.groups())
    value = _valued(text)
    if value is not None:
        return _numbers_of(found, place, place, value, None)
    words = _spelled(found, place)
    if not words:
        return []
    last, number = words
    return _numbers_of(found, last, place, (number, None), None)


def _is_range(low: str, high: str) -> bool:
    """Whether two rows of digits are a range; "555-0142" is a telephone number."""
    return not high.startswith("0") and len(low) <= len(high) <= 4 and int(low) < int(high)


def _range(found: Sequence[Piece], place: int, low: str, high: str) -> list[Reading]:
    upper = _valued(high)
    lower = _valued(low)
    if upper is None or lower is None:
        return []
    high_end = _numbers_of(found, place, place, upper, lower[1])
    return [*_numbers_of(found[: place + 1], place, place, lower, None), *high_end]


def _valued(text: str) -> tuple[Decimal, str | None] | None:
    """Return the value and unit of one piece: $1,000, 5kg, 2.5M, 30-day, 3rd, 15%."""
    unit = None
    if text[:1] in CURRENCIES:
        unit, text = CURRENCIES[text[0]], text[1:]
    elif text[-1:] in {*CURRENCIES, "%"}:
        unit, text = CURRENCIES.get(text[-1], "percent"), text[:-1].rstrip()
    value = numeral("".join(text.split()))
    if value is not None:
        return value, unit
    ended = _ENDED.fullmatch(text)
    value = numeral(ended.group(1)) if ended is not None else None
    if ended is None or value is None:
        return None
    return _with_ending(value, unit, ended.group(2), hyphened="-" in text)


def _with_ending(
    value: Decimal, unit: str | None, ending: str, *, hyphened: bool
) -> tuple[Decimal, str | None] | None:
    scale = _ENDINGS.get(ending) or (_MONEY_ENDINGS.get(ending) if unit is not None else None)
    if scale is not None:
        return value * scale, unit
    small = ending.lower()
    if small in UNITS and (len(ending) > 1 or ending == small):
        return value, small
    return (value, unit) if hyphened or small in _ORDINALS else None


def _spelled(found: Sequence[Piece], place: int) -> tuple[int, Decimal] | None:
    words: list[str] = []
    at = last = place
    while at < len(found) and len(words) < _MAX_WORDS:
        text = (found[at].text if at == place else _text(found, at)).lower()
        parts = text.split("-")
        if text and all(part in NUMBER_WORDS and part not in _NOT_COUNTED for part in parts):
            words += parts
            last = at
        elif not (text == "and" and words and words[-1] in {"hundred", "thousand"}):
            break
        at += 1
    return (last, spelled(words)) if words else None


def _numbers_of(
    found: Sequence[Piece],
    last: int,
    first: int,
    value: tuple[Decimal, str | None] | None,
    unit: str | None,
) -> list[Reading]:
    """Return the reading of a number, with the scale and the unit that follow it."""
    if value is None:
        return []
    number, own = value
    unit = own or unit
    scale = SCALES.get(_text(found, last + 1).lower())
    if scale is not None and found[last].text.lower() not in SCALES:
        number, last = number * scale, last + 1
    if unit is None or UNITS[unit][1] not in {"ms", "mg"}:
        at = last + 2 if _text(found, last + 1).lower() in _SKIPPED else last + 1
        word = _text(found, at, " -").lower()
        if word in UNITS and (unit is None or UNITS[word] == UNITS[unit]):
            unit, last = word, at
    key = quantity(number, unit)
    if unit is None:
        plain = number == number.to_integral_value() and abs(number) < 10
        return [] if plain else [Reading("number", key, (), first, last)]
    kind: MeasureKind = "percentage" if UNITS[unit][1] == "%" else "amount"
    return [Reading(kind, key, (quantity(number, None),), first, last)]
