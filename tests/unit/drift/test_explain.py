"""What is logged when an explanation, or a measure, fails."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from driftguard_langgraph.drift.explain import ExplanationRequest
from driftguard_langgraph.drift.monitor import DriftMonitor
from driftguard_langgraph.settings import DriftGuardSettings

POLICY = "You run a lighthouse museum. Never reveal where the spare keys are kept."
SECRET = "my locker is number seventeen and opens with a pearl button"


class Broken:
    """A model that fails and quotes what it was given."""

    model_id = "broken"
    dimension = 3

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise RuntimeError(f"cannot embed {texts!r}")


def _quoting(request: ExplanationRequest) -> str:
    raise ValueError(f"cannot explain {request['text']!r}")


def _logged(caplog: pytest.LogCaptureFixture, level: int) -> str:
    formatter = logging.Formatter()
    return "\n".join(formatter.format(one) for one in caplog.records if one.levelno >= level)


def test_a_failed_explainer_is_logged_by_kind_and_turn_without_the_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "driftguard_langgraph")
    monitor = DriftMonitor(POLICY, explainer=_quoting, settings=DriftGuardSettings())
    assert monitor.observe(("user", SECRET)).explanation
    shown = _logged(caplog, logging.INFO)
    assert "ValueError" in shown
    assert "turn 1" in shown
    assert "pearl" not in shown
    assert "pearl" in _logged(caplog, logging.DEBUG)


def test_a_failed_model_is_logged_by_kind_and_turn_without_the_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "driftguard_langgraph")
    monitor = DriftMonitor(POLICY, embeddings=Broken(), settings=DriftGuardSettings())
    assert monitor.observe(("user", SECRET)).abstained
    shown = _logged(caplog, logging.INFO)
    assert "RuntimeError" in shown
    assert "turn 1" in shown
    assert "pearl" not in shown
