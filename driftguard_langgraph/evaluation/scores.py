"""The figures of a backtest: counts, and the rates that follow from them.

Every step is judged once, as it happened:

- **hit**: warned, and it failed.
- **miss**: it repeats an earlier failure of its stream and was not warned.
- **false alarm**: warned, and it succeeded (steps labelled ambiguous are left out: the same
  action failed earlier, so the warning was fair).
- **recall**: share of the repeats that were warned.
- **false-alarm rate**: share of the successes (ambiguous ones left out) that were warned.
- **warning precision**: share of all warned steps that failed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from driftguard_langgraph.evaluation.findings import Shortlist
from driftguard_langgraph.evaluation.steps import Step
from driftguard_langgraph.html.evaluation_cards import backtest_card

LabelSource = Literal["given", "derived", "mixed"]
"""Whether repeats were read from labels, derived from the errors seen, or both."""

_DIGITS = 4
"""Decimals of the rates in `to_dict`."""


@dataclass(slots=True)
class Tally:
    """Counts over some steps.

    Attributes:
        steps: Steps that were replayed.
        failures: Those that failed.
        successes: Those that succeeded and are not ambiguous.
        warned: Those that were warned.
        hits: Warned, and failed.
        false_alarms: Warned, and among `successes`.
        repeats: Failures that repeat an earlier one.
        warned_repeats: Those of them that were warned.
        kinds: For each kind of repeat, how many there were and how many were warned.
    """

    steps: int = 0
    failures: int = 0
    successes: int = 0
    warned: int = 0
    hits: int = 0
    false_alarms: int = 0
    repeats: int = 0
    warned_repeats: int = 0
    kinds: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, step: Step, warned: bool, repeat_kind: str | None) -> None:
        """Count one step.

        Args:
            step: What happened.
            warned: Whether the guard warned before it.
            repeat_kind: How it repeats an earlier failure; None if it does not.
        """
        success = not step.failed and not step.ambiguous
        self.steps += 1
        self.failures += step.failed
        self.successes += success
        self.warned += warned
        self.hits += warned and step.failed
        self.false_alarms += warned and success
        if repeat_kind is not None:
            self.repeats += 1
            self.warned_repeats += warned
            seen, caught = self.kinds.get(repeat_kind, (0, 0))
            self.kinds[repeat_kind] = (seen + 1, caught + warned)

    @property
    def misses(self) -> int:
        """Repeats that were not warned."""
        return self.repeats - self.warned_repeats

    @property
    def recall(self) -> float | None:
        """Share of the repeats that were warned; None without any."""
        return _share(self.warned_repeats, self.repeats)

    @property
    def recall_by_kind(self) -> dict[str, float | None]:
        """The recall of each kind of repeat, by name."""
        return {kind: _share(caught, n) for kind, (n, caught) in sorted(self.kinds.items())}

    @property
    def false_alarm_rate(self) -> float | None:
        """Share of the successes that were warned; None without any."""
        return _share(self.false_alarms, self.successes)

    @property
    def warning_precision(self) -> float | None:
        """Share of the warned steps that failed; None without any."""
        return _share(self.hits, self.warned)

    def to_dict(self) -> dict[str, Any]:
        """Return counts and rates as plain JSON."""
        return {
            "steps": self.steps,
            "failures": self.failures,
            "successes": self.successes,
            "warned": self.warned,
            "hits": self.hits,
            "misses": self.misses,
            "false_alarms": self.false_alarms,
            "repeats": self.repeats,
            "recall": _rounded(self.recall),
            "recall_by_kind": {k: _rounded(v) for k, v in self.recall_by_kind.items()},
            "false_alarm_rate": _rounded(self.false_alarm_rate),
            "warning_precision": _rounded(self.warning_precision),
        }


@dataclass(slots=True)
class Reliability:
    """How often warnings came true, by their confidence in tenths.

    Attributes:
        tenths: For each tenth of confidence, how many steps were warned and how many failed;
            ambiguous successes are left out.
    """

    tenths: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)] * 10)

    def add(self, step: Step, confidence: float) -> None:
        """Count one warned step.

        Args:
            step: What happened.
            confidence: Of the warning, 0..1.
        """
        if step.failed or not step.ambiguous:
            tenth = min(int(10 * confidence), 9)
            warned, failed = self.tenths[tenth]
            self.tenths[tenth] = (warned + 1, failed + step.failed)

    def to_list(self) -> list[dict[str, Any]]:
        """Return the tenths that hold a step as plain JSON."""
        return [
            {"from": tenth / 10, "to": (tenth + 1) / 10, "warned": warned, "failed": failed}
            for tenth, (warned, failed) in enumerate(self.tenths)
            if warned
        ]


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """What a guard would have said about recorded runs.

    Attributes:
        files: What was replayed.
        streams: Number of separate memories.
        total: Counts over all steps.
        by_tool: Counts by tool.
        by_source: Counts by source; empty when the files name none.
        baselines: Counts over all steps of what simpler memories would have said, by name.
        warned: The steps that were warned.
        missed: The repeats that were not.
        labels: Where the knowledge about repeats comes from.
        skipped: Entries that could not be replayed.
        ms_per_step: Median time of one review and one record, in milliseconds.
        ms_per_step_p95: What 95% of them take at most, in milliseconds.
        seconds: Time of the whole replay.
        model_id: The embedding model.
        reliability: How often warnings came true, by their confidence.
    """

    files: tuple[str, ...]
    streams: int
    total: Tally
    by_tool: dict[str, Tally]
    by_source: dict[str, Tally]
    baselines: dict[str, Tally]
    warned: Shortlist
    missed: Shortlist
    labels: LabelSource
    skipped: int
    ms_per_step: float
    ms_per_step_p95: float
    seconds: float
    model_id: str
    reliability: Reliability = field(default_factory=Reliability)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            **self.figures_dict(),
            "by_tool": {name: t.to_dict() for name, t in sorted(self.by_tool.items())},
            "warned_steps": self.warned.to_dict(),
            "missed_repeats": self.missed.to_dict(),
        }

    def _repr_html_(self) -> str:
        return backtest_card(self.to_dict())

    def figures_dict(self) -> dict[str, Any]:
        """Return the figures without tools and single steps as plain JSON."""
        return {
            "files": list(self.files),
            "streams": self.streams,
            "labels": self.labels,
            "skipped": self.skipped,
            "model_id": self.model_id,
            "ms_per_step": round(self.ms_per_step, 3),
            "ms_per_step_p95": round(self.ms_per_step_p95, 3),
            "seconds": round(self.seconds, 2),
            "total": self.total.to_dict(),
            "by_source": {name: t.to_dict() for name, t in sorted(self.by_source.items())},
            "baselines": {name: t.to_dict() for name, t in self.baselines.items()},
            "reliability": self.reliability.to_list(),
        }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
