"""What is known after a reply, and where it is put."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from driftguard_langgraph.drift.report import DriftReport

EXTENSION = "driftguard"
"""Key in the `extensions` of the HTTP response that a stream reads from."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a conversation stands after a reply.

    Attributes:
        drift: The report; None in the mode `ondemand`.
        explanation: Why, in one or two sentences; None in the mode `ondemand`.
        managed_context: The system message for the next call of the model.
        conversation: The conversation that the reply was counted to.
    """

    drift: DriftReport | None
    explanation: str | None
    managed_context: str
    conversation: str


def attach(reply: object, outcome: Outcome | None) -> None:
    """Put an outcome on an SDK's reply: `drift`, and the names context-drift-analyzer uses.

    They go beside a model's fields, so that neither `model_dump` nor `==` shows them.
    """
    shown = {
        "drift": outcome and outcome.drift,
        "_drift": outcome and outcome.drift,
        "_drift_explanation": outcome and outcome.explanation,
        "_managed_context": outcome and outcome.managed_context,
    }
    for name, value in shown.items():
        object.__setattr__(reply, name, value)


def drift_of(reply: object) -> DriftReport | dict[str, Any] | None:
    """Return the drift report of a reply or of a stream that has ended.

    Args:
        reply: A response, raw response or stream of a wrapped client, also what `.stream()` of
            the SDKs gives; or a message of a wrapped chat model, whose report is a dict.
    """
    metadata = getattr(reply, "response_metadata", None)
    if isinstance(metadata, Mapping):
        found = metadata.get("drift")
        return found if isinstance(found, dict) else None
    report = getattr(reply, "drift", None)
    if isinstance(report, DriftReport):
        return report
    http = getattr(reply, "response", None) or getattr(reply, "_response", None)
    extensions = getattr(http, "extensions", None)
    outcome = extensions.get(EXTENSION) if isinstance(extensions, Mapping) else None
    return outcome.drift if isinstance(outcome, Outcome) else None
