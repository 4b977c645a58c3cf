"""Whether warnings pay: failures after them, against failures where they were kept silent. Pure.

The lift is the failure rate of held-out units less that of warned ones: the share of warned
steps whose failure the warning prevented. Units were drawn at random (see `judgement.holdout`)
and each is counted once, by the first thing that ran: the warned step all the same, or what
ran in its place. Who heeds a warning was not drawn, so the two parts of the warned are shown
and not compared.

What this cannot see: a warned step that was given up with nothing run in its place leaves no
outcome. And steps of one thread may fare alike, which makes the interval a little too narrow
where threads have many warned steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.html.memory_cards import worth_card
from driftguard_langgraph.judgement.proportions import LEVEL, Interval, difference, wilson
from driftguard_langgraph.judgement.settlement import Settlement, kept_in
from driftguard_langgraph.types import Episode

SUGGESTED_HOLDOUT = 0.1
"""One warning in ten is enough to learn from, and nine still help."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Settled units of one sort.

    Attributes:
        settled: How many.
        failed: How many of them failed.
    """

    settled: int
    failed: int

    @property
    def rate(self) -> float | None:
        """The share that failed, 0..1; None of nothing."""
        return self.failed / self.settled if self.settled else None

    @property
    def interval(self) -> Interval | None:
        """Its confidence interval; None of nothing."""
        return wilson(self.failed, self.settled) if self.settled else None

    def to_dict(self) -> dict[str, Any]:
        """Return the tally as plain JSON."""
        return {
            "settled": self.settled,
            "failed": self.failed,
            "rate": self.rate,
            "interval": _ends(self.interval),
        }


@dataclass(frozen=True, slots=True)
class Worth:
    """What the warnings of a memory were worth.

    Attributes:
        warned: Units whose warnings were shown.
        heeded: Those in whose place another step ran.
        overridden: Those that ran all the same.
        compared: Those of the warned that were drawn against a holdout.
        withheld: Units whose warnings were kept silent: the control arm.
        muted: Units whose warnings evidence had silenced.
        repeats: Further settlements of the same units, which are not counted.
        lift: Failure rate of `withheld` less that of `compared`, -1..1; None without both.
        interval: Its confidence interval.
        notes: What has to be known to read the figures, in words.
    """

    warned: Tally
    heeded: Tally
    overridden: Tally
    compared: Tally
    withheld: Tally
    muted: Tally
    repeats: int
    lift: float | None
    interval: Interval | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON."""
        names = ("warned", "heeded", "overridden", "compared", "withheld", "muted")
        return {
            **{name: getattr(self, name).to_dict() for name in names},
            "repeats": self.repeats,
            "lift": self.lift,
            "interval": _ends(self.interval),
            "level": LEVEL,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        return worth_card(self.to_dict())


def measure(episodes: Iterable[Episode]) -> Worth:
    """Settle the warnings of a memory by its episodes.

    Args:
        episodes: In the order in which they were recorded.
    """
    total, failed, shares, repeats = Counter[str](), Counter[str](), set[float](), 0
    seen: set[tuple[str, bool]] = set()
    for episode in episodes:
        for settled in kept_in(episode.metadata):
            unit = settled.unit, settled.arm == "muted"
            if unit in seen:
                repeats += 1
                continue
            seen.add(unit)
            for name in _sorts(settled):
                total[name] += 1
                failed[name] += episode.kind == "mistake"
            if settled.holdout and settled.arm != "muted":
                shares.add(settled.holdout)
    tallies = {name: Tally(total[name], failed[name]) for name in _SORTS}
    compared, withheld = tallies["compared"], tallies["withheld"]
    lift = interval = None
    if withheld.rate is not None and compared.rate is not None:
        lift = withheld.rate - compared.rate
        interval = difference(withheld.failed, withheld.settled, compared.failed, compared.settled)
    notes = _notes(tallies, interval, shares)
    return Worth(**tallies, repeats=repeats, lift=lift, interval=interval, notes=tuple(notes))


_SORTS = ("warned", "heeded", "overridden", "compared", "withheld", "muted")


def _sorts(settled: Settlement) -> Iterable[str]:
    if settled.arm != "shown":
        return (settled.arm,)
    reaction = "heeded" if settled.role == "instead" else "overridden"
    return ("warned", reaction, "compared") if settled.holdout else ("warned", reaction)


def _notes(
    tallies: dict[str, Tally], interval: Interval | None, shares: set[float]
) -> Iterable[str]:
    if not any(tally.settled for tally in tallies.values()):
        yield "no warning is settled yet: record outcomes with the review of the step (review=...)."
    if not tallies["withheld"].settled:
        yield (
            f"no control arm: set holdout={SUGGESTED_HOLDOUT} (DRIFTGUARD_HOLDOUT) to keep a "
            "share of warnings silent; without one no lift can be told."
        )
    elif interval is None:
        yield "no warning was shown beside the holdout: lower it, there is nothing to compare."
    elif interval.low > 0:
        yield "warned steps failed less: the interval is above 0."
    elif interval.high < 0:
        yield "warned steps failed more: the interval is below 0."
    else:
        yield "too little data to tell: the interval contains 0."
    if len(shares) > 1:
        yield (
            f"the holdout was changed ({', '.join(f'{share:g}' for share in sorted(shares))}), so "
            "the two arms may be of different times."
        )
    if interval is not None:
        yield "warned steps that were given up with nothing run in their place are not counted."


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
