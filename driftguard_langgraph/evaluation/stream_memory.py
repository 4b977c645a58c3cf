"""What one stream remembers while it is replayed: the guard, the baselines, the failures."""

from __future__ import annotations

import json

from driftguard_langgraph.embeddings.base import Embedder
from driftguard_langgraph.evaluation.baselines import Vector, new_baselines
from driftguard_langgraph.evaluation.steps import NO_FEEDBACK, Step
from driftguard_langgraph.guard import DriftGuard
from driftguard_langgraph.memory.stores.ephemeral import EphemeralMemoryStore
from driftguard_langgraph.reviews import GuardReview
from driftguard_langgraph.settings import DriftGuardSettings
from driftguard_langgraph.text.actions import as_action
from driftguard_langgraph.text.validation import TextLimits, observed_text

FAILED, SUCCEEDED = "step failed", "step succeeded"
"""Recorded as the outcome: a trace tells nothing of what a step led to in the end."""

UNNAMED_KIND = "unspecified"
"""Kind of a labelled repeat whose label names no kind."""

_Signature = tuple[str, str, str]


class StreamMemory:
    """One stream's guard, the baselines beside it, and the failures seen.

    Args:
        embedder: Shared by all streams.
        settings: Of the guard.
    """

    def __init__(self, embedder: Embedder, settings: DriftGuardSettings) -> None:
        self._guard = DriftGuard(
            store=EphemeralMemoryStore(), embeddings=embedder, settings=settings
        )
        self._embedder = embedder
        self._limits = TextLimits.of(settings)
        self._baselines = new_baselines()
        self._failed: dict[_Signature, str] = {}

    def review(self, step: Step) -> GuardReview:
        """Return what the guard says before this step."""
        return self._guard.before_step(step.action, "warn")

    def record(self, step: Step) -> None:
        """Tell the guard how the step went."""
        if step.failed:
            self._guard.record(step.action, step.feedback, FAILED)
        else:
            self._guard.record_success(step.action, step.feedback, SUCCEEDED)

    def baselines_warn(self, step: Step) -> dict[str, bool]:
        """Return for every baseline whether it warns before this step."""
        text, vector = self._seen(step)
        return {name: each.warns(text, vector) for name, each in self._baselines.items()}

    def note(self, step: Step) -> None:
        """Tell the baselines how the step went, and keep what failed."""
        text, vector = self._seen(step)
        for baseline in self._baselines.values():
            baseline.record(text, vector, failed=step.failed)
        if step.failed:
            for signature in _signatures(step):
                self._failed.setdefault(signature, step.where)

    def repeat_kind(self, step: Step) -> str | None:
        """Say how the step repeats an earlier failure: by its labels, else by what was seen.

        Without labels a failed step is a repeat when the same tool failed before on the same
        action (`exact`) or with the same error text (`same_error`).
        """
        if step.repeats is not None:
            return (step.repeat_kind or UNNAMED_KIND) if step.repeats else None
        if not step.failed:
            return None
        action, error = _signatures(step)
        if action in self._failed:
            return "exact"
        return "same_error" if step.feedback != NO_FEEDBACK and error in self._failed else None

    def earlier(self, step: Step) -> str | None:
        """Return where the failure that a failed step repeats was first seen, if anywhere."""
        if not step.failed:
            return None
        action, error = _signatures(step)
        if action in self._failed or step.feedback == NO_FEEDBACK:
            return self._failed.get(action)
        return self._failed.get(error)

    def close(self) -> None:
        """Release the guard's memory."""
        self._guard.close()

    def _seen(self, step: Step) -> tuple[str, Vector]:
        words = step.words or as_action(step.action, self._limits).text
        text = observed_text(words, "action", self._limits)
        return text, self._embedder.embed([text])[0]


def _signatures(step: Step) -> tuple[_Signature, _Signature]:
    words = step.action if isinstance(step.action, str) else json.dumps(step.action, sort_keys=True)
    return (step.tool, "action", words), (step.tool, "error", " ".join(step.feedback.split()))
