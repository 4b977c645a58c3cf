"""Limits: a number, what it counts, and in which direction changing it loosens the rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from driftguard_langgraph.drift.reading.norms import FUNCTION, NEGATIONS, fold
from driftguard_langgraph.judgement.quantities import NUMBER_WORDS

Looser = Literal["up", "down", "any"]
"""Which change of a limit loosens it: a higher number, a lower one, or any other."""

_MAXIMUM = frozenset(
    "upto atmost within maximum max ceiling cap limit exceed capped limited".split()
)
_MINIMUM = frozenset("atleast minimum min floor".split())
_OVER = frozenset("over above exceeding beyond exceeds".split())
_SINCE = frozenset({"after", "from"})
"""Words that give a start, which is a threshold only if something else says so."""
_UNDER = frozenset("under below".split())
_REACH = 4
"""Words before a number among which its comparison stands: "over an amount of 50"."""

_CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp", "¥": "yen"}
_UNITS = {
    "dollar": "usd", "usd": "usd", "buck": "usd", "euro": "eur", "eur": "eur", "pound": "gbp",
    "gbp": "gbp", "yen": "yen", "percent": "%",
}  # fmt: skip
_SECONDS = {
    "second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "day": 86_400,
    "week": 604_800, "month": 2_592_000, "year": 31_536_000, "jahr": 31_536_000, "tag": 86_400,
}  # fmt: skip
_TIMES = {fold(word): seconds for word, seconds in _SECONDS.items()}
_MONEY = {fold(word): unit for word, unit in _UNITS.items()}
_NUMERIC = frozenset("0123456789$€£¥")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_CLOCK = re.compile(r"\d{1,2}:\d{2}")
_SCALES = {"hundred": 100, "thousand": 1000, "k": 1000, "million": 1_000_000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class Bound:
    """One number of a clause.

    Attributes:
        value: The number, times in seconds.
        unit: What it counts: a currency, `%`, `s`, or the folded noun after it; may be empty.
        looser: Which change loosens it.
        limits: Whether the clause says that it is a limit ("up to", "at most", "over").
    """

    value: Decimal
    unit: str
    looser: Looser
    limits: bool

    def loosened_by(self, other: Bound) -> bool:
        """Whether another number in this one's place is a looser rule."""
        if other.unit not in {self.unit, ""} or self.value == other.value:
            return False
        if self.looser == "any":
            return True
        return (other.value > self.value) is (self.looser == "up")


def bounds(words: Sequence[str], *, forbids: bool) -> tuple[Bound, ...]:
    """Return the numbers of a clause that can be limits.

    Args:
        words: What `clauses.tokens` returned for it.
        forbids: Whether the clause forbids: "never below 10" is a minimum, "keep it below
            10" a maximum.
    """
    found = []
    for place in range(len(words)):
        value = _number(words, place)
        if value is None:
            continue
        unit, factor = _unit(words, place)
        looser, limits = _direction(words, place, forbids=forbids)
        found.append(Bound(value * factor, unit, looser, limits))
        if len(found) >= 8:
            break
    return tuple(found)


def numbered(words: Sequence[str]) -> bool:
    """Whether a number is among the words of a sentence."""
    return any(word[0] in _NUMERIC or word in NUMBER_WORDS for word in words)


def _number(words: Sequence[str], place: int) -> Decimal | None:
    word = words[place]
    if word in NUMBER_WORDS:
        before = words[place - 1] if place else ""
        pronoun = word in {"one", "once", "second", "quarter", "half"}
        if pronoun or before in NUMBER_WORDS or before[:1] in _NUMERIC:
            return None
        return _scaled(NUMBER_WORDS[word], words, place)
    if word[0] not in _NUMERIC or _CLOCK.fullmatch(word):
        return None
    plain = word.strip("$€£¥%")
    plain = re.sub("[.,]", "", plain) if _THOUSANDS.fullmatch(plain) else plain.replace(",", ".")
    try:
        return _scaled(Decimal(plain), words, place)
    except InvalidOperation:
        return None


def _scaled(value: Decimal, words: Sequence[str], place: int) -> Decimal:
    following = words[place + 1] if place + 1 < len(words) else ""
    return value * _SCALES.get(following, 1)


def _unit(words: Sequence[str], place: int) -> tuple[str, Decimal]:
    word = words[place]
    if word[0] in _CURRENCIES:
        return _CURRENCIES[word[0]], Decimal(1)
    if word.endswith("%"):
        return "%", Decimal(1)
    for following in words[place + 1 : place + 4]:
        if not following[0].isalnum():
            break
        one = fold(following)
        if following in _SCALES or following in FUNCTION or following in NEGATIONS:
            if following in _SCALES or following in {"of", "more", "the"}:
                continue
            break
        if one in _MONEY:
            return _MONEY[one], Decimal(1)
        if one in _TIMES:
            return "s", Decimal(_TIMES[one])
        return one, Decimal(1)
    return "", Decimal(1)


def _direction(words: Sequence[str], place: int, *, forbids: bool) -> tuple[Looser, bool]:
    before = words[max(0, place - _REACH) : place]
    near, whole = set(before), set(words)
    required = before[-2:-1] == ["be"] and bool(near & _OVER)
    cues: tuple[tuple[Looser, bool], ...] = (
        ("down", bool(near & _MINIMUM) or required or (forbids and bool(near & _UNDER))),
        ("up", bool(near & (_UNDER | _OVER | _MAXIMUM))),
        ("down", bool(whole & _MINIMUM)),
        ("up", bool(whole & _MAXIMUM) or bool(near & _SINCE)),
    )
    looser: Looser = next((looser for looser, holds in cues if holds), "any")
    return looser, looser != "any" and not (near & _SINCE and not near & _OVER)
