"""The four multi-turn patterns that have a name: combinations of distances, by channel.

The patterns and their limits are te-drift-detector's. They are asked of what steers and of
what is produced: the scaffold (system messages, summaries, updates after the baseline) and the
assistant. What a user says or a tool prints cannot match one: it is an attempt at most, and
other measures watch for that.

Two things differ from the original. Negations count for the assistant only: it may stop saying no,
while a later scaffold is a note and no rule book. And a claimed authority bypasses a constraint,
too, because leave is rather taken that way than by fewer refusals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Distances = Mapping[str, float]
"""Distance from the baseline by component, each 0..1."""


@dataclass(frozen=True, slots=True)
class Moved:
    """How far the watched channels have moved from the baseline.

    Attributes:
        scaffold: Distances of the scaffold.
        assistant: Distances of the assistant.
        hushed: How far negations have disappeared from the assistant, 0..1.
    """

    scaffold: Distances
    assistant: Distances
    hushed: float

    def most(self, component: str) -> float:
        """Return the greater distance of the two channels."""
        return max(self.scaffold[component], self.assistant[component])


def _over(distances: Distances, **limits: float) -> int:
    return sum(distances[name] > limit for name, limit in limits.items())


def scaffold_poisoning(moved: Moved) -> bool:
    """Whether the scaffold states new facts, and work is framed or judged in another way.

    Two of three: facts and tone of the scaffold, and the framing of scaffold or assistant, as
    the assistant is whom it is meant to loosen.
    """
    framed = moved.most("task_framing") > 0.40
    return _over(moved.scaffold, fact=0.40, sentiment=0.50) + framed >= 2


def persona_drift(moved: Moved) -> bool:
    """Whether one channel has another register, authority or readiness to say no: two of three."""
    assistant = _over(moved.assistant, register=0.40, authority=0.35, negation=0.60)
    return max(assistant, _over(moved.scaffold, register=0.40, authority=0.35)) >= 2


def constraint_bypass(moved: Moved) -> bool:
    """Whether new facts come with fewer refusals, or with somebody's authority."""
    freed = moved.hushed > 0.65 or moved.most("authority") > 0.35
    return moved.most("fact") > 0.50 and freed


def scaffold_interference(moved: Moved) -> bool:
    """Whether the scaffold speaks of something else, of others, and in another framing."""
    return _over(moved.scaffold, vocabulary=0.70, entity=0.70, task_framing=0.60) == 3


SIGNATURES = (scaffold_poisoning, persona_drift, constraint_bypass, scaffold_interference)
"""The signatures, by the function that decides."""


def matching(moved: Moved) -> tuple[str, ...]:
    """Return the names of the signatures that match."""
    return tuple(signature.__name__ for signature in SIGNATURES if signature(moved))
