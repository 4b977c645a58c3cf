"""A promise of the demo, and whether it was kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Expectation:
    """One promise.

    Attributes:
        what: The promise.
        held: Whether it was kept.
        seen: What was there instead; empty if it was kept.
    """

    what: str
    held: bool
    seen: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as plain JSON."""
        return asdict(self)


def expect(what: str, held: bool, seen: object) -> Expectation:
    """Return a promise that was kept, or that shows what was seen instead."""
    return Expectation(what, held, "" if held else str(seen))


def equal(what: str, seen: object, wanted: object) -> Expectation:
    """Return the promise that something is as it should be."""
    return expect(what, seen == wanted, f"{seen!r} instead of {wanted!r}")
