"""Numbers and what they count: one key for every way of writing the same quantity.

"$1,000", "1000 dollars" and "one thousand US dollars" share a key, "24 hours" and "one day" do,
and so do "14 March 2026" and "2026-03-14".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from driftguard_langgraph.judgement.quantities import NUMBER_WORDS

CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp", "¥": "yen", "₹": "inr"}
"""Signs of currencies, and their keys."""

_MONEY = {
    "usd": "usd dollar dollars buck bucks", "eur": "eur euro euros", "gbp": "gbp pound pounds",
    "yen": "yen jpy", "inr": "inr rupee rupees", "chf": "chf franc francs",
    "cent": "cent cents", "%": "percent pct procent prozent",
}  # fmt: skip
_FACTORS: dict[str, tuple[int, str]] = {
    "ms millisecond milliseconds": (1, "ms"),
    "s sec secs second seconds": (1000, "ms"),
    "min mins minute minutes": (60_000, "ms"),
    "h hr hrs hour hours": (3_600_000, "ms"),
    "d day days": (86_400_000, "ms"),
    "week weeks": (604_800_000, "ms"),
    "month months": (1, "month"),
    "year years yr yrs": (12, "month"),
    "mg milligram milligrams": (1, "mg"),
    "g gram grams": (1_000, "mg"),
    "kg kilo kilos kilogram kilograms": (1_000_000, "mg"),
    "t ton tons tonne tonnes": (1_000_000_000, "mg"),
    "lb lbs": (1, "lb"),
    "ml milliliter milliliters millilitre millilitres": (1, "ml"),
    "l liter liters litre litres": (1_000, "ml"),
    "mm millimeter millimeters millimetre millimetres": (1, "mm"),
    "cm centimeter centimeters centimetre centimetres": (10, "mm"),
    "m meter meters metre metres": (1_000, "mm"),
    "km kilometer kilometers kilometre kilometres": (1_000_000, "mm"),
    "mile miles": (1, "mile"),
    "kb": (1, "kb"),
    "mb": (1_000, "kb"),
    "gb": (1_000_000, "kb"),
    "tb": (1_000_000_000, "kb"),
    "v volt volts": (1, "v"),
    "w watt watts": (1, "w"),
    "kw": (1_000, "w"),
    "hz": (1, "hz"),
}
UNITS: dict[str, tuple[int, str]] = {
    word: (1, unit) for unit, words in _MONEY.items() for word in words.split()
} | {word: scaled for words, scaled in _FACTORS.items() for word in words.split()}
"""Lower-case word for a unit -> what its number is multiplied by, and the unit of the key."""

SCALES = {
    "k": 1_000, "thousand": 1_000, "hundred": 100, "million": 1_000_000, "mn": 1_000_000,
    "billion": 1_000_000_000, "bn": 1_000_000_000, "dozen": 12,
}  # fmt: skip
"""Words and endings that multiply the number before them."""

MONTHS = {
    name[:length]: number
    for number, name in enumerate(
        "january february march april may june july august september october november "
        "december".split(),
        1,
    )
    for length in {3, 4 if name == "september" else 3, len(name)}
}
"""Lower-case names and abbreviations of months, and their numbers."""

WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
"""Lower-case names of the days of the week."""

MAX_DIGITS = 40
"""Longer rows of digits are data: nobody reads them as a number."""

_MINUS = "-\u2212"
_PLAIN = re.compile(r"[-\u2212]?\d+(?:[.,]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*|\d{1,3}(?:,\d{2})+,\d{3}")


def numeral(text: str) -> Decimal | None:
    """Return the value of a number in digits, None if it is none.

    A point or comma before exactly three digits groups thousands, as in `drift.reading.bounds`:
    "1.000" and "1,000" are one number; of two different marks the last one is decimal.

    Args:
        text: For example `1,250.50`, `1.250,50` or `12,5`.
    """
    if len(text) > MAX_DIGITS or not _PLAIN.fullmatch(text):
        return None
    sign = "-" if text[0] in _MINUS else ""
    digits = text.lstrip(_MINUS)
    marks = [char for char in digits if char in ".,"]
    if _GROUPED.fullmatch(digits):
        plain = digits.replace(",", "").replace(".", "")
    elif len(set(marks)) == 2:
        plain = digits.replace("," if marks[-1] == "." else ".", "").replace(",", ".")
    else:
        plain = digits.replace(",", ".")
    try:
        return Decimal(sign + plain)
    except InvalidOperation:
        return None


def spelled(words: Sequence[str]) -> Decimal:
    """Return the value of a number in words: "two thousand five hundred" is 2500.

    Args:
        words: Lower-case words of `NUMBER_WORDS`, at least one.
    """
    total = current = Decimal(0)
    for word in words:
        value = NUMBER_WORDS[word]
        if word in {"thousand", "million"}:
            total, current = total + (current or 1) * value, Decimal(0)
        elif word in {"hundred", "dozen"}:
            current = (current or 1) * value
        else:
            current += value
    return total + current


def quantity(value: Decimal, unit: str | None) -> str:
    """Return the key of a number with a unit.

    Args:
        value: The number.
        unit: A lower-case word of `UNITS`, or None for a number that counts anything.
    """
    factor, name = UNITS[unit] if unit is not None else (1, "n")
    scaled = value * factor
    # A plain value: 1E+3 and 1000 are one.
    return f"{name}:{format(scaled.normalize(), 'f') if scaled else '0'}"


def date(year: int | None, month: int | None, day: int | None) -> str | None:
    """Return the key of a date, None if there is no such month or day."""
    if month is not None and not 1 <= month <= 12:
        return None
    if day is not None and not 1 <= day <= 31:
        return None
    return f"date:{year or ''}-{month or ''}-{day or ''}"


def weaker(key: str) -> tuple[str, ...]:
    """Return the keys of what a date or a quantity says besides: a full date names its day.

    Args:
        key: What `quantity` or `date` returned.
    """
    name, _, rest = key.partition(":")
    if name != "date":
        return ()
    if "~" in rest:
        return (f"n:{rest.partition('~')[0]}",)
    year, month, day = rest.split("-")
    found = [f"date:{year}-{month}-", f"date:-{month}-{day}", f"n:{year}"]
    if month and day:
        found.append(f"date:{year}~{'/'.join(sorted((month, day)))}")
    return tuple(found)


def slashed(first: int, second: int, year: int) -> str | None:
    """Return the key of a date like 03/04/2026, which has two readings."""
    if first > 12 or second > 12:
        return date(year, *((second, first) if first > 12 else (first, second)))
    pair = "/".join(sorted((str(first), str(second))))
    return f"date:{year}~{pair}" if first and second else None


def clock(hours: int, minutes: int, half: str | None) -> str | None:
    """Return the key of a time of day.

    Args:
        hours: As written.
        minutes: As written.
        half: `am`, `pm`, or None for 24 hours.
    """
    if half is not None and 1 <= hours <= 12:
        hours = hours % 12 + (12 if half == "pm" else 0)
    return f"time:{hours:02}:{minutes:02}" if hours <= 24 and minutes < 60 else None
